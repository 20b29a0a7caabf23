/*
 * door_redis.c - the door of producers who speak Redis: the script that is installed for them.
 */
#include "doors.h"

#include "base/buffer.h"
#include "base/io.h"
#include "base/text.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRIPT_MAX ((size_t)256 * 1024)
#define WORDS_MAX  (5 + 2 * (OFFER_FIELDS + 1))
#define REFUSED    "INVALID "

struct redis_door {
    redisContext *context;
    struct buffer script;
    char prefix[REDIS_PREFIX_SIZE];
};

static void go_to(struct redis_door *door, const char *host, int port)
{
    if (door->context)
        redisFree(door->context);
    door->context = redisConnect(host, port);
    ck_assert(door->context && door->context->err == 0);
}

static void *open_door(const struct scene *scene)
{
    struct redis_door *door = calloc(1, sizeof *door);
    struct error err = {0};
    struct redis_place place;

    ck_assert_ptr_nonnull(door);
    door->script = (struct buffer)BUFFER(SCRIPT_MAX);
    MUST(io_read_file(TH_PRODUCER_SCRIPT, &door->script, &err));
    redis_backdoor_place(scene->url, &place);
    snprintf(door->prefix, sizeof door->prefix, "%s", place.prefix);
    go_to(door, place.host, place.port);
    return door;
}

static void close_door(void *state)
{
    struct redis_door *door = state;

    redisFree(door->context);
    buffer_done(&door->script);
    free(door);
}

/* Words of a command. */
struct words {
    const char *items[WORDS_MAX];
    size_t lengths[WORDS_MAX];
    int count;
};

static void add(struct words *words, const char *text, size_t length)
{
    words->items[words->count] = text;
    words->lengths[words->count++] = length;
}

static void add_text(struct words *words, const char *text)
{
    add(words, text, strlen(text));
}

/* Names and values; the queue is in the keys. */
static void add_offer(struct words *words, const struct offer *offer)
{
    for (size_t i = 0; i < OFFER_FIELDS; i++) {
        const char *value = offer_value(offer, i);
        if (!value || text_equal(offer_fields[i].name, "queue"))
            continue;
        add_text(words, offer_fields[i].name);
        add_text(words, value);
    }
    if (!offer->payload.data)
        return;
    add_text(words, "payload");
    add(words, (const char *)offer->payload.data, offer->payload.length);
}

/* In a cluster another node may have the queue. */
static redisReply *ask(struct redis_door *door, const struct words *words)
{
    redisReply *reply;
    char host[256];
    int port;

    for (;;) {
        reply = redisCommandArgv(door->context, words->count, (const char **)words->items,
                                 words->lengths);
        ck_assert_ptr_nonnull(reply);
        if (reply->type != REDIS_REPLY_ERROR ||
            sscanf(reply->str, "MOVED %*d %255[^:]:%d", host, &port) != 2)
            return reply;
        freeReplyObject(reply);
        go_to(door, host, port);
    }
}

static void list_queue(struct redis_door *door, const char *queue)
{
    struct words words = {0};
    char key[256];

    snprintf(key, sizeof key, "%s:queues", door->prefix);
    add_text(&words, "SADD");
    add_text(&words, key);
    add_text(&words, queue);
    freeReplyObject(ask(door, &words));
}

static void enqueue(void *state, const struct offer *offer, struct door_answer *answer)
{
    struct redis_door *door = state;
    struct words words = {0};
    char base[2048], state_key[2064];

    snprintf(base, sizeof base, "%s:{%s}:", door->prefix, offer->queue);
    snprintf(state_key, sizeof state_key, "%sstate", base);
    if (job_name_is_valid(offer->queue))
        list_queue(door, offer->queue);
    add_text(&words, "EVAL");
    add(&words, door->script.data, door->script.length);
    add_text(&words, "2");
    add_text(&words, base);
    add_text(&words, state_key);
    add_offer(&words, offer);
    redisReply *reply = ask(door, &words);
    *answer = (struct door_answer){.accepted = reply->type == REDIS_REPLY_ARRAY};
    if (answer->accepted)
        ck_assert(uuid_parse(reply->element[0]->str, &answer->id));
    else
        ck_assert_msg(text_starts_with(reply->str, REFUSED) ||
                          text_starts_with(reply->str, "CONFLICT ") ||
                          text_starts_with(reply->str, "CROSSSLOT "),
                      "%s: %s", offer->rule, reply->str);
    if (text_starts_with(answer->accepted ? "" : reply->str, REFUSED))
        snprintf(answer->sentence, sizeof answer->sentence, "%s", reply->str + strlen(REFUSED));
    freeReplyObject(reply);
}

const struct door door_of_redis = {"redis", open_door, enqueue, close_door};

/*
 * places.c - the next places of every queue, merged.
 *
 *   ask those that lag --> up to where have all been looked through? --> enough, or once more
 *
 * What lies up to there is in order; what lies after it may still be overtaken.
 */
#include "store/redis/parts/places.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "store/listing.h"
#include "store/redis/net/run.h"
#include "store/redis/net/word.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID_AT      34
#define SEQ_DIGITS 16
#define LOOK_MOST  1000 /* of one queue, in one script */
#define LOOK_LEAST 10

/* How far a queue has been looked through. */
struct progress {
    char seen[REDIS_PLACE_SIZE]; /* "": it has not been asked yet */
    bool over;
};

struct search {
    struct redis *redis;
    const struct job_filter *filter;
    struct redis_places *places;
    struct progress *queues; /* owned */
    char low[REDIS_PLACE_SIZE], high[REDIS_PLACE_SIZE], after[REDIS_PLACE_SIZE];
    size_t looked;
};

static void search_done(struct search *search)
{
    free(search->queues);
}

void redis_places_done(struct redis_places *places)
{
    free(places->items);
    *places = (struct redis_places){0};
}

/* ---- places ---- */

const char *redis_place_id(const struct redis_place *place)
{
    return place->text + ID_AT;
}

static int64_t digits(const char *text, size_t count)
{
    int64_t number = 0;

    for (size_t i = 0; i < count && text[i] >= '0' && text[i] <= '9'; i++)
        number = number * 10 + (text[i] - '0');
    return number;
}

struct job_cursor redis_place_cursor(const char *text)
{
    struct job_cursor cursor = {
        .is_set = true,
        .at = digits(text, REDIS_MOMENT_DIGITS),
        .ref = digits(text + REDIS_MOMENT_DIGITS, SEQ_DIGITS),
    };

    if (!uuid_parse(text + ID_AT, &cursor.id))
        cursor.id = (struct uuid){{0}};
    return cursor;
}

static void write_place(char out[REDIS_PLACE_SIZE], usec_t at, int64_t ref, const struct uuid *id)
{
    char text[UUID_TEXT_SIZE];

    snprintf(out, REDIS_PLACE_SIZE, "%018" PRId64 "%016" PRId64 "%s", at > 0 ? at : 0,
             ref > 0 ? ref : 0, uuid_format(id, text));
}

/* Only waiting jobs that are due at the same moment go by their sequence. */
static void write_cursor(const struct search *search, char out[REDIS_PLACE_SIZE])
{
    const struct job_cursor *after = &search->filter->after;
    enum listing_order order = listing_order_of(search->filter);

    if (after->is_set)
        write_place(out, order == LISTING_BY_ID ? 0 : after->at,
                    order == LISTING_BY_DUE ? after->ref : 0, &after->id);
}

static void write_moment(char out[REDIS_PLACE_SIZE], usec_t moment)
{
    if (moment > 0)
        snprintf(out, REDIS_PLACE_SIZE, "%018" PRId64, moment);
}

static void write_range(struct search *search)
{
    const struct job_filter *filter = search->filter;
    struct job_filter whole = *filter;

    whole.after = (struct job_cursor){0};
    struct listing_range range = listing_range_of(&whole);
    if (listing_order_of(filter) != LISTING_BY_ID) {
        write_moment(search->low, filter->since);
        write_moment(search->high, filter->until);
    } else {
        if (filter->since > 0)
            write_place(search->low, 0, 0, &range.low_id);
        if (filter->until > 0)
            write_place(search->high, 0, 0, &range.high_id);
    }
    write_cursor(search, search->after);
}

/* ---- asking ---- */

static bool start(struct search *search, struct error *err)
{
    const struct redis_names *queues = &search->redis->queues;
    const char *only = search->filter->queue;

    search->queues = calloc(queues->count + 1, sizeof *search->queues);
    if (!search->queues)
        return error_no_memory(err);
    write_range(search);
    for (size_t i = 0; i < queues->count; i++) {
        memcpy(search->queues[i].seen, search->after, REDIS_PLACE_SIZE);
        search->queues[i].over = only && !text_equal(only, queues->items[i]);
    }
    return true;
}

/* One more than the page takes, to know whether another one follows. */
static size_t wanted_of(const struct search *search)
{
    return search->filter->limit + 1;
}

/* Each queue has its part of what one call may look at; what no filter passes over costs nothing.
 */
static size_t look_most(const struct search *search)
{
    if (!listing_is_picky(search->filter))
        return wanted_of(search);
    size_t share = LISTING_LOOK_MAX / (search->redis->queues.count + 1);
    if (search->filter->queue || share > LOOK_MOST)
        share = LOOK_MOST;
    return share > LOOK_LEAST ? share : LOOK_LEAST;
}

static void add_optional(struct redis_command *command, const char *text)
{
    CLEANUP(buffer_done) struct buffer word = BUFFER((size_t)ERROR_TEXT_SIZE * 64);

    if (text)
        buffer_printf(&word, "=%s", text);
    redis_command_bytes(command, word.data, word.length);
    command->words.failed = command->words.failed || word.failed;
}

static bool ask(const struct search *search, size_t queue, struct redis_batch *batch,
                struct error *err)
{
    const struct job_filter *filter = search->filter;
    struct redis_command *command =
        redis_batch_on_queue(search->redis, batch, SCRIPT_LIST, search->redis->queues.items[queue]);

    if (!command)
        return error_no_memory(err);
    if (filter->by_state)
        redis_command_int(command, filter->state);
    else
        redis_command_text(command, "");
    redis_command_int(command, filter->oldest_first);
    redis_command_text(command, search->low);
    redis_command_text(command, search->high);
    redis_command_text(command, search->queues[queue].seen);
    redis_command_int(command, (int64_t)wanted_of(search));
    redis_command_int(command, (int64_t)look_most(search));
    add_optional(command, filter->type);
    add_optional(command, filter->key);
    add_optional(command, filter->error);
    redis_command_text(command, filter->tag ? filter->tag : "");
    return true;
}

/* ---- hearing ---- */

static bool add_place(struct redis_places *places, const redisReply *text, size_t queue,
                      struct error *err)
{
    if (text->len != REDIS_PLACE_SIZE - 1)
        return true;
    if (places->count == places->capacity) {
        size_t capacity = places->capacity == 0 ? 64 : 2 * places->capacity;
        struct redis_place *items = reallocarray(places->items, capacity, sizeof *items);
        if (!items)
            return error_no_memory(err);
        places->items = items;
        places->capacity = capacity;
    }
    memcpy(places->items[places->count].text, text->str, REDIS_PLACE_SIZE);
    places->items[places->count++].queue = queue;
    return true;
}

static bool hear(struct search *search, size_t queue, const redisReply *reply, struct error *err)
{
    struct progress *progress = &search->queues[queue];

    if (reply->elements < 2)
        return error_set(err, TH_E_INTERNAL, "redis: list answered %zu fields", reply->elements);
    for (size_t i = 2; i < reply->elements; i++)
        if (!add_place(search->places, reply->element[i], queue, err))
            return false;
    snprintf(progress->seen, sizeof progress->seen, "%s", reply->element[0]->str);
    progress->over = progress->seen[0] == '\0';
    search->looked +=
        listing_is_picky(search->filter) ? (size_t)redis_reply_int(reply->element[1]) : 0;
    return true;
}

/* ---- merging ---- */

/* Below 0: the first comes first in this list. */
static int compare(bool oldest_first, const char *first, const char *second)
{
    return oldest_first ? strcmp(first, second) : strcmp(second, first);
}

static int upward(const void *a, const void *b)
{
    return compare(true, ((const struct redis_place *)a)->text,
                   ((const struct redis_place *)b)->text);
}

static int downward(const void *a, const void *b)
{
    return upward(b, a);
}

/* Up to where all queues have been looked through; NULL: to the end. */
static const char *frontier(const struct search *search)
{
    const char *nearest = NULL;

    for (size_t i = 0; i < search->redis->queues.count; i++) {
        const struct progress *progress = &search->queues[i];
        if (!progress->over &&
            (!nearest || compare(search->filter->oldest_first, progress->seen, nearest) < 0))
            nearest = progress->seen;
    }
    return nearest;
}

/* How many places nobody can come before any more; they are the first then. */
static size_t sort(const struct search *search)
{
    struct redis_places *places = search->places;
    const char *end = frontier(search);
    size_t count = 0;

    if (places->count > 0)
        qsort(places->items, places->count, sizeof *places->items,
              search->filter->oldest_first ? upward : downward);
    while (count < places->count &&
           (!end || compare(search->filter->oldest_first, places->items[count].text, end) <= 0))
        count++;
    return count;
}

/* Asks all that have been looked through no further than everybody; at first that is each. */
static bool look(struct search *search, bool is_first, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};
    size_t queues = search->redis->queues.count, next = 0;
    char end[REDIS_PLACE_SIZE] = "";

    if (!is_first)
        snprintf(end, sizeof end, "%s", frontier(search));
    for (size_t i = 0; i < queues; i++)
        if (!search->queues[i].over && (is_first || text_equal(search->queues[i].seen, end)) &&
            !ask(search, i, &batch, err))
            return false;
    if (!redis_run(search->redis, &batch, err))
        return false;
    for (size_t i = 0; i < queues && next < batch.count; i++)
        if (!search->queues[i].over && (is_first || text_equal(search->queues[i].seen, end)) &&
            !hear(search, i, batch.items[next++].reply, err))
            return false;
    return true;
}

/* The page, and whether there may be more after it. */
static void cut(const struct search *search, size_t sorted)
{
    struct redis_places *places = search->places;
    size_t limit = search->filter->limit;
    const char *end = frontier(search);

    if (sorted > limit)
        memcpy(places->go_on, places->items[limit - 1].text, REDIS_PLACE_SIZE);
    else if (end)
        memcpy(places->go_on, end, REDIS_PLACE_SIZE);
    places->count = sorted < limit ? sorted : limit;
}

bool redis_places_find(struct redis *redis, const struct job_filter *filter,
                       struct redis_places *places_out, struct error *err)
{
    CLEANUP(search_done)
    struct search search = {.redis = redis, .filter = filter, .places = places_out};
    size_t sorted = 0;

    if (!start(&search, err))
        return false;
    for (bool is_first = true; is_first || (frontier(&search) && sorted < wanted_of(&search) &&
                                            search.looked < LISTING_LOOK_MAX);
         is_first = false) {
        if (!look(&search, is_first, err))
            return false;
        sorted = sort(&search);
    }
    cut(&search, sorted);
    return true;
}

/*
 * run.c - a batch of commands to its replies.
 *
 *   send to each node --> read all replies --> those with a remedy go round again
 *
 * A batch is carried out as a whole, or in parts: then what cannot be is lost for itself, and the
 * rest goes on.
 *
 * Invariant: after a round each link has either no reply outstanding or is closed, so that no reply
 * is ever taken for the answer to another command.
 */
#include "store/redis/net/run.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "store/redis/net/ahead.h"
#include "store/redis/net/class.h"
#include "store/redis/net/cluster.h"
#include "store/redis/net/script.h"
#include "store/redis/net/word.h"

#include <stdio.h>

#define WORDS_MAX      ((size_t)1 << 20)
#define ROUNDS_MAX     64
#define PATIENCE       (10 * USEC_PER_MSEC)  /* before what will work in a moment is repeated */
#define PARTS_PATIENCE (100 * USEC_PER_MSEC) /* for how long, while other parts wait */
#define PARTS_ANSWER   (2 * USEC_PER_SEC)    /* for one node, while other parts wait */

struct run {
    struct redis *redis;
    struct redis_batch *batch;
    bool loses_parts;    /* what one command meets is no business of the others */
    bool in_parts;       /* and so is what a node does */
    size_t *nodes;       /* of each command in this round, or REDIS_NO_NODE */
    bool uncertain;      /* a command that writes was sent, and is not known to have done nothing */
    bool again;          /* something has to go round once more */
    bool patience;       /* it will work in a moment */
    usec_t patience_end; /* boot time */
};

/* ---- losing a part ---- */

static void lose(struct run *run, size_t i, enum th_error_code outcome, const struct error *err)
{
    run->batch->items[i].outcome = outcome;
    run->nodes[i] = REDIS_NO_NODE;
    if (run->batch->failure.code == TH_OK)
        run->batch->failure = *err;
}

/* All that this node was asked for and has not answered. */
static void lose_node(struct run *run, size_t node, const struct error *err)
{
    for (size_t i = 0; i < run->batch->count; i++) {
        const struct redis_command *command = &run->batch->items[i];
        if (run->nodes[i] == node && !command->reply)
            lose(run, i, command->writes ? TH_E_UNCERTAIN : TH_E_UNAVAILABLE, err);
    }
    redis_link_close(&run->redis->nodes[node].link);
    run->redis->map_is_stale = true;
}

static bool is_open(const struct redis_command *command)
{
    return !command->reply && command->outcome == TH_OK;
}

/* ---- sending ---- */

static bool choose_node(struct run *run, size_t i, size_t *opened, struct error *err)
{
    const struct redis_command *command = &run->batch->items[i];
    size_t node = command->asks != REDIS_NO_NODE ? command->asks
                                                 : redis_cluster_node_of(run->redis, command->slot);

    run->nodes[i] = node;
    if (node == *opened || redis_node_open(run->redis, node, err)) {
        *opened = node;
        return true;
    }
    run->redis->map_is_stale = true;
    if (run->in_parts)
        lose(run, i, TH_E_UNAVAILABLE, err);
    return run->in_parts;
}

static bool choose_nodes(struct run *run, struct error *err)
{
    size_t opened = REDIS_NO_NODE;

    for (size_t i = 0; i < run->batch->count; i++) {
        run->nodes[i] = REDIS_NO_NODE;
        if (is_open(&run->batch->items[i]) && !choose_node(run, i, &opened, err))
            return false;
    }
    return true;
}

/* The script that sets keys aside, on the command's own keys. */
static void add_mend(struct redis_link *link, const struct redis_command *command)
{
    CLEANUP(buffer_done) struct buffer words = BUFFER(WORDS_MAX);
    char count[24];

    snprintf(count, sizeof count, "%zu", command->key_count);
    redis_word_text(&words, "EVAL");
    redis_word_text(&words, redis_script_text(SCRIPT_MEND));
    redis_word_text(&words, count);
    buffer_add(&words, command->words.data + command->keys_at,
               command->keys_end - command->keys_at);
    redis_link_add(link, 3 + command->key_count, &words);
    link->out.failed = link->out.failed || words.failed;
}

static void add_command(struct redis_link *link, const struct redis_command *command)
{
    const char *const load[] = {"SCRIPT", "LOAD",
                                command->loads ? redis_script_text(command->script) : ""};
    const char *const asking[] = {"ASKING"};

    if (command->mends)
        add_mend(link, command);
    if (command->loads)
        redis_link_add_words(link, load, COUNT_OF(load));
    if (command->asks != REDIS_NO_NODE)
        redis_link_add_words(link, asking, COUNT_OF(asking));
    redis_link_add(link, command->argc, &command->words);
}

static bool add_all(struct run *run, struct error *err)
{
    for (size_t i = 0; i < run->batch->count; i++) {
        const struct redis_command *command = &run->batch->items[i];
        if (run->nodes[i] == REDIS_NO_NODE)
            continue;
        if (!buffer_ok(&command->words, err))
            return false;
        add_command(&run->redis->nodes[run->nodes[i]].link, command);
        run->uncertain = run->uncertain || command->writes;
    }
    return true;
}

static bool send_all(struct run *run, struct error *err)
{
    for (size_t i = 0; i < run->batch->count; i++) {
        size_t node = run->nodes[i];
        if (node == REDIS_NO_NODE || redis_link_start(&run->redis->nodes[node].link, err))
            continue;
        if (!run->in_parts)
            return false;
        lose_node(run, node, err);
    }
    return true;
}

/* ---- receiving ---- */

static usec_t answer_deadline(const struct run *run)
{
    usec_t end = clock_boot() + PARTS_ANSWER;

    return run->in_parts && end < run->redis->deadline ? end : run->redis->deadline;
}

/* It is said by whoever has done it: everything else goes on. */
static void tell_mended(const redisReply *reply)
{
    for (size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i < reply->elements; i++)
        log_error("record_damaged", "key=%s error=%s kept_as=%s:damaged", reply->element[i]->str,
                  "its type is none of ours: somebody has written over it", reply->element[i]->str);
}

static bool receive_mend(struct redis_link *link, struct redis_command *command, usec_t deadline,
                         struct error *err)
{
    REDIS_REPLY moved = NULL;

    if (!command->mends)
        return true;
    command->mends = false;
    command->mended = true;
    if (!redis_link_reply(link, deadline, &moved, err))
        return false;
    tell_mended(moved);
    return true;
}

static bool receive(struct redis_link *link, struct redis_command *command, usec_t deadline,
                    struct error *err)
{
    if (!receive_mend(link, command, deadline, err))
        return false;
    for (int extra = command->loads + (command->asks != REDIS_NO_NODE); extra > 0; extra--) {
        REDIS_REPLY ignored = NULL;
        if (!redis_link_reply(link, deadline, &ignored, err))
            return false;
    }
    command->loads = false;
    command->asks = REDIS_NO_NODE;
    return redis_link_reply(link, deadline, &command->reply, err);
}

static bool receive_all(struct run *run, struct error *err)
{
    for (size_t i = 0; i < run->batch->count; i++) {
        size_t node = run->nodes[i];
        usec_t deadline = answer_deadline(run);
        if (node == REDIS_NO_NODE ||
            receive(&run->redis->nodes[node].link, &run->batch->items[i], deadline, err))
            continue;
        if (!run->in_parts)
            return false;
        lose_node(run, node, err);
        if (clock_boot() >= deadline)
            redis_node_leave(&run->redis->nodes[node], err);
    }
    return true;
}

/* Replies that are still to come must not be met by the next batch. */
static void abandon(struct run *run)
{
    for (size_t i = 0; i < run->batch->count; i++)
        if (run->nodes[i] != REDIS_NO_NODE)
            redis_link_close(&run->redis->nodes[run->nodes[i]].link);
    run->redis->map_is_stale = true;
}

/* ---- judging ---- */

static bool refuse(const struct redis_node *node, const char *reply, struct error *err)
{
    redis_class_error(reply, err);
    return error_prefix(err, "redis: %s:%d", node->host.name, node->host.port);
}

static bool apply_remedy(struct run *run, struct redis_command *command, size_t node,
                         struct error *err)
{
    struct redis_node *answerer = &run->redis->nodes[node];
    const char *reply = command->reply->str;

    switch (redis_class_remedy(reply)) {
    case REMEDY_LOAD:
        command->loads = true;
        return true;
    case REMEDY_MEND:
        if (command->mended || command->key_count == 0)
            break;
        command->mends = true;
        return true;
    case REMEDY_MOVE:
        return redis_cluster_follow(run->redis, node, reply, NULL, err);
    case REMEDY_ASK:
        return redis_cluster_follow(run->redis, node, reply, &command->asks, err);
    case REMEDY_REPEAT:
        run->patience = true;
        return true;
    case REMEDY_RECONNECT:
        refuse(answerer, reply, err);
        redis_link_close(&answerer->link);
        run->redis->map_is_stale = true;
        return false;
    case REMEDY_NONE:
        break;
    }
    return refuse(answerer, reply, err);
}

/* Whether an error reply is all that this part of the batch will get. A script that failed may have
 * written before. */
static bool is_lost(struct run *run, size_t i, const struct error *err)
{
    struct redis_command *command = &run->batch->items[i];
    bool is_away = err->code == TH_E_UNAVAILABLE;

    if (!run->loses_parts || (is_away && !run->in_parts))
        return false;
    redis_reply_free(&command->reply);
    lose(run, i, is_away || !command->writes ? TH_E_UNAVAILABLE : TH_E_UNCERTAIN, err);
    return true;
}

/* Whether all is well, or can go round again; the first that cannot is the error. */
static bool judge(struct run *run, struct error *err)
{
    bool well = true, written = false;

    run->again = run->patience = false;
    for (size_t i = 0; i < run->batch->count; i++) {
        struct redis_command *command = &run->batch->items[i];
        struct error failure;
        written = written || command->outcome == TH_E_UNCERTAIN;
        if (!command->reply)
            continue;
        if (command->reply->type != REDIS_REPLY_ERROR) {
            written = written || command->writes;
            continue;
        }
        if (apply_remedy(run, command, run->nodes[i], &failure)) {
            redis_reply_free(&command->reply);
            run->again = true;
        } else if (!is_lost(run, i, &failure)) {
            if (well)
                *err = failure;
            well = false;
        }
    }
    run->uncertain = written;
    return well;
}

static bool go_round(struct run *run, struct error *err)
{
    if (!redis_cluster_refresh(run->redis, err) || !choose_nodes(run, err))
        return false;
    if (!add_all(run, err) || !send_all(run, err) || !receive_all(run, err)) {
        abandon(run);
        return false;
    }
    return judge(run, err);
}

/* What stands still for too long. */
static bool give_up(struct run *run, struct error *err)
{
    error_set(err, TH_E_UNAVAILABLE,
              "redis: the cluster is moving a slot: its queues stand still until that is done");
    for (size_t i = 0; run->in_parts && i < run->batch->count; i++)
        if (is_open(&run->batch->items[i]))
            lose(run, i, TH_E_UNAVAILABLE, err);
    return run->in_parts;
}

static bool go_on(struct run *run, struct error *err)
{
    int rounds = 0;

    while (true) {
        if (!go_round(run, err))
            return false;
        if (!run->again)
            return true;
        if (run->patience)
            clock_sleep(PATIENCE);
        bool too_many = !run->patience && ++rounds == ROUNDS_MAX;
        if (too_many || clock_boot() > run->patience_end)
            return give_up(run, err);
    }
}

static bool start(struct run *run, struct error *err)
{
    AUTO_FREE size_t *nodes = calloc(run->batch->count + 1, sizeof *nodes);

    if (!nodes)
        return error_no_memory(err);
    run->nodes = nodes;
    redis_ahead_hear(run->redis);
    if (go_on(run, err))
        return true;
    if (run->uncertain && err->code == TH_E_UNAVAILABLE)
        err->code = TH_E_UNCERTAIN;
    return false;
}

bool redis_run(struct redis *redis, struct redis_batch *batch, struct error *err)
{
    struct run run = {.redis = redis, .batch = batch, .patience_end = redis->deadline};

    return start(&run, err);
}

bool redis_run_parts(struct redis *redis, struct redis_batch *batch, struct error *err)
{
    struct run run = {
        .redis = redis, .batch = batch, .loses_parts = true, .in_parts = redis->slot_nodes != NULL};

    run.patience_end = run.in_parts ? clock_boot() + PARTS_PATIENCE : redis->deadline;
    return start(&run, err);
}

bool redis_run_worked(const struct redis_batch *batch, struct error *err)
{
    if (batch->failure.code == TH_OK)
        return true;
    *err = batch->failure;
    err->code = TH_E_UNAVAILABLE;
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->items[i].reply)
            return true;
        if (batch->items[i].outcome == TH_E_UNCERTAIN)
            err->code = TH_E_UNCERTAIN;
    }
    return false;
}

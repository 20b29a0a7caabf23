/*
 * redis_run.c - a batch of commands to its replies.
 *
 *   send to each node --> read all replies --> those with a remedy go round again
 *
 * Invariant: after a round each link has either no reply outstanding or is closed, so that no reply
 * is ever taken for the answer to another command.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "store/redis/redis_class.h"
#include "store/redis/redis_cluster.h"
#include "store/redis/redis_connection.h"

#define ROUNDS_MAX 64
#define PATIENCE   (10 * USEC_PER_MSEC) /* before what will work in a moment is repeated */

struct run {
    struct redis *redis;
    struct redis_batch *batch;
    size_t *nodes;  /* owned; of each command in this round, or REDIS_NO_NODE */
    bool uncertain; /* a command that writes was sent, and is not known to have done nothing */
    bool again;     /* something has to go round once more */
    bool patience;
};

/* ---- sending ---- */

static bool choose_nodes(struct run *run, struct error *err)
{
    size_t opened = REDIS_NO_NODE;

    for (size_t i = 0; i < run->batch->count; i++) {
        const struct redis_command *command = &run->batch->items[i];
        run->nodes[i] = REDIS_NO_NODE;
        if (command->reply != NULL)
            continue;
        run->nodes[i] = command->asks != REDIS_NO_NODE
                            ? command->asks
                            : redis_cluster_node_of(run->redis, command->slot);
        if (run->nodes[i] != opened && !redis_node_open(run->redis, run->nodes[i], err))
            return false;
        opened = run->nodes[i];
    }
    return true;
}

static void add_command(struct redis_link *link, const struct redis_command *command)
{
    const char *const load[] = {"SCRIPT", "LOAD",
                                command->loads ? redis_script_text(command->script) : ""};
    const char *const asking[] = {"ASKING"};

    if (command->loads)
        redis_link_add_words(link, load, COUNT_OF(load));
    if (command->asks != REDIS_NO_NODE)
        redis_link_add_words(link, asking, COUNT_OF(asking));
    redis_link_add(link, command->argc, &command->words);
}

static bool send_all(struct run *run, struct error *err)
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
    for (size_t i = 0; i < run->batch->count; i++)
        if (run->nodes[i] != REDIS_NO_NODE &&
            !redis_link_start(&run->redis->nodes[run->nodes[i]].link, err))
            return false;
    return true;
}

/* ---- receiving ---- */

static bool receive(struct run *run, struct redis_link *link, struct redis_command *command,
                    struct error *err)
{
    for (int extra = command->loads + (command->asks != REDIS_NO_NODE); extra > 0; extra--) {
        REDIS_REPLY ignored = NULL;
        if (!redis_link_reply(link, run->redis->deadline, &ignored, err))
            return false;
    }
    command->loads = false;
    command->asks = REDIS_NO_NODE;
    return redis_link_reply(link, run->redis->deadline, &command->reply, err);
}

static bool receive_all(struct run *run, struct error *err)
{
    for (size_t i = 0; i < run->batch->count; i++)
        if (run->nodes[i] != REDIS_NO_NODE &&
            !receive(run, &run->redis->nodes[run->nodes[i]].link, &run->batch->items[i], err))
            return false;
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

/* Whether all is well, or can go round again; the first that cannot is the error. */
static bool judge(struct run *run, struct error *err)
{
    bool well = true, written = false;
    struct error other;

    run->again = run->patience = false;
    for (size_t i = 0; i < run->batch->count; i++) {
        struct redis_command *command = &run->batch->items[i];
        if (command->reply->type != REDIS_REPLY_ERROR) {
            written = written || command->writes;
            continue;
        }
        if (!apply_remedy(run, command, run->nodes[i], well ? err : &other)) {
            well = false;
            continue;
        }
        redis_reply_free(&command->reply);
        run->again = true;
    }
    run->uncertain = written;
    return well;
}

static bool go_round(struct run *run, struct error *err)
{
    if (!redis_cluster_refresh(run->redis, err) || !choose_nodes(run, err))
        return false;
    if (!send_all(run, err) || !receive_all(run, err)) {
        abandon(run);
        return false;
    }
    return judge(run, err);
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
        if (too_many || clock_boot() > run->redis->deadline)
            return error_set(err, TH_E_UNAVAILABLE,
                             "redis: the cluster is moving a slot: its queues stand still until "
                             "that is done");
    }
}

bool redis_run(struct redis *redis, struct redis_batch *batch, struct error *err)
{
    AUTO_FREE size_t *nodes = calloc(batch->count + 1, sizeof(*nodes));
    struct run run = {.redis = redis, .batch = batch, .nodes = nodes};

    if (nodes == NULL)
        return error_no_memory(err);
    if (go_on(&run, err))
        return true;
    if (run.uncertain && err->code == TH_E_UNAVAILABLE)
        err->code = TH_E_UNCERTAIN;
    return false;
}

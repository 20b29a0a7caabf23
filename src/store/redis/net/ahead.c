/*
 * ahead.c - batches that are sent before those that went before them are answered.
 */
#include "store/redis/net/ahead.h"

#include "store/redis/net/connection.h"
#include "store/redis/net/run.h"

static struct redis_link *link_of(struct redis *redis)
{
    return &redis->nodes[0].link;
}

static bool is_awaited(const struct redis *redis, const struct redis_batch *batch)
{
    const struct redis_batch *sent = redis->ahead;

    while (sent && sent != batch)
        sent = sent->next;
    return sent;
}

/* None of them will be answered any more. */
static void lose_all(struct redis *redis, const struct error *err)
{
    for (struct redis_batch *batch = redis->ahead; batch; batch = batch->next)
        batch->failure = *err;
    redis->ahead = NULL;
    redis_link_close(link_of(redis));
}

static struct redis_command *first_unanswered(struct redis_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        if (!batch->items[i].reply)
            return &batch->items[i];
    return NULL;
}

/* The command whose reply comes next. Batches that have all of theirs are let go. */
static struct redis_command *next_command(struct redis *redis)
{
    struct redis_command *next = NULL;

    while (redis->ahead && !(next = first_unanswered(redis->ahead)))
        redis->ahead = redis->ahead->next;
    return next;
}

/* What can be heard without waiting. */
static void glance(struct redis *redis)
{
    struct redis_command *command;
    struct error err;

    while ((command = next_command(redis))) {
        if (!redis_link_poll_reply(link_of(redis), &command->reply, &err))
            lose_all(redis, &err);
        else if (!command->reply)
            return;
    }
}

static void hear_next(struct redis *redis, struct redis_command *command)
{
    struct error err;

    if (!redis_link_reply(link_of(redis), redis->deadline, &command->reply, &err))
        lose_all(redis, &err);
}

void redis_ahead_hear(struct redis *redis)
{
    struct redis_command *command;

    while ((command = next_command(redis)))
        hear_next(redis, command);
}

static bool send(struct redis *redis, const struct redis_batch *batch, struct error *err)
{
    struct redis_link *link = link_of(redis);

    for (size_t i = 0; i < batch->count; i++) {
        if (!buffer_ok(&batch->items[i].words, err))
            return false;
        redis_link_add(link, batch->items[i].argc, &batch->items[i].words);
    }
    return redis_link_send(link, redis->deadline, err);
}

/* A link that is down is only opened anew while nobody waits for what it had to say. */
static bool is_open(struct redis *redis, struct error *err)
{
    if (!redis->ahead)
        return redis_node_open(redis, 0, err);
    return !redis_link_is_down(link_of(redis)) ||
           error_set(err, TH_E_UNAVAILABLE, "redis: the server closed the connection");
}

bool redis_ahead_send(struct redis *redis, struct redis_batch *batch, struct error *err)
{
    struct redis_batch **last = &redis->ahead;

    if (!is_open(redis, err))
        return false;
    if (!send(redis, batch, err)) {
        lose_all(redis, err);
        return false;
    }
    while (*last)
        last = &(*last)->next;
    *last = batch;
    glance(redis);
    return true;
}

/* Whether any of it is to be asked again. */
static bool drop_refusals(struct redis_batch *batch)
{
    bool any = false;

    for (size_t i = 0; i < batch->count; i++) {
        if (batch->items[i].reply->type != REDIS_REPLY_ERROR)
            continue;
        redis_reply_free(&batch->items[i].reply);
        any = true;
    }
    return any;
}

static bool ask_again(struct redis *redis, struct redis_batch *batch, bool in_parts,
                      struct error *err)
{
    if (in_parts ? redis_run_parts(redis, batch, err) : redis_run(redis, batch, err))
        return true;
    if (err->code == TH_E_UNAVAILABLE) /* the rest of it was carried out */
        err->code = TH_E_UNCERTAIN;
    return false;
}

bool redis_ahead_end(struct redis *redis, struct redis_batch *batch, bool in_parts,
                     struct error *err)
{
    struct redis_command *command;

    while ((command = next_command(redis)) && is_awaited(redis, batch))
        hear_next(redis, command);
    if (batch->failure.code != TH_OK) {
        *err = batch->failure;
        err->code = TH_E_UNCERTAIN;
        return false;
    }
    glance(redis);
    return !drop_refusals(batch) || ask_again(redis, batch, in_parts, err);
}

int redis_ahead_fd(const struct redis *redis, const struct redis_batch *batch)
{
    return is_awaited(redis, batch) ? redis->nodes[0].link.context->fd : -1;
}

void redis_ahead_forget(struct redis *redis)
{
    redis->ahead = NULL;
}

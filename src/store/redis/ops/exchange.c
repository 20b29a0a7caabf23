/*
 * exchange.c - settle, then reserve: one script per queue, all of them in one round trip.
 *
 * Each queue is settled and reserved from in one go that nobody can come between; several queues
 * are several such goes. In a cluster, one whose node is down or whose slot is on the move is away,
 * and the others are served: its settlements are to be repeated, which is safe, and what it may
 * have reserved is found by `held`.
 *
 * The tokens' indexes are dealt out before anybody knows how many jobs each queue has: a queue
 * starts where the one before it would end if it gave all that it is asked for.
 */
#include "base/cleanup.h"
#include "store/defect.h"
#include "store/redis/codec/record.h"
#include "store/redis/codec/verdict.h"
#include "store/redis/net/cluster.h"
#include "store/redis/ops/ops.h"
#include "store/redis/ops/settle.h"
#include "store/redis/parts/queues.h"
#include "store/redis/protocol.h"

#include <stdlib.h>
#include <string.h>

#define SHARE_MAX       1000000 /* jobs of one queue in one call */
#define RESERVED_FIELDS 6
#define NO_LEG          SIZE_MAX

/* When a queue that is away is asked again. */
#define AWAY_FOR (500 * USEC_PER_MSEC)

/* The part of an exchange that is about one queue. */
struct leg {
    const char *queue;
    size_t settlements, from;        /* how many, and where they begin in the order */
    const struct queue_share *share; /* NULL: nothing is wanted of it */
    struct share_limit *limit;       /* where to say why it gave less; or NULL */
    uint32_t first;                  /* index of its first token */
    size_t taken;
    const char *behind; /* the ready member up to which types were looked for */
};

struct exchange {
    struct redis *redis;
    const struct settlement_list *finished;
    const struct reservation *wanted;
    usec_t now;
    enum th_error_code *verdicts;
    struct job_list *jobs;
    struct leg *legs; /* owned */
    size_t *leg_of;   /* owned; of each settlement; NO_LEG: it is put off */
    size_t *order;    /* owned; the numbers of the settlements, leg by leg, as they are answered */
    size_t leg_count;
    const char *pool; /* as the jobs point to it */
    bool in_parts;    /* the caller can be told what is away */
};

static void exchange_done(struct exchange *exchange)
{
    free(exchange->legs);
    free(exchange->leg_of);
    free(exchange->order);
}

/* ---- dividing by queue ---- */

/* Settlements of one queue come in a row more often than not: from the end. */
static struct leg *leg_for(struct exchange *exchange, const char *queue)
{
    size_t i = exchange->leg_count;

    while (i > 0 && strcmp(exchange->legs[i - 1].queue, queue) != 0)
        i--;
    if (i > 0)
        return &exchange->legs[i - 1];
    exchange->legs[exchange->leg_count] = (struct leg){.queue = queue, .behind = ""};
    return &exchange->legs[exchange->leg_count++];
}

static void add_share(struct exchange *exchange, size_t i, uint32_t *next_index)
{
    const struct queue_share *share = &exchange->wanted->queues[i];
    struct share_limit *limits = exchange->wanted->limits_out;

    if (limits)
        limits[i] = (struct share_limit){0};
    bool no_type = exchange->wanted->types && exchange->wanted->type_count == 0;
    if (share->max == 0 || no_type)
        return;
    struct leg *leg = leg_for(exchange, share->queue);
    if (leg->share) {
        /* Asked for twice: a leg of its own, after the first. */
        leg = &exchange->legs[exchange->leg_count++];
        *leg = (struct leg){.queue = share->queue, .behind = ""};
    }
    leg->share = share;
    leg->limit = limits ? &limits[i] : NULL;
    leg->first = *next_index;
    *next_index += (uint32_t)(share->max < SHARE_MAX ? share->max : SHARE_MAX);
}

static void divide(struct exchange *exchange)
{
    size_t settlements = exchange->finished->count;
    size_t shares = exchange->wanted ? exchange->wanted->queue_count : 0;
    uint32_t next_index = 0;

    for (size_t i = 0; i < settlements; i++) {
        if (exchange->leg_of[i] == NO_LEG)
            continue;
        struct leg *leg = leg_for(exchange, exchange->finished->items[i].queue);
        leg->settlements++;
        exchange->leg_of[i] = (size_t)(leg - exchange->legs);
    }
    for (size_t i = 0; i < shares; i++)
        add_share(exchange, i, &next_index);
}

static void sort_by_leg(struct exchange *exchange)
{
    size_t end = 0;

    for (size_t i = 0; i < exchange->leg_count; i++) {
        end += exchange->legs[i].settlements;
        exchange->legs[i].from = end;
    }
    for (size_t i = exchange->finished->count; i-- > 0;)
        if (exchange->leg_of[i] != NO_LEG)
            exchange->order[--exchange->legs[exchange->leg_of[i]].from] = i;
}

/* ---- asking ---- */

static void add_wanted(const struct exchange *exchange, const struct leg *leg,
                       struct redis_command *command)
{
    const struct reservation *wanted = exchange->wanted;
    const struct queue_share *share = leg->share;
    size_t max = share->max < SHARE_MAX ? share->max : SHARE_MAX;

    redis_command_int(command, (int64_t)(max - leg->taken));
    redis_command_moment(command, exchange->now + wanted->lease_for);
    redis_command_bytes(command, wanted->batch.bytes, sizeof wanted->batch.bytes);
    redis_command_int(command, (int64_t)(leg->first + leg->taken));
    redis_command_int(command, (int64_t)exchange->redis->base.batch_min);
    redis_command_text(command, wanted->pool);
    redis_command_int(command, (int64_t)share->max_running);
    redis_command_int(command, share->rate.count);
    redis_command_int(command, share->rate.period);
    redis_command_text(command, leg->behind);
    for (size_t i = 0; wanted->types && i < wanted->type_count; i++)
        redis_command_text(command, wanted->types[i]);
}

static bool add_leg(const struct exchange *exchange, const struct leg *leg, size_t settlements,
                    struct redis_batch *batch, struct error *err)
{
    struct redis_command *command =
        redis_batch_on_queue(exchange->redis, batch, SCRIPT_EXCHANGE, leg->queue);

    if (!command)
        return error_no_memory(err);
    redis_command_now(exchange->redis, command, exchange->now);
    redis_command_int(command, (int64_t)settlements);
    return true;
}

static bool run(const struct exchange *exchange, struct redis_batch *batch, struct error *err)
{
    return exchange->in_parts ? redis_run_parts(exchange->redis, batch, err)
                              : redis_run(exchange->redis, batch, err);
}

static bool ask(const struct exchange *exchange, struct redis_batch *batch, struct error *err)
{
    for (size_t i = 0; i < exchange->leg_count; i++) {
        const struct leg *leg = &exchange->legs[i];
        if (!add_leg(exchange, leg, leg->settlements, batch, err))
            return false;
        redis_settle_words(exchange->redis, &batch->items[i], exchange->finished->items,
                           exchange->order + leg->from, leg->settlements, exchange->now);
        if (leg->share)
            add_wanted(exchange, leg, &batch->items[i]);
    }
    return run(exchange, batch, err);
}

/* ---- hearing ---- */

static void note_away(const struct exchange *exchange, const struct leg *leg,
                      const struct error *err)
{
    if (leg->limit)
        *leg->limit =
            (struct share_limit){.is_away = true, .limited_until = exchange->now + AWAY_FOR};
    if (!exchange->wanted->away_out)
        return;
    *exchange->wanted->away_out = *err;
    exchange->wanted->away_out->code = TH_E_UNAVAILABLE; /* it is asked again */
}

static bool read_verdicts_of(const struct exchange *exchange, const struct leg *leg,
                             const struct redis_command *command, struct error *err)
{
    const bool worked = command->outcome == TH_OK;

    if (worked &&
        (command->reply->elements == 0 || command->reply->element[0]->len != leg->settlements))
        return error_set(err, TH_E_INTERNAL, "redis: exchange answered other verdicts");
    for (size_t i = 0; i < leg->settlements; i++)
        exchange->verdicts[exchange->order[leg->from + i]] =
            worked ? redis_verdict_of(command->reply->element[0]->str[i]) : command->outcome;
    return true;
}

static bool read_verdicts(const struct exchange *exchange, const struct redis_batch *batch,
                          struct error *err)
{
    for (size_t i = 0; i < exchange->finished->count; i++)
        exchange->verdicts[i] = TH_E_UNAVAILABLE;
    for (size_t i = 0; i < exchange->leg_count; i++)
        if (!read_verdicts_of(exchange, &exchange->legs[i], &batch->items[i], err))
            return false;
    return true;
}

static bool read_job(const struct exchange *exchange, const struct leg *leg, const char *queue,
                     const redisReply *member, const redisReply *record, struct error *err)
{
    struct job *job = job_list_add(exchange->jobs);

    if (!job)
        return error_no_memory(err);
    bool read = redis_record_job(record, &exchange->jobs->arena, job);
    if (member->len != REDIS_READY_WIDTH || !uuid_parse(member->str + REDIS_READY_ID, &job->id))
        job->id = (struct uuid){{0}};
    job->defect = read ? defect_of(job) : DEFECT_UNREADABLE;
    job->executions++;
    job->queue = queue;
    job->pool = exchange->pool;
    job->state = JOB_RUNNING;
    job->token = lease_token_make(&exchange->wanted->batch, leg->first + (uint32_t)leg->taken);
    job->expires_at = exchange->now + exchange->wanted->lease_for;
    job->started_at = exchange->now;
    return true;
}

static bool read_jobs(const struct exchange *exchange, struct leg *leg, const redisReply *reply,
                      struct error *err)
{
    if (reply->elements != RESERVED_FIELDS)
        return error_set(err, TH_E_INTERNAL, "redis: exchange answered %zu fields",
                         reply->elements);
    const redisReply *members = reply->element[4], *records = reply->element[5];
    const char *queue = arena_text(&exchange->jobs->arena, leg->queue);
    for (size_t i = 0; i < members->elements; i++) {
        if (!read_job(exchange, leg, queue, members->element[i], records->element[i], err))
            return false;
        leg->taken++;
    }
    if (leg->limit)
        *leg->limit = (struct share_limit){
            .is_full = redis_reply_int(reply->element[1]) != 0,
            .limited_until = redis_reply_int(reply->element[2]),
        };
    leg->behind = arena_text(&exchange->jobs->arena, reply->element[3]->str);
    return !exchange->jobs->arena.failed || error_no_memory(err);
}

static bool hear_leg(const struct exchange *exchange, struct leg *leg,
                     const struct redis_batch *batch, const struct redis_command *command,
                     struct error *err)
{
    leg->behind = "";
    if (command->outcome == TH_OK)
        return read_jobs(exchange, leg, command->reply, err);
    note_away(exchange, leg, &batch->failure);
    return true;
}

/* A queue whose first jobs are of other types is looked through a part at a time. */
static bool look_further(struct exchange *exchange, struct leg *leg, struct error *err)
{
    while (leg->behind[0] != '\0') {
        CLEANUP(redis_batch_done) struct redis_batch batch = {0};
        if (!add_leg(exchange, leg, 0, &batch, err))
            return false;
        add_wanted(exchange, leg, &batch.items[0]);
        if (!run(exchange, &batch, err) || !hear_leg(exchange, leg, &batch, &batch.items[0], err))
            return false;
    }
    return true;
}

static bool hear(struct exchange *exchange, const struct redis_batch *batch, struct error *err)
{
    if (!read_verdicts(exchange, batch, err))
        return false;
    for (size_t i = 0; i < exchange->leg_count; i++) {
        struct leg *leg = &exchange->legs[i];
        if (leg->share && (!hear_leg(exchange, leg, batch, &batch->items[i], err) ||
                           !look_further(exchange, leg, err)))
            return false;
    }
    return true;
}

/* ---- on_dead ---- */

/* Its queue has to be listed. In a cluster it may also be out of the script's reach: then the job
 * is stored before its cause is settled, so that a death is never without it. */
static bool prepare_on_dead(struct exchange *exchange, const struct settlement *settlement,
                            struct error *err)
{
    struct redis *redis = exchange->redis;
    struct job job = *settlement->on_dead;
    struct enqueued enqueued;
    size_t at_fault;

    if (!redis->slot_nodes ||
        redis_cluster_slot(job.queue) == redis_cluster_slot(settlement->queue))
        return redis_queues_add(redis, &job.queue, 1, err);
    struct enqueue_group group = {.jobs = &job, .count = 1, .enqueued_out = &enqueued};
    return redis_enqueue_group(&redis->base, &group, exchange->now, &at_fault, err);
}

/* In a cluster, a death whose job cannot be stored now is put off. */
static bool prepare(struct exchange *exchange, struct error *err)
{
    for (size_t i = 0; i < exchange->finished->count; i++) {
        const struct settlement *settlement = &exchange->finished->items[i];
        if (!settlement->on_dead || settlement->kind != SETTLE_FAIL ||
            prepare_on_dead(exchange, settlement, err))
            continue;
        if (!exchange->in_parts || !exchange->redis->slot_nodes ||
            (err->code != TH_E_UNAVAILABLE && err->code != TH_E_UNCERTAIN))
            return false;
        exchange->leg_of[i] = NO_LEG;
    }
    return true;
}

static bool make_room(struct exchange *exchange, struct error *err)
{
    size_t settlements = exchange->finished->count;
    size_t shares = exchange->wanted ? exchange->wanted->queue_count : 0;

    exchange->legs = calloc(settlements + shares + 1, sizeof *exchange->legs);
    exchange->leg_of = calloc(settlements + 1, sizeof *exchange->leg_of);
    exchange->order = calloc(settlements + 1, sizeof *exchange->order);
    return (exchange->legs && exchange->leg_of && exchange->order) || error_no_memory(err);
}

static bool run_exchange(struct exchange *exchange, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    if (!make_room(exchange, err) || !prepare(exchange, err))
        return false;
    divide(exchange);
    sort_by_leg(exchange);
    return ask(exchange, &batch, err) && hear(exchange, &batch, err);
}

static void keep_listed(struct redis *redis, const struct reservation *wanted)
{
    AUTO_FREE const char **names = calloc(wanted->queue_count + 1, sizeof *names);

    for (size_t i = 0; names && i < wanted->queue_count; i++)
        names[i] = wanted->queues[i].queue;
    if (names)
        redis_queues_keep(redis, names, wanted->queue_count);
}

bool redis_exchange(struct store *store, const struct settlement_list *finished,
                    const struct reservation *wanted, usec_t now, enum th_error_code *verdicts_out,
                    struct job_list *jobs_out, struct error *err)
{
    CLEANUP(exchange_done)
    struct exchange exchange = {
        .redis = redis_of(store),
        .finished = finished,
        .wanted = wanted,
        .now = now,
        .verdicts = verdicts_out,
        .jobs = jobs_out,
        .pool = wanted ? arena_text(&jobs_out->arena, wanted->pool) : NULL,
        .in_parts = !wanted || wanted->away_out,
    };

    redis_begin(exchange.redis);
    if (!run_exchange(&exchange, err))
        return false;
    if (wanted)
        keep_listed(exchange.redis, wanted);
    return true;
}

/*
 * exchange.c - settle, then reserve: one script per queue, all of them in one round trip, but for
 * what legs.h says.
 *
 * Each queue is settled and reserved from in one go that nobody can come between; several queues
 * are several such goes. In a cluster, one whose node is down or whose slot is on the move is away,
 * and the others are served: its settlements are to be repeated, which is safe, and what it may
 * have reserved is found by `held`.
 */
#include "base/cleanup.h"
#include "store/defect.h"
#include "store/redis/codec/record.h"
#include "store/redis/codec/verdict.h"
#include "store/redis/net/ahead.h"
#include "store/redis/net/cluster.h"
#include "store/redis/net/reply.h"
#include "store/redis/ops/legs.h"
#include "store/redis/ops/ops.h"
#include "store/redis/ops/settle.h"
#include "store/redis/parts/queues.h"
#include "store/redis/protocol.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESERVED_FIELDS 6
#define LEASE_TEXT_SIZE 48

/* When a queue that is away is asked again. */
#define AWAY_FOR (500 * USEC_PER_MSEC)

struct exchange {
    struct redis *redis;
    const struct settlement_list *finished;
    usec_t now, lead;
    enum th_error_code *verdicts;
    struct job_list *jobs;
    struct redis_legs legs;
    bool in_parts; /* the caller can be told what is away */
};

static void exchange_done(struct exchange *exchange)
{
    redis_legs_done(&exchange->legs);
}

/* ---- asking ---- */

/* When the leases end; or if that depends on the job, how long after now one does that may run for
 * ever, and by how much every one is longer. */
static void add_lease(const struct exchange *exchange, const struct reservation *wanted,
                      struct redis_command *command)
{
    char text[LEASE_TEXT_SIZE];

    if (wanted->lease_for != 0) {
        redis_command_moment(command, exchange->now + exchange->lead + wanted->lease_for);
        return;
    }
    snprintf(text, sizeof text, "%" PRId64 " %" PRId64, wanted->lease_default, exchange->lead);
    redis_command_text(command, text);
}

static void add_wanted(const struct exchange *exchange, const struct redis_leg *leg,
                       struct redis_command *command)
{
    const struct reservation *wanted = leg->claim->wanted;
    const struct queue_share *share = leg->share;

    redis_command_int(command, (int64_t)(leg->max - leg->taken));
    add_lease(exchange, wanted, command);
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

static struct redis_command *add_leg(const struct exchange *exchange, const struct redis_leg *leg,
                                     enum redis_script script, struct redis_batch *batch)
{
    struct redis_command *command =
        redis_batch_on_queue(exchange->redis, batch, script, leg->queue);

    if (command && script == SCRIPT_LOOK)
        redis_command_moment(command, exchange->now);
    else if (command)
        redis_command_now(exchange->redis, command, exchange->now);
    return command;
}

static bool run(const struct exchange *exchange, struct redis_batch *batch, struct error *err)
{
    return exchange->in_parts ? redis_run_parts(exchange->redis, batch, err)
                              : redis_run(exchange->redis, batch, err);
}

static bool add_asking(const struct exchange *exchange, const struct redis_leg *leg,
                       size_t settlements, struct redis_batch *batch, struct error *err)
{
    struct redis_command *command = add_leg(exchange, leg, SCRIPT_EXCHANGE, batch);

    if (!command)
        return error_no_memory(err);
    redis_command_int(command, (int64_t)settlements);
    redis_settle_words(exchange->redis, command, exchange->finished->items,
                       exchange->legs.order + leg->from, settlements, exchange->now);
    if (leg->share)
        add_wanted(exchange, leg, command);
    return true;
}

/* What is said to all legs of this round. */
static bool put_together(struct exchange *exchange, struct redis_batch *batch, struct error *err)
{
    for (size_t i = 0; i < exchange->legs.count; i++) {
        struct redis_leg *leg = &exchange->legs.items[i];

        leg->command = batch->count;
        if (leg->turn == REDIS_TURN_NOW && !add_asking(exchange, leg, leg->settlements, batch, err))
            return false;
        if (leg->turn == REDIS_TURN_LOOK && !add_leg(exchange, leg, SCRIPT_LOOK, batch))
            return error_no_memory(err);
    }
    return true;
}

/* ---- hearing ---- */

static void note_away(const struct exchange *exchange, const struct redis_leg *leg,
                      const struct error *err)
{
    struct error *away = leg->claim->wanted->away_out;

    if (leg->limit)
        *leg->limit =
            (struct share_limit){.is_away = true, .limited_until = exchange->now + AWAY_FOR};
    if (!away)
        return;
    *away = *err;
    away->code = TH_E_UNAVAILABLE; /* it is asked again */
}

static bool read_verdicts_of(const struct exchange *exchange, const struct redis_leg *leg,
                             const struct redis_command *command, struct error *err)
{
    const bool worked = command->outcome == TH_OK;

    if (worked &&
        (command->reply->elements == 0 || command->reply->element[0]->len != leg->settlements))
        return error_set(err, TH_E_INTERNAL, "redis: exchange answered other verdicts");
    for (size_t i = 0; i < leg->settlements; i++)
        exchange->verdicts[exchange->legs.order[leg->from + i]] =
            worked ? redis_verdict_of(command->reply->element[0]->str[i]) : command->outcome;
    return true;
}

static bool read_verdicts(const struct exchange *exchange, const struct redis_batch *batch,
                          struct error *err)
{
    for (size_t i = 0; i < exchange->finished->count; i++)
        exchange->verdicts[i] = TH_E_UNAVAILABLE;
    for (size_t i = 0; i < exchange->legs.count; i++) {
        const struct redis_leg *leg = &exchange->legs.items[i];
        if (leg->settlements > 0 &&
            !read_verdicts_of(exchange, leg, &batch->items[leg->command], err))
            return false;
    }
    return true;
}

static bool read_job(const struct exchange *exchange, const struct redis_leg *leg,
                     const char *queue, const redisReply *member, const redisReply *record,
                     struct error *err)
{
    const struct reservation *wanted = leg->claim->wanted;
    struct job *job = job_list_add(exchange->jobs);

    if (!job)
        return error_no_memory(err);
    bool read = redis_record_job(record, &exchange->jobs->arena, job);
    if (member->len != REDIS_READY_WIDTH || !uuid_parse(member->str + REDIS_READY_ID, &job->id))
        job->id = (struct uuid){{0}};
    job->defect = read ? defect_of(job) : DEFECT_UNREADABLE;
    job->executions++;
    job->queue = queue;
    job->pool = leg->claim->pool;
    job->reservation = (uint32_t)(leg->claim - exchange->legs.claims);
    job->state = JOB_RUNNING;
    job->token = lease_token_make(&wanted->batch, leg->first + (uint32_t)leg->taken);
    job->expires_at = exchange->now + exchange->lead +
                      lease_length(wanted->lease_for, job->timeout, wanted->lease_default);
    job->started_at = exchange->now;
    return true;
}

static bool read_jobs(const struct exchange *exchange, struct redis_leg *leg,
                      const redisReply *reply, struct error *err)
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
    leg->looked += REDIS_LOOK_MOST;
    if (leg->limit)
        *leg->limit = (struct share_limit){
            .is_full = redis_reply_int(reply->element[1]) != 0,
            .limited_until = redis_reply_int(reply->element[2]),
        };
    if (leg->looked < JOB_LOOK_MAX)
        leg->behind = arena_text(&exchange->jobs->arena, reply->element[3]->str);
    return !exchange->jobs->arena.failed || error_no_memory(err);
}

static bool hear_jobs(const struct exchange *exchange, struct redis_leg *leg,
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
static bool look_further(const struct exchange *exchange, struct redis_leg *leg, struct error *err)
{
    while (leg->behind[0] != '\0') {
        CLEANUP(redis_batch_done) struct redis_batch batch = {0};
        if (!add_asking(exchange, leg, 0, &batch, err) || !run(exchange, &batch, err) ||
            !hear_jobs(exchange, leg, &batch, &batch.items[0], err))
            return false;
    }
    return true;
}

static bool hear_asked(const struct exchange *exchange, struct redis_leg *leg,
                       const struct redis_batch *batch, struct error *err)
{
    leg->turn = REDIS_TURN_OVER;
    if (!leg->share)
        return true;
    if (!hear_jobs(exchange, leg, batch, &batch->items[leg->command], err) ||
        !look_further(exchange, leg, err))
        return false;
    if (leg->claim->is_rationed)
        leg->claim->left -= leg->taken;
    return true;
}

static void hear_look(const struct exchange *exchange, struct redis_leg *leg,
                      const struct redis_batch *batch)
{
    const struct redis_command *command = &batch->items[leg->command];

    leg->has = command->outcome == TH_OK ? (size_t)redis_reply_int(command->reply) : 0;
    leg->turn = leg->has > 0 ? REDIS_TURN_LATER : REDIS_TURN_OVER;
    if (command->outcome != TH_OK)
        note_away(exchange, leg, &batch->failure);
}

static bool hear(struct exchange *exchange, const struct redis_batch *batch, struct error *err)
{
    for (size_t i = 0; i < exchange->legs.count; i++) {
        struct redis_leg *leg = &exchange->legs.items[i];

        if (leg->turn == REDIS_TURN_LOOK)
            hear_look(exchange, leg, batch);
        else if (leg->turn == REDIS_TURN_NOW && !hear_asked(exchange, leg, batch, err))
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
        exchange->legs.leg_of[i] = REDIS_NO_LEG;
    }
    return true;
}

static void name_pools(struct exchange *exchange)
{
    for (size_t i = 0; i < exchange->legs.claim_count; i++) {
        struct redis_claim *claim = &exchange->legs.claims[i];
        claim->pool = arena_text(&exchange->jobs->arena, claim->wanted->pool);
    }
}

/* The first round, up to the sending. */
static bool prepare_exchange(struct exchange *exchange, const struct reservation *wanted,
                             size_t wanted_count, struct redis_batch *batch, struct error *err)
{
    if (!redis_legs_init(&exchange->legs, exchange->finished->count, wanted, wanted_count, err) ||
        !prepare(exchange, err))
        return false;
    name_pools(exchange);
    redis_legs_divide(&exchange->legs, exchange->finished);
    return put_together(exchange, batch, err);
}

static bool run_round(struct exchange *exchange, struct error *err)
{
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    return put_together(exchange, &batch, err) && run(exchange, &batch, err) &&
           hear(exchange, &batch, err);
}

static void keep_listed(struct redis *redis, const struct reservation *wanted)
{
    AUTO_FREE const char **names = calloc(wanted->queue_count + 1, sizeof *names);

    for (size_t i = 0; names && i < wanted->queue_count; i++)
        names[i] = wanted->queues[i].queue;
    if (names)
        redis_queues_keep(redis, names, wanted->queue_count);
}

/* What is said in the first round, and all others. */
static bool hear_all(struct exchange *exchange, const struct redis_batch *batch, struct error *err)
{
    if (!read_verdicts(exchange, batch, err) || !hear(exchange, batch, err))
        return false;
    while (redis_legs_go_on(&exchange->legs))
        if (!run_round(exchange, err))
            return false;
    for (size_t i = 0; i < exchange->legs.claim_count; i++)
        keep_listed(exchange->redis, exchange->legs.claims[i].wanted);
    return true;
}

/* What is away has to be said of each reservation. */
static bool can_be_told(const struct reservation *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!wanted[i].away_out)
            return false;
    return true;
}

bool redis_exchange(struct store *store, const struct settlement_list *finished,
                    const struct reservation *wanted, size_t wanted_count, usec_t now,
                    enum th_error_code *verdicts_out, struct job_list *jobs_out, struct error *err)
{
    CLEANUP(exchange_done)
    struct exchange exchange = {
        .redis = redis_of(store),
        .finished = finished,
        .now = now,
        .lead = store_lead(store),
        .verdicts = verdicts_out,
        .jobs = jobs_out,
        .in_parts = can_be_told(wanted, wanted_count),
    };
    CLEANUP(redis_batch_done) struct redis_batch batch = {0};

    redis_begin(exchange.redis);
    return prepare_exchange(&exchange, wanted, wanted_count, &batch, err) &&
           run(&exchange, &batch, err) && hear_all(&exchange, &batch, err);
}

/* ---- in two steps ---- */

/* One that is out. */
struct redis_begun {
    struct settlement_list finished;
    struct reservation wanted;
    struct exchange exchange;
    struct redis_batch batch;
    struct redis_begun *next;
};

static void begun_free(struct redis_begun **begun)
{
    exchange_done(&(*begun)->exchange);
    redis_batch_done(&(*begun)->batch);
    free(*begun);
}

static void add_begun(struct redis *redis, struct redis_begun *begun)
{
    struct redis_begun **place = &redis->begun;

    while (*place)
        place = &(*place)->next;
    *place = begun;
}

bool redis_exchange_begin(struct store *store, const struct settlement_list *finished,
                          const struct reservation *wanted, usec_t now,
                          enum th_error_code *verdicts_out, struct job_list *jobs_out,
                          struct error *err)
{
    struct redis *redis = redis_of(store);
    struct redis_begun *begun = calloc(1, sizeof *begun);
    const size_t count = wanted ? 1 : 0;

    if (!begun)
        return error_no_memory(err);
    begun->finished = *finished;
    if (wanted)
        begun->wanted = *wanted;
    begun->exchange = (struct exchange){
        .redis = redis,
        .finished = &begun->finished,
        .now = now,
        .lead = store_lead(store),
        .verdicts = verdicts_out,
        .jobs = jobs_out,
        .in_parts = can_be_told(wanted, count),
    };
    redis_begin(redis);
    if (prepare_exchange(&begun->exchange, &begun->wanted, count, &begun->batch, err) &&
        redis_ahead_send(redis, &begun->batch, err)) {
        add_begun(redis, begun);
        return true;
    }
    begun_free(&begun);
    return false;
}

bool redis_exchange_end(struct store *store, struct error *err)
{
    struct redis *redis = redis_of(store);
    CLEANUP(begun_free) struct redis_begun *begun = redis->begun;
    struct exchange *exchange = &begun->exchange;

    redis->begun = begun->next;
    redis_begin(redis);
    const size_t before = exchange->jobs->count; /* the one before may have filled the same list */
    if (redis_ahead_end(redis, &begun->batch, exchange->in_parts, err) &&
        hear_all(exchange, &begun->batch, err))
        return true;
    exchange->jobs->count = before;
    return false;
}

int redis_exchange_fd(const struct store *store)
{
    const struct redis *redis = (const struct redis *)store;

    return redis->begun ? redis_ahead_fd(redis, &redis->begun->batch) : -1;
}

void redis_exchanges_forget(struct redis *redis)
{
    redis_ahead_forget(redis);
    while (redis->begun) {
        CLEANUP(begun_free) struct redis_begun *begun = redis->begun;

        redis->begun = begun->next;
    }
}

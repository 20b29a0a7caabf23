/*
 * moves.c - everything that an actor may do to a store, by chance.
 */
#include "moves.h"

#include "trade.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CROWD 24 /* more than share a lease, in every store */

static struct job make_job(struct actor *actor)
{
    struct job job = job_defaults();

    job.id = uuid_make(&actor->ids, NOW);
    job.type = "work";
    job.queue = actor->queues[actor_pick(actor, QUEUES)];
    job.priority = (int)actor_pick(actor, 3);
    job.headers = actor_by_chance(actor, 4) ? "{\"a\":1}" : NULL;
    return job;
}

static struct tags pick_tags(struct actor *actor)
{
    static const char *const names[] = {"one", "two", "three"};
    const size_t from = actor_pick(actor, COUNT_OF(names));

    return (struct tags){names + from, actor_pick(actor, (unsigned)(COUNT_OF(names) - from) + 1)};
}

static const char *pick_key(struct actor *actor)
{
    static const char *const keys[] = {NULL, NULL, "a", "b", "c"};

    return keys[actor_pick(actor, COUNT_OF(keys))];
}

static const char *pick_idempotency_key(struct actor *actor)
{
    static const char *const keys[] = {NULL, NULL, NULL, "x", "y"};

    return keys[actor_pick(actor, COUNT_OF(keys))];
}

static usec_t pick_run_at(struct actor *actor, unsigned in, unsigned seconds)
{
    return actor_by_chance(actor, in) ? actor->now + SECONDS(actor_pick(actor, seconds)) : 0;
}

static struct job make_any_job(struct actor *actor)
{
    struct job job = make_job(actor);

    job.key = pick_key(actor);
    job.tags = pick_tags(actor);
    job.run_at = pick_run_at(actor, 3, 60);
    job.idempotency_key = pick_idempotency_key(actor);
    job.idempotency_expires = actor->now + SECONDS(30);
    job.update = (struct keyed_flags){
        .payload = actor_by_chance(actor, 2),
        .run_at = (enum update_run_at)actor_pick(actor, 4),
        .retry = actor_by_chance(actor, 2),
        .reset_counts = actor_by_chance(actor, 2),
    };
    return job;
}

/* ---- producers ---- */

static bool enqueue(struct actor *actor, struct job *jobs, size_t count, struct error *err)
{
    struct enqueued enqueued[CROWD];

    if (!store_enqueue(actor->store, jobs, count, actor->now, enqueued, err))
        return false;
    for (size_t i = 0; i < count; i++)
        actor_remember(actor, &enqueued[i]);
    return true;
}

static bool enqueue_some(struct actor *actor, struct error *err)
{
    struct job jobs[3];
    const size_t count = 1 + actor_pick(actor, COUNT_OF(jobs));

    for (size_t i = 0; i < count; i++)
        jobs[i] = make_any_job(actor);
    return enqueue(actor, jobs, count, err);
}

/* Plain ones, in a row: whoever reserves them may get one lease for all. */
static bool enqueue_crowd(struct actor *actor, struct error *err)
{
    const struct job first = make_job(actor);
    struct job jobs[CROWD];
    const size_t count = 1 + actor_pick(actor, COUNT_OF(jobs));

    for (size_t i = 0; i < count; i++) {
        jobs[i] = first;
        jobs[i].id = uuid_make(&actor->ids, NOW);
    }
    return enqueue(actor, jobs, count, err);
}

/* ---- pools ---- */

static struct lease_beat beat_for(struct actor *actor, const struct hold *hold)
{
    return (struct lease_beat){.job = hold->job,
                               .queue = actor->queues[hold->queue],
                               .token = hold->token,
                               .ref = actor_by_chance(actor, 4) ? 0 : hold->ref,
                               .progress_percent = (int)actor_pick(actor, 50) - 25};
}

static void check_answer(const struct actor *actor, const struct hold *hold,
                         const struct lease_answer *answer)
{
    if (answer->verdict == TH_OK) {
        actor_must(actor, !lease_has_expired(hold->expires_at, actor->now),
                   "a lease was extended after its end");
        actor_must(actor, answer->cancel_requested || !hold->is_cancelled,
                   "a wish to cancel is forgotten");
    } else if (actor_is_sure_of(hold)) {
        actor_must(actor, answer->verdict == TH_E_UNAVAILABLE && !actor->is_alone,
                   "a valid lease was not extended");
    }
}

/* For all that is held, or half of it, or a third. */
static bool beat(struct actor *actor, struct error *err)
{
    const unsigned one_in = 1 + actor_pick(actor, 3);
    struct lease_beat leases[HELD_MAX];
    struct lease_answer answers[HELD_MAX];
    struct hold *beaten[HELD_MAX];
    struct heartbeat heartbeat = {
        .pool = POOL, .leases = leases, .lease_for = SECONDS(1 + actor_pick(actor, 20))};
    struct pool_answer told;

    for (size_t i = 0; i < actor->held_count; i++) {
        if (!actor_by_chance(actor, one_in))
            continue;
        beaten[heartbeat.lease_count] = &actor->held[i];
        leases[heartbeat.lease_count++] = beat_for(actor, &actor->held[i]);
    }
    if (!store_heartbeat(actor->store, &heartbeat, 1, actor->now, answers, &told, err))
        return false;
    for (size_t i = 0; i < heartbeat.lease_count; i++) {
        check_answer(actor, beaten[i], &answers[i]);
        if (answers[i].verdict == TH_OK)
            beaten[i]->expires_at = actor->now + heartbeat.lease_for;
    }
    return true;
}

static bool is_listed(const struct job_list *jobs, const struct hold *hold)
{
    for (size_t i = 0; i < jobs->count; i++)
        if (lease_token_equal(&jobs->items[i].token, &hold->token))
            return memcmp(&jobs->items[i].id, &hold->job, sizeof hold->job) == 0;
    return false;
}

static bool is_held(const struct actor *actor, const struct job *job)
{
    for (size_t i = 0; i < actor->held_count; i++)
        if (lease_token_equal(&actor->held[i].token, &job->token))
            return memcmp(&actor->held[i].job, &job->id, sizeof job->id) == 0;
    return false;
}

/* The store knows every lease; and none that was settled, if nobody else has any. */
static bool ask_what_is_held(struct actor *actor, struct error *err)
{
    CLEANUP(job_list_done) struct job_list jobs = {0};

    if (!store_held(actor->store, POOL, &jobs, err))
        return false;
    for (size_t i = 0; i < actor->held_count; i++)
        actor_must(actor, !actor_is_sure_of(&actor->held[i]) || is_listed(&jobs, &actor->held[i]),
                   "a lease is lost");
    for (size_t i = 0; i < jobs.count && actor->is_alone && actor->out == 0; i++)
        actor_must(actor,
                   jobs.items[i].expires_at <= actor_latest() || is_held(actor, &jobs.items[i]),
                   "a lease is left of what was settled");
    return true;
}

static bool keep_up(struct actor *actor, struct error *err)
{
    enum job_state state = actor_by_chance(actor, 2) ? JOB_SCHEDULED : JOB_RETRY;
    size_t limit = 1 + actor_pick(actor, 5);
    size_t moved;
    usec_t next;

    if (actor_by_chance(actor, 2))
        return store_reclaim(actor->store, actor->now, limit, &moved, err);
    return store_promote(actor->store, state, actor->now, limit, &moved, &next, err);
}

/* Of whatever is aside, some come back or are given up. */
static bool look_aside(struct actor *actor, struct error *err)
{
    const char *const queues[QUEUES] = {actor->queues[0], actor->queues[1]};
    CLEANUP(aside_list_done) struct aside_list types = {0};
    size_t count;

    if (!store_aside(actor->store, queues, actor_by_chance(actor, 2) ? QUEUES : 0, &types, err))
        return false;
    if (types.count == 0)
        return true;
    const struct aside_type *type = &types.items[actor_pick(actor, (unsigned)types.count)];
    const usec_t before = actor->now - SECONDS(actor_pick(actor, 20));
    if (actor_by_chance(actor, 3))
        return store_give_up(actor->store, type, before, actor->now, 1 + actor_pick(actor, 3),
                             &count, err);
    return store_bring_back(actor->store, type, actor_by_chance(actor, 3) ? before : 0,
                            1 + actor_pick(actor, 5), &count, err);
}

/* Whoever reports its jobs is asked afterwards whether they are there. */
static bool prune(struct actor *actor, struct error *err)
{
    const struct retention keep = {.done = SECONDS(1 + actor_pick(actor, 60)),
                                   .done_max = actor_pick(actor, 20),
                                   .dead = SECONDS(1 + actor_pick(actor, 60))};
    size_t removed;

    return actor->report_fd >= 0 ||
           store_prune(actor->store, &keep, actor->now, 1 + actor_pick(actor, 20), &removed, err);
}

/* ---- people ---- */

static void note_cancelled(struct actor *actor, const struct uuid *id)
{
    for (size_t i = 0; i < actor->held_count; i++)
        if (memcmp(&actor->held[i].job, id, sizeof *id) == 0)
            actor->held[i].is_cancelled = true;
}

static bool cancel(struct actor *actor, struct error *err)
{
    struct uuid ids[] = {actor_pick_job(actor), actor_pick_job(actor)};
    enum th_error_code verdicts[COUNT_OF(ids)];

    if (!store_cancel(actor->store, ids, COUNT_OF(ids), actor->now, verdicts, err))
        return false;
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        if (verdicts[i] == TH_OK)
            note_cancelled(actor, &ids[i]);
    return true;
}

static bool requeue(struct actor *actor, struct error *err)
{
    struct uuid ids[] = {actor_pick_job(actor), actor_pick_job(actor)};
    enum th_error_code verdicts[COUNT_OF(ids)];

    return store_requeue(actor->store, ids, COUNT_OF(ids), pick_run_at(actor, 2, 30), actor->now,
                         verdicts, err);
}

static bool run_now(struct actor *actor, struct error *err)
{
    struct uuid ids[] = {actor_pick_job(actor), actor_pick_job(actor)};
    enum th_error_code verdicts[COUNT_OF(ids)];

    return store_run_now(actor->store, ids, COUNT_OF(ids), actor->now, verdicts, err);
}

static bool remove_some(struct actor *actor, struct error *err)
{
    struct uuid ids[] = {actor_pick_job(actor), actor_pick_job(actor)};
    enum th_error_code verdicts[COUNT_OF(ids)];

    return actor->report_fd >= 0 || store_remove(actor->store, ids, COUNT_OF(ids), verdicts, err);
}

/* ---- any of them ---- */

typedef bool move(struct actor *actor, struct error *err);

static move *const others[] = {
    enqueue_some, enqueue_some, enqueue_crowd, beat,        ask_what_is_held, keep_up,
    look_aside,   prune,        cancel,        remove_some, requeue,          run_now,
};

#define ONE_TRADE_IN 5

bool moves_make_other(struct actor *actor, struct error *err)
{
    return others[actor_pick(actor, COUNT_OF(others))](actor, err);
}

static bool make_one(struct actor *actor, struct error *err)
{
    return actor_by_chance(actor, ONE_TRADE_IN) ? trade_some(actor, err)
                                                : moves_make_other(actor, err);
}

/* Clocks of several pools differ a little, and go back too. */
void moves_make(struct actor *actor, size_t count)
{
    struct error err = {0};

    for (size_t i = 0; i < count; i++) {
        actor->now += SECONDS(actor_pick(actor, 4)) - SECONDS(1);
        actor_note_time(actor->now);
        if (make_one(actor, &err))
            continue;
        if (!actor->is_alone && (err.code == TH_E_UNAVAILABLE || err.code == TH_E_UNCERTAIN))
            _exit(EXIT_SUCCESS);
        child_must(false, &err);
    }
}

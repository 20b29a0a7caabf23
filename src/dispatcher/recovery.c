/*
 * recovery.c - finds out what this pool holds.
 *
 * The store knows which jobs are leased to this pool, the lease table knows which of them were
 * handed out, rings and sockets have the results that nobody has settled.
 *
 *   in the store   in the table          then
 *   yes            handed                it waits for a worker, as before
 *   yes            started, finished     its result comes, or the end of its worker does
 *   yes            revoked               it was to be given back: now it is
 *   yes            no                    reserved, and not handed out: now it is
 *   no             handed, revoked       settled before: its entry is freed
 *   no             started, finished     its lease is lost: the run is stopped, its result dropped
 */
#include "dispatcher/recovery.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "dispatcher/conclude.h"
#include "dispatcher/exchange.h"
#include "dispatcher/state.h"
#include "process/process.h"
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_INTERVAL (5 * USEC_PER_SEC)

/* Jobs in the order of their leases. There may be thousands on either side. */
struct lineup {
    struct standing {
        const struct job *job;
    } * items; /* owned */
    size_t count;
};

static void lineup_done(struct lineup *lineup)
{
    free(lineup->items);
}

static int compare(const struct job *job, const struct uuid *id, const struct lease_token *token)
{
    const int by_id = uuid_compare(&job->id, id);

    return by_id != 0 ? by_id : memcmp(job->token.bytes, token->bytes, sizeof token->bytes);
}

static int compare_jobs(const void *a, const void *b)
{
    const struct standing *first = a, *second = b;

    return compare(first->job, &second->job->id, &second->job->token);
}

static bool lineup_init(struct lineup *lineup, size_t most, struct error *err)
{
    lineup->items = calloc(most + 1, sizeof *lineup->items);
    return lineup->items || error_no_memory(err);
}

static void lineup_add(struct lineup *lineup, const struct job *job)
{
    lineup->items[lineup->count++].job = job;
}

static void lineup_sort(struct lineup *lineup)
{
    qsort(lineup->items, lineup->count, sizeof *lineup->items, compare_jobs);
}

static const struct job *lineup_find(const struct lineup *lineup, const struct uuid *id,
                                     const struct lease_token *token)
{
    size_t from = 0, to = lineup->count;

    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        const int order = compare(lineup->items[middle].job, id, token);

        if (order == 0)
            return lineup->items[middle].job;
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}

static bool line_up_leased(const struct job_list *leased, struct lineup *lineup, struct error *err)
{
    if (!lineup_init(lineup, leased->count, err))
        return false;
    for (size_t i = 0; i < leased->count; i++)
        lineup_add(lineup, &leased->items[i]);
    lineup_sort(lineup);
    return true;
}

/* What we hold, or have yet to settle. */
static bool line_up_known(const struct dispatcher *dispatcher, struct lineup *lineup,
                          struct error *err)
{
    const struct outbox *outbox = &dispatcher->outbox;
    struct held_job *held;

    if (!lineup_init(lineup, dispatcher->held_jobs.count + outbox->count, err))
        return false;
    for (size_t i = 0; (held = held_jobs_next(&dispatcher->held_jobs, &i));)
        if (held->state != HELD_STRAY)
            lineup_add(lineup, &held->job);
    for (size_t i = 0; i < outbox->count; i++)
        lineup_add(lineup, &outbox->jobs[i]->job);
    lineup_sort(lineup);
    return true;
}

static bool adopt_ours(struct dispatcher *dispatcher, const struct hold_view *view,
                       const struct job *job, struct error *err)
{
    struct held_job *held = held_job_new(&dispatcher->held_jobs, dispatcher->config, job);

    if (!held)
        return error_no_memory(err);
    held_job_move(held, HELD_SENT); /* if it was not, it is given back like one that was lost */
    held->handed_at = dispatcher->now.boot;
    held_jobs_put(&dispatcher->held_jobs, held, view->hold);
    if (held->handler && held->handler->on_dead.type && !held_job_keep_payload(held, job->payload))
        return error_no_memory(err);
    return view->state != HOLD_REVOKED || conclude_release(dispatcher, held, err);
}

static bool adopt_stray(struct dispatcher *dispatcher, const struct hold_view *view,
                        struct error *err)
{
    struct held_job *held = held_job_new_stray(&dispatcher->held_jobs, &view->lease);

    if (!held)
        return error_no_memory(err);
    held_jobs_put(&dispatcher->held_jobs, held, view->hold);
    held->stop = STOP_LOST_LEASE;
    dispatcher_add(dispatcher, CHORE_TELL_HALTS);
    return true;
}

static bool adopt(struct dispatcher *dispatcher, const struct hold_view *view,
                  const struct lineup *leased, struct error *err)
{
    struct lease_table *leases = dispatcher->process->leases;
    const struct job *job = lineup_find(leased, &view->lease.job, &view->lease.token);

    if (job)
        return adopt_ours(dispatcher, view, job, err);
    if (view->state == HOLD_REVOKED || lease_table_revoke(leases, view->hold)) {
        lease_table_free(leases, view->hold);
        return true;
    }
    return adopt_stray(dispatcher, view, err);
}

static bool adopt_table(struct dispatcher *dispatcher, const struct job_list *leased,
                        struct error *err)
{
    CLEANUP(lineup_done) struct lineup lineup = {0};
    struct hold_view view;

    if (!line_up_leased(leased, &lineup, err))
        return false;
    for (size_t i = 0; lease_table_next(dispatcher->process->leases, &i, &view);) {
        if (!held_jobs_find(&dispatcher->held_jobs, view.hold) &&
            !adopt(dispatcher, &view, &lineup, err))
            return false;
    }
    return true;
}

/* Leased to us, and nobody knows: the answer was lost, or the dispatcher that had it. */
static bool take_in(struct dispatcher *dispatcher, const struct job *job, struct error *err)
{
    const usec_t lease = dispatcher->config->pool.lease;
    const usec_t left = store_lease_left(dispatcher->store, job->expires_at);

    return exchange_take_in_job(dispatcher, job, lease_stop_at(clock_boot() + left, lease), err);
}

static bool take_in_unknown(struct dispatcher *dispatcher, const struct job_list *leased,
                            size_t *found_out, struct error *err)
{
    CLEANUP(lineup_done) struct lineup known = {0};

    *found_out = 0;
    if (!line_up_known(dispatcher, &known, err))
        return false;
    for (size_t i = 0; i < leased->count; i++) {
        const struct job *job = &leased->items[i];

        if (lineup_find(&known, &job->id, &job->token))
            continue;
        ++*found_out;
        if (!take_in(dispatcher, job, err))
            return false;
    }
    return true;
}

static bool look(struct dispatcher *dispatcher, bool is_again, struct error *err)
{
    CLEANUP(job_list_done) struct job_list leased = {0};
    size_t found;

    if (!store_held(dispatcher->store, dispatcher->process->pool, &leased, err))
        return error_prefix(err, "ask what this pool holds");
    dispatcher_read_clocks(dispatcher);
    if (!adopt_table(dispatcher, &leased, err) ||
        !take_in_unknown(dispatcher, &leased, &found, err))
        return false;
    if (leased.count > 0 && (found > 0 || !is_again))
        log_info("jobs_recovered", "held=%zu unknown=%zu", leased.count, found);
    return true;
}

bool recovery_run(struct dispatcher *dispatcher, struct error *err)
{
    const bool may_wait = dispatcher_holds_nothing(dispatcher);
    const bool saw_all = look(dispatcher, false, err);

    if (!saw_all && !(may_wait && outage_may_pass(err)))
        return false;
    if (saw_all)
        dispatcher->recover_at = clock_boot() + LOOK_INTERVAL;
    dispatcher_add(dispatcher, CHORE_RECOVER);
    return true;
}

bool recovery_is_due(const struct dispatcher *dispatcher)
{
    return (dispatcher->chores & CHORE_RECOVER) && !queues_miss_any(&dispatcher->queues) &&
           clock_boot() >= dispatcher->recover_at;
}

bool recovery_repeat(struct dispatcher *dispatcher, struct error *err)
{
    if (!recovery_is_due(dispatcher))
        return true;
    dispatcher_take(dispatcher, CHORE_RECOVER);
    dispatcher->recover_at = clock_boot() + LOOK_INTERVAL;
    if (look(dispatcher, true, err))
        return true;
    dispatcher_add(dispatcher, CHORE_RECOVER);
    return outage_may_pass(err);
}

/*
 * results.c - what comes back from the workers.
 *
 * Results are looked at here, and taken off their rings and sockets when they are settled. So a
 * dispatcher that dies in between leaves them to the next one.
 */
#include "dispatcher/results.h"

#include "base/error.h"
#include "base/log.h"
#include "dispatcher/conclude.h"
#include "dispatcher/crash_outcome.h"
#include "dispatcher/damage.h"
#include "dispatcher/last_words.h"
#include "dispatcher/state.h"
#include "process/message.h"
#include "process/process.h"
#include "process/result_ring.h"

#include <sys/wait.h>

static bool is_lost(const struct dispatcher *dispatcher, const struct held_job *held)
{
    return held->state == HELD_STRAY ||
           (lease_table_flags(dispatcher->process->leases, held->hold) & LEASE_LOST);
}

/* A worker runs other people's code, which may write what looks like a result of somebody else. */
static bool has(const struct dispatcher *dispatcher, const struct worker_link *link,
                const struct held_job *held)
{
    uint32_t serial;

    switch (lease_table_state(dispatcher->process->leases, held->hold, &serial)) {
    case HOLD_STARTED:
    case HOLD_FINISHED:
        return serial == link->serial;
    case HOLD_UNKNOWN: /* somebody else has overwritten its word */
        return true;
    case HOLD_FREE:
    case HOLD_HANDED:
    case HOLD_REVOKED:
        break;
    }
    return false;
}

/* It is no result. The audit finds the job that it should have been about. */
static bool bear_garbage(struct worker_link *link, const struct error *err)
{
    if (err->code == TH_E_NO_MEMORY)
        return false;
    if (!link->has_lied)
        log_error("process_failed", "name=worker number=%d error=%s", link->number, err->text);
    link->has_lied = true;
    return true;
}

/* A job may be unknown when its end was settled just before a dispatcher died. */
static bool take_in(struct dispatcher *dispatcher, struct worker_link *link, struct result *result,
                    struct error *err)
{
    struct held_job *held = held_jobs_find(&dispatcher->held_jobs, result->hold);

    if (!held || held_job_is_concluded(held))
        return true;
    if (!has(dispatcher, link, held)) {
        error_set(err, TH_E_INTERNAL, "it gave the result of a job that it does not have");
        return bear_garbage(link, err);
    }
    link->missed = 0;
    if (is_lost(dispatcher, held)) {
        conclude_silently(dispatcher, held);
        return true;
    }
    return conclude_result(dispatcher, held, result, err);
}

static bool read_one(struct dispatcher *dispatcher, struct worker_link *link,
                     enum delivery delivery, struct result *result, struct error *err)
{
    if (delivery == DELIVERY_FAILED)
        return bear_garbage(link, err);
    return delivery != DELIVERY_DONE || take_in(dispatcher, link, result, err);
}

static bool read_socket(struct dispatcher *dispatcher, struct worker_link *link, struct error *err)
{
    struct result result;

    while (link->has_news) {
        const enum delivery delivery =
            result_look(link->socket, &dispatcher->outbox.arena, &result, err);

        link->has_news = delivery == DELIVERY_DONE || delivery == DELIVERY_FAILED;
        link->looked += link->has_news;
        if (!read_one(dispatcher, link, delivery, &result, err))
            return false;
    }
    return true;
}

static bool read_ring(struct dispatcher *dispatcher, struct worker_link *link, struct error *err)
{
    struct result_rings *rings = dispatcher->process->result_rings;
    struct result result;
    enum delivery delivery;

    do {
        delivery =
            result_ring_look(rings, link->result_ring, &dispatcher->outbox.arena, &result, err);
        if (!read_one(dispatcher, link, delivery, &result, err))
            return false;
    } while (delivery != DELIVERY_NONE);
    return true;
}

/* A crash that we saw is a failed attempt; one that we asked for is not. */
static bool conclude_crashed(struct dispatcher *dispatcher, const struct worker_link *link,
                             struct held_job *held, struct error *err)
{
    const struct crash_facts facts = {
        .config = dispatcher->config,
        .worker = link->number,
        .end = &link->end,
        .hold = held->hold,
        .timeout = held->limits.timeout,
    };
    struct crash_outcome crash;

    if (is_lost(dispatcher, held) || held->stop == STOP_LOST_LEASE) {
        conclude_silently(dispatcher, held);
        return true;
    }
    crash_outcome_find(&facts, &crash);
    const bool released =
        dispatcher->state == DISPATCHER_STOPPING || crash.kind == OUTCOME_RELEASED;
    const bool cancelled = !released && held->stop == STOP_CANCEL;
    const struct outcome outcome = {
        .output = last_words_read(link, held, &dispatcher->outbox.arena),
        .kind = released    ? OUTCOME_RELEASED
                : cancelled ? OUTCOME_CANCELLED
                            : crash.kind,
        .error = arena_text(&dispatcher->outbox.arena, crash.error),
        .run = {.worker = link->number,
                .started_at = held->job.started_at,
                .wall = dispatcher->now.store - held->job.started_at,
                .exit_code = crash.exit_code,
                .signal = crash.signal},
    };
    return conclude_job(dispatcher, held, &outcome, err);
}

/* One that was asked to end, or had nothing to do, is to blame for nothing. */
static bool has_crashed(const struct worker_link *link)
{
    return !WIFEXITED(link->end.status) || WEXITSTATUS(link->end.status) != PROCESS_OK;
}

static bool conclude_worker(struct dispatcher *dispatcher, struct worker_link *link,
                            struct error *err)
{
    struct held_job *held;
    bool is_first = !link->is_concluded;
    uint32_t serial;

    link->is_concluded = true;
    if (is_first)
        last_words_log(link, &dispatcher->held_jobs);
    for (size_t i = 0; (held = held_jobs_next(&dispatcher->held_jobs, &i));) {
        if (held_job_is_concluded(held))
            continue;
        lease_table_state(dispatcher->process->leases, held->hold, &serial);
        if (serial != link->serial)
            continue;
        is_first = false;
        if (!conclude_crashed(dispatcher, link, held, err))
            return false;
    }
    held = is_first && has_crashed(link) ? damage_find_culprit(dispatcher, link) : NULL;
    return !held || conclude_crashed(dispatcher, link, held, err);
}

/* All results come before what the end of a worker means for its jobs. */
bool results_collect(struct dispatcher *dispatcher, struct error *err)
{
    for (struct worker_link *link = dispatcher->workers.first; link; link = link->next) {
        if (!read_ring(dispatcher, link, err) || !read_socket(dispatcher, link, err))
            return false;
    }
    for (struct worker_link *link = dispatcher->workers.first; link; link = link->next) {
        if (link->has_ended && !conclude_worker(dispatcher, link, err))
            return false;
    }
    return true;
}

/* A worker says "finished" after it has given away the result: what was finished before its ring
 * and its socket were read empty, and has no result, never gets one. */
static void begin_audit(struct dispatcher *dispatcher)
{
    const struct lease_table *leases = dispatcher->process->leases;
    struct held_job *held;
    uint32_t serial;

    for (size_t i = 0; (held = held_jobs_next(&dispatcher->held_jobs, &i));)
        held->is_finished =
            lease_table_state(leases, held->hold, &serial) == HOLD_FINISHED &&
            workers_find(&dispatcher->workers, serial); /* else its socket is yet to come */
    for (struct worker_link *link = dispatcher->workers.first; link; link = link->next)
        link->has_news = true;
}

static bool end_audit(struct dispatcher *dispatcher, struct error *err)
{
    const struct outcome outcome = {
        .kind = OUTCOME_FAILED,
        .error = "its result was lost",
        .run = {.exit_code = JOB_NO_EXIT_CODE},
    };
    struct held_job *held;

    for (size_t i = 0; (held = held_jobs_next(&dispatcher->held_jobs, &i));) {
        if (!held->is_finished || held_job_is_concluded(held))
            continue;
        if (held->state == HELD_STRAY)
            conclude_silently(dispatcher, held);
        else if (!conclude_job(dispatcher, held, &outcome, err))
            return false;
    }
    return true;
}

bool results_audit(struct dispatcher *dispatcher, struct error *err)
{
    begin_audit(dispatcher);
    return results_collect(dispatcher, err) && end_audit(dispatcher, err) &&
           damage_check(dispatcher, err);
}

/* Results of jobs that could not be settled yet are needed by the dispatcher after this one. They
 * give way before a worker would have to wait with others: then only a dispatcher that dies now
 * loses them. */
static void hold_workers(struct dispatcher *dispatcher)
{
    const struct outbox *outbox = &dispatcher->outbox;
    uint32_t serial;

    for (struct worker_link *link = dispatcher->workers.first; link; link = link->next)
        link->is_held = false;
    for (size_t i = 0; i < outbox->kept; i++) {
        if (!held_job_has_hold(outbox->jobs[i]))
            continue;
        lease_table_state(dispatcher->process->leases, outbox->jobs[i]->hold, &serial);
        struct worker_link *link = workers_find(&dispatcher->workers, serial);

        if (link && workers_have_room(&dispatcher->workers, link))
            link->is_held = true;
    }
}

bool results_forget(struct dispatcher *dispatcher, struct error *err)
{
    hold_workers(dispatcher);
    if (!workers_take_looked(&dispatcher->workers, err))
        return false;
    for (struct worker_link *link = dispatcher->workers.first, *next; link; link = next) {
        const struct report report = {.kind = REPORT_WORKER_SETTLED, .serial = link->serial};

        next = link->next;
        if (!link->has_ended || link->is_held)
            continue;
        workers_remove(&dispatcher->workers, link);
        if (!process_report(dispatcher->process, &report, err))
            return false;
    }
    return true;
}

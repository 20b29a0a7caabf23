/*
 * conclude.c - how a held job ends.
 *
 *     result, crash, drain --outcome--> settlement_decide() --settlement--> outbox
 *
 * What is decided about a job is decided in job/settlement.c; here is what this pool knows besides:
 * handlers that cannot be started, and the job that a death brings.
 */
#include "dispatcher/conclude.h"

#include "base/error.h"
#include "base/log.h"
#include "base/random.h"
#include "config/config.h"
#include "dispatcher/aside.h"
#include "dispatcher/room.h"
#include "dispatcher/starts.h"
#include "dispatcher/state.h"
#include "job/aside.h"
#include "job/on_dead.h"
#include "process/process.h"

#include <stdio.h>

#define PROBE_RUNS (2 * USEC_PER_SEC) /* what has run for so long could be started */

static struct start *start_of(const struct dispatcher *dispatcher, const struct held_job *held)
{
    return &dispatcher->starts[held->handler - dispatcher->config->handlers];
}

static struct settlement_rules rules_of(const struct dispatcher *dispatcher,
                                        const struct held_job *held)
{
    const struct config *config = dispatcher->config;

    return (struct settlement_rules){
        .limits = held->limits,
        .retry = held->handler ? held->handler->retry : config->defaults.retry,
        .forget_done = config->retention.done == 0 || config->retention.done_max == 0,
    };
}

/* A job whose on_dead job cannot be made is dead all the same: only a lack of memory ends the
 * dispatcher. */
static bool add_on_dead(struct dispatcher *dispatcher, const struct held_job *held, usec_t now,
                        struct settlement *settlement, struct error *err)
{
    char id[UUID_TEXT_SIZE];

    if (settlement->kind != SETTLE_FAIL || !held->handler || !held->handler->on_dead.type)
        return true;
    if (on_dead_make(&held->handler->on_dead, &held->job, settlement->error,
                     (size_t)dispatcher->config->max_payload, &dispatcher->ids, now,
                     &dispatcher->outbox.arena, &settlement->on_dead, err))
        return true;
    log_error("job_dead", "job=%s type=%s error=%s", uuid_format(&held->job.id, id), held->job.type,
              err->text);
    return err->code != TH_E_NO_MEMORY;
}

static bool post(struct dispatcher *dispatcher, struct held_job *held,
                 struct settlement *settlement, usec_t now, struct error *err)
{
    settlement->run.pool = dispatcher->process->pool;
    return add_on_dead(dispatcher, held, now, settlement, err) &&
           outbox_add(&dispatcher->outbox, held, settlement, err);
}

/* A probe that ended without showing whether the handler starts: another job may try. */
static void forget_probe(struct dispatcher *dispatcher, struct held_job *held)
{
    if (held->is_probe)
        starts_forget_probe(start_of(dispatcher, held));
    held->is_probe = false;
}

bool conclude_job(struct dispatcher *dispatcher, struct held_job *held,
                  const struct outcome *outcome, struct error *err)
{
    const usec_t now = dispatcher->now.store;
    const struct settlement_rules rules = rules_of(dispatcher, held);

    forget_probe(dispatcher, held);
    struct settlement settlement = settlement_decide(&held->job, outcome, &rules, now,
                                                     rules.retry.jitter > 0 ? random_unit() : 0);

    return post(dispatcher, held, &settlement, now, err);
}

bool conclude_release(struct dispatcher *dispatcher, struct held_job *held, struct error *err)
{
    const struct outcome released = {.kind = OUTCOME_RELEASED,
                                     .run = {.exit_code = JOB_NO_EXIT_CODE}};

    return conclude_job(dispatcher, held, &released, err);
}

/* The first failure is an error; the others tell nothing new. */
static void say_start_failed(const struct dispatcher *dispatcher, const struct held_job *held,
                             const char *error, bool is_first)
{
    const struct start *start = start_of(dispatcher, held);
    char id[UUID_TEXT_SIZE];

    log_at(is_first ? LEVEL_ERROR : LEVEL_DEBUG, "start_failed",
           "handler=%s job=%s type=%s error=%s retry_ms=%" PRId64 " hint=%s",
           held->handler->pattern, uuid_format(&held->job.id, id), held->job.type, error,
           start->delay / USEC_PER_MSEC,
           "its jobs are set aside, nothing is counted against them; tried again by one job at a "
           "time");
}

/* What could not be started is set aside with its error, for people; the run is kept. */
static void set_aside(struct dispatcher *dispatcher, struct held_job *held, struct outcome *outcome)
{
    const usec_t now = dispatcher->now.store;
    struct start *start = start_of(dispatcher, held);
    const bool is_first = starts_note_failure(start, held->is_probe, outcome->error, now);

    say_start_failed(dispatcher, held, outcome->error, is_first);
    aside_show_start(dispatcher, (size_t)(held->handler - dispatcher->config->handlers));
    aside_look_in(dispatcher, start->probe_at > now ? start->probe_at - now : 0);
    outcome->kind = OUTCOME_ASIDE;
    outcome->aside = ASIDE_CANNOT_START;
    outcome->failing_since = start->failing_since;
    outcome->run.started_at = now;
}

static void note_start(struct dispatcher *dispatcher, struct held_job *held)
{
    if (!starts_note_success(start_of(dispatcher, held)))
        return;
    aside_look_in(dispatcher, 0);
    aside_show_start(dispatcher, (size_t)(held->handler - dispatcher->config->handlers));
    log_info("start_works", "handler=%s type=%s", held->handler->pattern, held->job.type);
}

bool conclude_probes(struct dispatcher *dispatcher)
{
    const usec_t now = dispatcher->now.boot;
    struct held_job *held;
    bool any = false;

    for (size_t i = 0; (held = held_jobs_next(&dispatcher->held_jobs, &i));) {
        if (!held->is_probe || held_job_is_concluded(held))
            continue;
        any = true;
        if (now - held->handed_at < PROBE_RUNS ||
            lease_table_state(dispatcher->process->leases, held->hold, NULL) != HOLD_STARTED)
            continue;
        note_start(dispatcher, held);
        held->is_probe = false;
    }
    return any;
}

static void note_attempt(struct dispatcher *dispatcher, struct held_job *held,
                         struct result *result)
{
    if (result->could_not_start)
        set_aside(dispatcher, held, &result->outcome);
    else
        note_start(dispatcher, held);
    held->is_probe = false;
}

bool conclude_result(struct dispatcher *dispatcher, struct held_job *held, struct result *result,
                     struct error *err)
{
    if (held->handler) /* else a worker ran it that had an older config */
        note_attempt(dispatcher, held, result);
    if (result->outcome.kind == OUTCOME_DONE && result->outcome.run.wall < ROOM_QUICK_JOB)
        dispatcher->quick++;
    return conclude_job(dispatcher, held, &result->outcome, err);
}

static bool conclude_unhandled(struct dispatcher *dispatcher, struct held_job *held,
                               struct error *err)
{
    char text[JOB_NAME_MAX + 32];
    struct outcome outcome = {.kind = OUTCOME_UNHANDLED, .run = {.exit_code = JOB_NO_EXIT_CODE}};

    snprintf(text, sizeof text, "no handler for type '%s'", held->job.type);
    outcome.error = arena_text(&dispatcher->outbox.arena, text);
    return conclude_job(dispatcher, held, &outcome, err);
}

/* Not started, so there is no run to tell of. */
static bool conclude_aside(struct dispatcher *dispatcher, struct held_job *held, enum job_aside why,
                           struct error *err)
{
    const struct start *start = held->handler ? start_of(dispatcher, held) : NULL;
    const struct outcome outcome = {
        .kind = OUTCOME_ASIDE,
        .aside = why,
        .failing_since = start ? start->failing_since : 0,
        .error = start ? arena_text(&dispatcher->outbox.arena, start->error) : NULL,
        .run = {.exit_code = JOB_NO_EXIT_CODE},
    };

    if (why == ASIDE_NO_HANDLER)
        aside_tell(dispatcher, held->job.type, held->job.queue);
    return conclude_job(dispatcher, held, &outcome, err);
}

static bool conclude_unstartable(struct dispatcher *dispatcher, struct held_job *held,
                                 struct error *err)
{
    char text[STARTS_ERROR_SIZE + 64];
    struct outcome outcome = {.kind = OUTCOME_UNSTARTABLE, .run = {.exit_code = JOB_NO_EXIT_CODE}};

    snprintf(text, sizeof text, "%s: %s", aside_epitaph(ASIDE_CANNOT_START),
             start_of(dispatcher, held)->error);
    outcome.error = arena_text(&dispatcher->outbox.arena, text);
    return conclude_job(dispatcher, held, &outcome, err);
}

static bool conclude_by_advice(struct dispatcher *dispatcher, struct held_job *held,
                               bool *concluded_out, struct error *err)
{
    const usec_t now = dispatcher->now.store;

    *concluded_out = true;
    switch (starts_ask(start_of(dispatcher, held), held->job.due, now)) {
    case START_GO:
        *concluded_out = false;
        return true;
    case START_PROBE:
        *concluded_out = false;
        held->is_probe = true;
        return true;
    case START_WAIT:
        return conclude_aside(dispatcher, held, ASIDE_CANNOT_START, err);
    case START_GIVE_UP:
        return conclude_unstartable(dispatcher, held, err);
    }
    return error_set(err, TH_E_INTERNAL, "an advice of no known kind");
}

bool conclude_early(struct dispatcher *dispatcher, struct held_job *held, struct bytes payload,
                    bool *concluded_out, struct error *err)
{
    const usec_t now = dispatcher->now.store;
    struct settlement settlement;

    if (held->handler && held->handler->on_dead.type && !held_job_keep_payload(held, payload))
        return error_no_memory(err);
    *concluded_out = true;
    if (settlement_instead_of_run(&held->job, &held->limits, &settlement))
        return post(dispatcher, held, &settlement, now, err);
    if (!held->handler && dispatcher->config->pool.unknown_types == UNKNOWN_LEAVE)
        return conclude_aside(dispatcher, held, ASIDE_NO_HANDLER, err);
    if (!held->handler)
        return conclude_unhandled(dispatcher, held, err);
    return conclude_by_advice(dispatcher, held, concluded_out, err);
}

void conclude_silently(struct dispatcher *dispatcher, struct held_job *held)
{
    forget_probe(dispatcher, held);
    if (held_job_has_hold(held)) {
        lease_table_free(dispatcher->process->leases, held->hold);
        held_jobs_remove(&dispatcher->held_jobs, held);
    }
    held_jobs_give_back(&dispatcher->held_jobs, held);
}

/*
 * results.c - what comes back from the workers.
 *
 * Results are looked at here, and taken off their trays and sockets when they are settled. So a
 * dispatcher that dies in between leaves them to the next one.
 */
#include "dispatcher/results.h"

#include "base/error.h"
#include "base/log.h"
#include "dispatcher/conclude.h"
#include "dispatcher/damage.h"
#include "dispatcher/last_words.h"
#include "dispatcher/obituary.h"
#include "dispatcher/state.h"
#include "process/message.h"
#include "process/process.h"
#include "process/tray.h"
#include "store/store.h"

#include <sys/wait.h>

static bool is_lost(const struct dispatcher *dispatcher, const struct flight *flight)
{
    return flight->is_stray ||
           (lease_table_flags(dispatcher->process->leases, flight->hold) & LEASE_LOST);
}

/* A worker runs other people's code, which may write what looks like a result of somebody else. */
static bool has(const struct dispatcher *dispatcher, const struct worker_link *link,
                const struct flight *flight)
{
    uint32_t serial;

    switch (lease_table_state(dispatcher->process->leases, flight->hold, &serial)) {
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

/* What should have been a result, and is none. What it should tell of is found by the audit. */
static bool bear_garbage(struct worker_link *link, const struct error *err)
{
    if (err->code == TH_E_NO_MEMORY)
        return false;
    if (!link->has_lied)
        log_error("process_failed", "name=worker number=%d error=%s", link->number, err->text);
    link->has_lied = true;
    return true;
}

/* A flight may be unknown when its end was settled just before a dispatcher died. */
static bool take_in(struct dispatcher *dispatcher, struct worker_link *link, struct result *result,
                    struct error *err)
{
    struct flight *flight = flights_find(&dispatcher->flights, result->hold);

    if (!flight || flight->is_concluded)
        return true;
    if (!has(dispatcher, link, flight)) {
        error_set(err, TH_E_INTERNAL, "it gave the result of a job that it does not have");
        return bear_garbage(link, err);
    }
    link->missed = 0;
    if (is_lost(dispatcher, flight)) {
        conclude_silently(dispatcher, flight);
        return true;
    }
    return conclude_result(dispatcher, flight, result, err);
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

static bool read_tray(struct dispatcher *dispatcher, struct worker_link *link, struct error *err)
{
    struct trays *trays = dispatcher->process->trays;
    struct result result;
    enum delivery delivery;

    do {
        delivery = tray_look(trays, link->tray, &dispatcher->outbox.arena, &result, err);
        if (!read_one(dispatcher, link, delivery, &result, err))
            return false;
    } while (delivery != DELIVERY_NONE);
    return true;
}

/* A crash that we saw is a failed attempt; one that we asked for is not. */
static bool bury_flight(struct dispatcher *dispatcher, const struct worker_link *link,
                        struct flight *flight, struct error *err)
{
    const struct obituary_facts facts = {
        .config = dispatcher->config,
        .worker = link->number,
        .end = &link->end,
        .hold = flight->hold,
        .timeout = flight->limits.timeout,
    };
    struct obituary obituary;

    if (is_lost(dispatcher, flight) || (flight->wants_halt && flight->halt == HALT_LOST_LEASE)) {
        conclude_silently(dispatcher, flight);
        return true;
    }
    obituary_write(&facts, &obituary);
    const bool released = dispatcher->is_stopping || obituary.kind == OUTCOME_RELEASED;
    const bool cancelled = !released && flight->wants_halt && flight->halt == HALT_CANCEL;
    const struct outcome outcome = {
        .output = last_words_read(link, flight, &dispatcher->outbox.arena),
        .kind = released    ? OUTCOME_RELEASED
                : cancelled ? OUTCOME_CANCELLED
                            : obituary.kind,
        .error = arena_text(&dispatcher->outbox.arena, obituary.error),
        .run = {.worker = link->number,
                .started_at = flight->job.started_at,
                .wall = store_now(dispatcher->store) - flight->job.started_at,
                .exit_code = obituary.exit_code,
                .signal = obituary.signal},
    };
    return conclude_flight(dispatcher, flight, &outcome, err);
}

/* One that was asked to end, or had nothing to do, is to blame for nothing. */
static bool has_crashed(const struct worker_link *link)
{
    return !WIFEXITED(link->end.status) || WEXITSTATUS(link->end.status) != PROCESS_OK;
}

static bool bury_worker(struct dispatcher *dispatcher, struct worker_link *link, struct error *err)
{
    struct flight *flight;
    bool is_first = !link->is_buried;
    uint32_t serial;

    link->is_buried = true;
    if (is_first)
        last_words_log(link, &dispatcher->flights);
    for (size_t i = 0; (flight = flights_next(&dispatcher->flights, &i));) {
        if (flight->is_concluded)
            continue;
        lease_table_state(dispatcher->process->leases, flight->hold, &serial);
        if (serial != link->serial)
            continue;
        is_first = false;
        if (!bury_flight(dispatcher, link, flight, err))
            return false;
    }
    flight = is_first && has_crashed(link) ? damage_find_culprit(dispatcher, link) : NULL;
    return !flight || bury_flight(dispatcher, link, flight, err);
}

/* What all of them have left behind comes before what the end of one means. */
bool results_collect(struct dispatcher *dispatcher, struct error *err)
{
    for (struct worker_link *link = dispatcher->workers.first; link; link = link->next) {
        if (!read_tray(dispatcher, link, err) || !read_socket(dispatcher, link, err))
            return false;
    }
    for (struct worker_link *link = dispatcher->workers.first; link; link = link->next) {
        if (link->has_ended && !bury_worker(dispatcher, link, err))
            return false;
    }
    return true;
}

/* A worker says "finished" after it has given away the result: what was finished before its tray
 * and its socket were read empty, and has no result, never gets one. */
static void begin_audit(struct dispatcher *dispatcher)
{
    const struct lease_table *leases = dispatcher->process->leases;
    struct flight *flight;
    uint32_t serial;

    for (size_t i = 0; (flight = flights_next(&dispatcher->flights, &i));)
        flight->is_finished =
            lease_table_state(leases, flight->hold, &serial) == HOLD_FINISHED &&
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
    struct flight *flight;

    for (size_t i = 0; (flight = flights_next(&dispatcher->flights, &i));) {
        if (!flight->is_finished || flight->is_concluded)
            continue;
        if (flight->is_stray)
            conclude_silently(dispatcher, flight);
        else if (!conclude_flight(dispatcher, flight, &outcome, err))
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

bool results_forget(struct dispatcher *dispatcher, struct error *err)
{
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

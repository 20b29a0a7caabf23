/*
 * handout.c - jobs to the workers, and back from those that nobody started.
 *
 * All workers take their tasks from one task ring, and large ones from one socket: any idle worker
 * takes the next job. So there is no choice of a worker here, and none can be wrong. Which of them
 * has it is seen in the lease table, where it is also taken back: the task itself stays where it
 * is, and whoever comes upon it finds that it was revoked.
 */
#include "dispatcher/handout.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "dispatcher/company.h"
#include "dispatcher/conclude.h"
#include "dispatcher/damage.h"
#include "dispatcher/state.h"
#include "job/outcome.h"
#include "process/message.h"
#include "process/process.h"
#include "process/result_ring.h"
#include "process/task_ring.h"
#include "store/store.h"

#include <string.h>

#define LOST_AFTER HANDOUT_CHECK_INTERVAL /* without a start, though it has been received */
#define WAIT_MAX   USEC_PER_SEC           /* for a worker to start it */
#define MISSED_MAX 5                      /* such jobs; then who is idle does not listen */

static struct task task_of(const struct dispatcher *dispatcher, const struct flight *flight,
                           struct bytes payload)
{
    const struct job *job = &flight->job;

    return (struct task){
        .hold = flight->hold,
        .id = job->id,
        .type = job->type,
        .queue = job->queue,
        .handler = (size_t)(flight->handler - dispatcher->config->handlers),
        .attempt = job->attempts + 1,
        .max_attempts = flight->limits.max_attempts,
        .execution = job->executions,
        .timeout = flight->limits.timeout,
        .clock_offset = store_now(dispatcher->store) - clock_wall(),
        .is_json = job->encoding == JOB_JSON,
        .payload = payload,
    };
}

static enum delivery pass_on(struct dispatcher *dispatcher, struct flight *flight,
                             const struct task *task, struct error *err)
{
    struct task_ring *ring = dispatcher->process->task_ring;

    flight->is_in_ring = task_ring_put(ring, task);
    if (flight->is_in_ring)
        return DELIVERY_DONE;
    const enum delivery delivery = task_send(dispatcher->process->tasks, task, err);

    if (delivery == DELIVERY_DONE)
        task_ring_note(ring, task);
    return delivery;
}

static bool send_task(struct dispatcher *dispatcher, struct flight *flight, struct bytes payload,
                      struct error *err)
{
    const struct task task = task_of(dispatcher, flight, payload);
    const enum delivery delivery = pass_on(dispatcher, flight, &task, err);
    char id[UUID_TEXT_SIZE];

    flight->is_sent = delivery == DELIVERY_DONE;
    if (delivery == DELIVERY_FAILED)
        return error_prefix(err, "hand out job %s", uuid_format(&flight->job.id, id));
    if (delivery == DELIVERY_CLOSED)
        return error_set(err, TH_E_INTERNAL, "the socket to the workers is closed");
    if (!flight->is_sent) {
        dispatcher->has_unsent = true;
        return flight_keep_payload(flight, payload) || error_no_memory(err);
    }
    dispatcher->unrung++;
    if (log_is_on(LEVEL_DEBUG))
        log_debug("job_started", "job=%s type=%s queue=%s attempt=%d execution=%" PRId64,
                  uuid_format(&flight->job.id, id), flight->job.type, flight->job.queue,
                  task.attempt, task.execution);
    return true;
}

bool handout_ring(struct dispatcher *dispatcher, struct error *err)
{
    const size_t tasks = dispatcher->unrung;

    if (tasks == 0)
        return true;
    const size_t sleepers = result_rings_sleepers(dispatcher->process->result_rings);

    dispatcher->unrung = 0;
    return task_ring_wake(dispatcher->process->task_ring, sleepers < tasks ? sleepers : tasks, err);
}

static struct held_lease lease_of(const struct job *job)
{
    struct held_lease lease = {.job = job->id, .token = job->token, .ref = job->ref};

    memcpy(lease.queue, job->queue, strnlen(job->queue, JOB_NAME_MAX));
    return lease;
}

bool handout_give(struct dispatcher *dispatcher, struct flight *flight, struct bytes payload,
                  usec_t stop_at, struct error *err)
{
    const struct held_lease lease = lease_of(&flight->job);
    struct hold hold;

    if (!lease_table_hand(dispatcher->process->leases, &lease, stop_at, &hold))
        return conclude_release(dispatcher, flight, err);
    flight->number = ++dispatcher->flights.newest;
    flight->handed_at = clock_boot();
    flights_put(&dispatcher->flights, flight, hold);
    if (!flight->is_behind)
        return send_task(dispatcher, flight, payload, err);
    dispatcher->has_unsent = true;
    return flight_keep_payload(flight, payload) || error_no_memory(err);
}

static bool is_waiting(const struct dispatcher *dispatcher, const struct flight *flight)
{
    return !flight->is_concluded &&
           lease_table_state(dispatcher->process->leases, flight->hold, NULL) == HOLD_HANDED;
}

/* A flight of the same job whose run is not over. */
static struct flight *find_other(const struct dispatcher *dispatcher, const struct uuid *job,
                                 const struct flight *than)
{
    struct flight *flight;

    for (size_t i = 0; (flight = flights_next(&dispatcher->flights, &i));) {
        if (flight != than && !flight->is_concluded && uuid_compare(&flight->job.id, job) == 0)
            return flight;
    }
    return NULL;
}

static void look_ahead(struct dispatcher *dispatcher, struct flight *flight)
{
    if (!flight->is_behind)
        return;
    flight->is_behind = find_other(dispatcher, &flight->job.id, flight) != NULL;
    flight->handed_at = clock_boot(); /* its wait for a worker begins when it is sent */
}

static bool send_rest(struct dispatcher *dispatcher, struct error *err)
{
    struct flight *flight;

    for (size_t i = 0; (flight = flights_next(&dispatcher->flights, &i));) {
        if (flight->is_sent || !is_waiting(dispatcher, flight))
            continue;
        look_ahead(dispatcher, flight);
        if (flight->is_behind) {
            dispatcher->has_unsent = true;
            continue;
        }
        if (!send_task(dispatcher, flight, flight->job.payload, err))
            return false;
        if (!flight->is_sent)
            return true;
    }
    return true;
}

bool handout_send_rest(struct dispatcher *dispatcher, struct error *err)
{
    const bool has_unsent = dispatcher->has_unsent;

    dispatcher->has_unsent = false; /* until one finds no room again */
    return (!has_unsent || send_rest(dispatcher, err)) && handout_ring(dispatcher, err);
}

static bool take_back(struct dispatcher *dispatcher, struct flight *flight, struct error *err)
{
    if (!lease_table_revoke(dispatcher->process->leases, flight->hold))
        return true; /* started in this moment */
    return conclude_release(dispatcher, flight, err);
}

bool handout_take_back(struct dispatcher *dispatcher, struct error *err)
{
    struct flight *flight;

    for (size_t i = 0; (flight = flights_next(&dispatcher->flights, &i));) {
        if (is_waiting(dispatcher, flight) && !take_back(dispatcher, flight, err))
            return false;
    }
    return true;
}

/* Whoever received it died before starting it: it is not in the socket any more. */
static bool is_lost(const struct flight *flight, usec_t age, uint64_t youngest_started,
                    size_t backlog)
{
    return flight->is_sent && !flight->is_in_ring && age >= LOST_AFTER &&
           (backlog == 0 || flight->number < youngest_started);
}

static bool is_idle(const struct dispatcher *dispatcher, const struct worker_link *link)
{
    struct flight *flight;
    uint32_t serial;

    for (size_t i = 0; (flight = flights_next(&dispatcher->flights, &i));) {
        const enum hold_state state =
            lease_table_state(dispatcher->process->leases, flight->hold, &serial);

        if (state == HOLD_UNKNOWN || (state == HOLD_STARTED && serial == link->serial))
            return false;
    }
    return true;
}

/* A job has waited for as long as any may. Whoever has nothing to do, again and again, is deaf. */
static bool note_missed(struct dispatcher *dispatcher, struct error *err)
{
    company_note_missed(dispatcher);
    for (struct worker_link *link = dispatcher->workers.first; link; link = link->next) {
        const struct report report = {.kind = REPORT_WORKER_DEAF, .serial = link->serial};

        if (link->has_ended)
            continue;
        link->missed = is_idle(dispatcher, link) ? link->missed + 1 : 0;
        if (link->missed == MISSED_MAX && !process_report(dispatcher->process, &report, err))
            return false;
    }
    return true;
}

bool handout_check(struct dispatcher *dispatcher, struct error *err)
{
    const struct flights_census census =
        flights_count(&dispatcher->flights, dispatcher->process->leases);
    const size_t backlog = census.waiting > 0 ? task_backlog(dispatcher->process->tasks) : 0;
    const usec_t now = clock_boot();
    struct flight *flight;
    bool any_missed = false;

    if (census.unknown > 0 && !damage_check(dispatcher, err))
        return false;
    for (size_t i = 0; census.waiting > 0 && (flight = flights_next(&dispatcher->flights, &i));) {
        const usec_t age = now - flight->handed_at;

        if (age < LOST_AFTER || flight->is_behind || !is_waiting(dispatcher, flight))
            continue;
        any_missed = any_missed || age >= WAIT_MAX;
        if ((age >= WAIT_MAX || is_lost(flight, age, census.youngest_started, backlog)) &&
            !take_back(dispatcher, flight, err))
            return false;
    }
    return !any_missed || note_missed(dispatcher, err);
}

bool handout_is_waited_for(const struct dispatcher *dispatcher)
{
    const struct flights_census census =
        flights_count(&dispatcher->flights, dispatcher->process->leases);

    return census.waiting > 0 || census.unknown > 0;
}

static void want_halt(struct dispatcher *dispatcher, struct flight *flight, enum halt_reason reason)
{
    if (flight->is_concluded || flight->wants_halt)
        return;
    flight->wants_halt = true;
    flight->halt = reason;
    dispatcher->has_halts = true;
}

static bool heed_flags(struct dispatcher *dispatcher, struct flight *flight, unsigned flags,
                       struct error *err)
{
    const struct outcome cancelled = {.kind = OUTCOME_CANCELLED,
                                      .run = {.exit_code = JOB_NO_EXIT_CODE}};
    const bool lost = flags & LEASE_LOST;

    if (!lease_table_revoke(dispatcher->process->leases, flight->hold)) {
        want_halt(dispatcher, flight, lost ? HALT_LOST_LEASE : HALT_CANCEL);
        return true;
    }
    return lost ? conclude_release(dispatcher, flight, err) /* if nobody else has it by now */
                : conclude_flight(dispatcher, flight, &cancelled, err);
}

bool handout_heed_flags(struct dispatcher *dispatcher, struct error *err)
{
    struct flight *flight;

    for (size_t i = 0; (flight = flights_next(&dispatcher->flights, &i));) {
        const unsigned flags = lease_table_flags(dispatcher->process->leases, flight->hold);

        if (flags != 0 && !flight->is_concluded && !heed_flags(dispatcher, flight, flags, err))
            return false;
    }
    return true;
}

bool handout_lose(struct dispatcher *dispatcher, const struct uuid *job)
{
    struct flight *flight;
    bool any = false;

    for (size_t i = 0; (flight = flights_next(&dispatcher->flights, &i));) {
        if (flight->is_concluded || uuid_compare(&flight->job.id, job) != 0)
            continue;
        if (lease_table_revoke(dispatcher->process->leases, flight->hold)) {
            conclude_silently(dispatcher, flight); /* nobody has started it */
            continue;
        }
        want_halt(dispatcher, flight, HALT_LOST_LEASE);
        any = true;
    }
    return any;
}

void handout_halt_all(struct dispatcher *dispatcher)
{
    struct flight *flight;

    for (size_t i = 0; (flight = flights_next(&dispatcher->flights, &i));)
        want_halt(dispatcher, flight, HALT_DRAIN);
}

/* Told when its worker is known, and has room to listen. */
static bool tell_halt(struct dispatcher *dispatcher, struct hold hold, enum halt_reason reason,
                      bool *told_out, struct error *err)
{
    const struct halt halt = {.hold = hold, .reason = reason};
    uint32_t serial;

    *told_out = false;
    if (lease_table_state(dispatcher->process->leases, hold, &serial) != HOLD_STARTED)
        return true;
    const struct worker_link *link = workers_find(&dispatcher->workers, serial);
    if (!link || link->has_ended)
        return true;
    const enum delivery delivery = halt_send(link->socket, &halt, err);
    *told_out = delivery == DELIVERY_DONE;
    if (delivery == DELIVERY_NONE)
        dispatcher->has_halts = true; /* not now: with the next turn */
    return delivery != DELIVERY_FAILED;
}

/* Before it is known which jobs they are: a pool that goes down stops all that was started. */
static bool halt_unknown(struct dispatcher *dispatcher, struct error *err)
{
    struct hold_view view;
    bool told;

    for (size_t i = 0; lease_table_next(dispatcher->process->leases, &i, &view);) {
        if (!tell_halt(dispatcher, view.hold, HALT_DRAIN, &told, err))
            return false;
    }
    return true;
}

bool handout_tell_halts(struct dispatcher *dispatcher, struct error *err)
{
    struct flight *flight;

    if (!dispatcher->has_recovered)
        return !dispatcher->is_stopping || halt_unknown(dispatcher, err);
    for (size_t i = 0; (flight = flights_next(&dispatcher->flights, &i));) {
        if (!flight->wants_halt || flight->is_halted || flight->is_concluded)
            continue;
        if (!tell_halt(dispatcher, flight->hold, flight->halt, &flight->is_halted, err))
            return false;
    }
    return true;
}

/*
 * handout.c - jobs to the workers, and back from those that nobody started.
 *
 * All workers take their tasks from one task ring, and large ones from one socket: any idle worker
 * takes the next job. So there is no choice of a worker here, and none can be wrong. Which of them
 * has it is seen in the lease table, where it is also taken back: the task itself stays where it
 * is, and whoever comes upon it finds that it was revoked.
 */
#include "dispatcher/handout.h"

#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "dispatcher/company.h"
#include "dispatcher/conclude.h"
#include "dispatcher/damage.h"
#include "dispatcher/news.h"
#include "dispatcher/state.h"
#include "job/outcome.h"
#include "process/message.h"
#include "process/process.h"
#include "process/result_ring.h"
#include "process/task_ring.h"

#include <string.h>

#define LOST_AFTER HANDOUT_CHECK_INTERVAL /* without a start, though it has been received */
#define WAIT_MAX   USEC_PER_SEC           /* for a worker to start it */
#define MISSED_MAX 5                      /* such jobs; a worker that is idle meanwhile is deaf */

static struct task task_of(const struct dispatcher *dispatcher, const struct held_job *held,
                           struct bytes payload)
{
    const struct job *job = &held->job;

    return (struct task){
        .hold = held->hold,
        .id = job->id,
        .type = job->type,
        .queue = job->queue,
        .handler = (size_t)(held->handler - dispatcher->config->handlers),
        .attempt = job->attempts + 1,
        .max_attempts = held->limits.max_attempts,
        .execution = job->executions,
        .timeout = held->limits.timeout,
        .clock_offset = dispatcher->now.offset,
        .is_json = job->encoding == JOB_JSON,
        .payload = payload,
        .headers = job->headers,
    };
}

/* Into the ring, else into the socket, else nowhere yet. */
static bool pass_on(struct dispatcher *dispatcher, const struct task *task,
                    enum held_state *state_out, struct error *err)
{
    struct task_ring *ring = dispatcher->process->task_ring;

    *state_out = HELD_IN_RING;
    if (task_ring_put(ring, task))
        return true;
    *state_out = HELD_UNSENT;
    switch (task_send(dispatcher->process->tasks, task, err)) {
    case DELIVERY_DONE:
        *state_out = HELD_SENT;
        task_ring_note(ring, task);
        return true;
    case DELIVERY_NONE:
        return true;
    case DELIVERY_CLOSED:
        return error_set(err, TH_E_INTERNAL, "the socket to the workers is closed");
    case DELIVERY_FAILED:
        break;
    }
    return false;
}

static bool send_task(struct dispatcher *dispatcher, struct held_job *held, struct bytes payload,
                      struct error *err)
{
    const struct task task = task_of(dispatcher, held, payload);
    enum held_state state;
    char id[UUID_TEXT_SIZE];

    if (!pass_on(dispatcher, &task, &state, err))
        return error_prefix(err, "hand out job %s", uuid_format(&held->job.id, id));
    if (held->state != state)
        held_job_move(held, state);
    if (state == HELD_UNSENT) {
        dispatcher_add(dispatcher, CHORE_SEND_REST);
        return held_job_keep_payload(held, payload) || error_no_memory(err);
    }
    dispatcher->unrung++;
    news_tell_started(dispatcher, held);
    if (log_is_on(LEVEL_DEBUG))
        log_debug("job_started", "job=%s type=%s queue=%s attempt=%d execution=%" PRId64,
                  uuid_format(&held->job.id, id), held->job.type, held->job.queue, task.attempt,
                  task.execution);
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

bool handout_give(struct dispatcher *dispatcher, struct held_job *held, struct bytes payload,
                  usec_t stop_at, struct error *err)
{
    const struct held_lease lease = lease_of(&held->job);
    struct hold hold;

    if (!lease_table_hand(dispatcher->process->leases, &lease, stop_at, &hold))
        return conclude_release(dispatcher, held, err);
    held->number = ++dispatcher->held_jobs.newest;
    held->handed_at = dispatcher->now.boot;
    held_jobs_put(&dispatcher->held_jobs, held, hold);
    if (held->state != HELD_BEHIND)
        return send_task(dispatcher, held, payload, err);
    dispatcher_add(dispatcher, CHORE_SEND_REST);
    return held_job_keep_payload(held, payload) || error_no_memory(err);
}

/* Whether we still decide what becomes of it. */
static bool is_ours(const struct held_job *held)
{
    return !held_job_is_concluded(held) && held->state != HELD_STRAY;
}

/* For a worker to start it. */
static bool is_waiting(const struct dispatcher *dispatcher, const struct held_job *held)
{
    return is_ours(held) &&
           lease_table_state(dispatcher->process->leases, held->hold, NULL) == HOLD_HANDED;
}

/* Another hold of the same job, whose run is not over. */
static struct held_job *find_other(const struct dispatcher *dispatcher, const struct uuid *job,
                                   const struct held_job *than)
{
    struct held_job *held;

    for (size_t i = 0; (held = held_jobs_next(&dispatcher->held_jobs, &i));) {
        if (held != than && !held_job_is_concluded(held) && uuid_compare(&held->job.id, job) == 0)
            return held;
    }
    return NULL;
}

static bool is_behind(struct dispatcher *dispatcher, struct held_job *held)
{
    if (held->state != HELD_BEHIND)
        return false;
    held->handed_at = dispatcher->now.boot; /* its wait for a worker begins when it is sent */
    return find_other(dispatcher, &held->job.id, held) != NULL;
}

static bool is_to_be_sent(const struct dispatcher *dispatcher, const struct held_job *held)
{
    return (held->state == HELD_UNSENT || held->state == HELD_BEHIND) &&
           is_waiting(dispatcher, held);
}

static bool send_rest(struct dispatcher *dispatcher, struct error *err)
{
    struct held_job *held;

    for (size_t i = 0; (held = held_jobs_next(&dispatcher->held_jobs, &i));) {
        if (!is_to_be_sent(dispatcher, held))
            continue;
        if (is_behind(dispatcher, held)) {
            dispatcher_add(dispatcher, CHORE_SEND_REST);
            continue;
        }
        if (!send_task(dispatcher, held, held->job.payload, err))
            return false;
        if (held->state == HELD_UNSENT)
            return true;
    }
    return true;
}

bool handout_send_rest(struct dispatcher *dispatcher, struct error *err)
{
    const bool has_unsent = dispatcher_take(dispatcher, CHORE_SEND_REST);

    return (!has_unsent || send_rest(dispatcher, err)) && handout_ring(dispatcher, err);
}

static bool take_back(struct dispatcher *dispatcher, struct held_job *held, struct error *err)
{
    if (!lease_table_revoke(dispatcher->process->leases, held->hold))
        return true; /* started in this moment */
    return conclude_release(dispatcher, held, err);
}

bool handout_take_back(struct dispatcher *dispatcher, struct error *err)
{
    struct held_job *held;

    for (size_t i = 0; (held = held_jobs_next(&dispatcher->held_jobs, &i));) {
        if (is_waiting(dispatcher, held) && !take_back(dispatcher, held, err))
            return false;
    }
    return true;
}

/* Whoever received it died before starting it: it is not in the socket any more. */
static bool is_lost(const struct held_job *held, usec_t age, uint64_t youngest_started,
                    size_t backlog)
{
    return held->state == HELD_SENT && age >= LOST_AFTER &&
           (backlog == 0 || held->number < youngest_started);
}

static bool is_idle(const struct dispatcher *dispatcher, const struct worker_link *link)
{
    struct held_job *held;
    uint32_t serial;

    for (size_t i = 0; (held = held_jobs_next(&dispatcher->held_jobs, &i));) {
        const enum hold_state state =
            lease_table_state(dispatcher->process->leases, held->hold, &serial);

        if (state == HOLD_UNKNOWN || (state == HOLD_STARTED && serial == link->serial))
            return false;
    }
    return true;
}

/* A job has waited too long. A worker that is idle each time this happens is deaf. */
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
    const struct held_jobs_census census =
        held_jobs_count(&dispatcher->held_jobs, dispatcher->process->leases);
    const size_t backlog = census.waiting > 0 ? task_backlog(dispatcher->process->tasks) : 0;
    const usec_t now = dispatcher->now.boot;
    struct held_job *held;
    bool any_missed = false;

    if (census.unknown > 0 && !damage_check(dispatcher, err))
        return false;
    for (size_t i = 0; census.waiting > 0 && (held = held_jobs_next(&dispatcher->held_jobs, &i));) {
        const usec_t age = now - held->handed_at;

        if (age < LOST_AFTER || held->state == HELD_BEHIND || !is_waiting(dispatcher, held))
            continue;
        any_missed = any_missed || age >= WAIT_MAX;
        if ((age >= WAIT_MAX || is_lost(held, age, census.youngest_started, backlog)) &&
            !take_back(dispatcher, held, err))
            return false;
    }
    return !any_missed || note_missed(dispatcher, err);
}

bool handout_is_waited_for(const struct dispatcher *dispatcher)
{
    const struct held_jobs_census census =
        held_jobs_count(&dispatcher->held_jobs, dispatcher->process->leases);

    return census.waiting > 0 || census.unknown > 0;
}

static void want_halt(struct dispatcher *dispatcher, struct held_job *held, enum stop_reason reason)
{
    if (held_job_is_concluded(held) || held->stop != STOP_NONE)
        return;
    held->stop = reason;
    dispatcher_add(dispatcher, CHORE_TELL_HALTS);
}

static bool heed_flags(struct dispatcher *dispatcher, struct held_job *held, unsigned flags,
                       struct error *err)
{
    const struct outcome cancelled = {.kind = OUTCOME_CANCELLED,
                                      .run = {.exit_code = JOB_NO_EXIT_CODE}};
    const bool lost = flags & LEASE_LOST;

    if (!lease_table_revoke(dispatcher->process->leases, held->hold)) {
        want_halt(dispatcher, held, lost ? STOP_LOST_LEASE : STOP_CANCEL);
        return true;
    }
    return lost ? conclude_release(dispatcher, held, err) /* if nobody else has it by now */
                : conclude_job(dispatcher, held, &cancelled, err);
}

bool handout_heed_flags(struct dispatcher *dispatcher, struct error *err)
{
    struct held_job *held;

    if (!dispatcher_take(dispatcher, CHORE_HEED_FLAGS))
        return true;
    for (size_t i = 0; (held = held_jobs_next(&dispatcher->held_jobs, &i));) {
        const unsigned flags = lease_table_flags(dispatcher->process->leases, held->hold);

        if (flags != 0 && is_ours(held) && !heed_flags(dispatcher, held, flags, err))
            return false;
    }
    return true;
}

bool handout_lose(struct dispatcher *dispatcher, const struct uuid *job)
{
    struct held_job *held;
    bool any = false;

    for (size_t i = 0; (held = held_jobs_next(&dispatcher->held_jobs, &i));) {
        if (held_job_is_concluded(held) || uuid_compare(&held->job.id, job) != 0)
            continue;
        if (lease_table_revoke(dispatcher->process->leases, held->hold)) {
            conclude_silently(dispatcher, held); /* nobody has started it */
            continue;
        }
        want_halt(dispatcher, held, STOP_LOST_LEASE);
        any = true;
    }
    return any;
}

void handout_halt_all(struct dispatcher *dispatcher)
{
    struct held_job *held;

    for (size_t i = 0; (held = held_jobs_next(&dispatcher->held_jobs, &i));)
        want_halt(dispatcher, held, STOP_DRAIN);
}

/* Told when its worker is known, and has room to listen. */
static bool tell_halt(struct dispatcher *dispatcher, struct hold hold, enum stop_reason reason,
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
        dispatcher_add(dispatcher, CHORE_TELL_HALTS); /* not now: with the next turn */
    return delivery != DELIVERY_FAILED;
}

/* Before it is known which jobs they are: a pool that goes down stops all that was started. */
static bool halt_unknown(struct dispatcher *dispatcher, struct error *err)
{
    struct hold_view view;
    bool told;

    for (size_t i = 0; lease_table_next(dispatcher->process->leases, &i, &view);) {
        if (!tell_halt(dispatcher, view.hold, STOP_DRAIN, &told, err))
            return false;
    }
    return true;
}

bool handout_tell_halts(struct dispatcher *dispatcher, struct error *err)
{
    struct held_job *held;

    if (!dispatcher_take(dispatcher, CHORE_TELL_HALTS))
        return true;
    if (dispatcher->store_state == STORE_UNSEEN)
        return dispatcher->state != DISPATCHER_STOPPING || halt_unknown(dispatcher, err);
    for (size_t i = 0; (held = held_jobs_next(&dispatcher->held_jobs, &i));) {
        if (held->stop == STOP_NONE || held->is_halted || held_job_is_concluded(held))
            continue;
        if (!tell_halt(dispatcher, held->hold, held->stop, &held->is_halted, err))
            return false;
    }
    return true;
}

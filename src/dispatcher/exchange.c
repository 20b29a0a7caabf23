/*
 * exchange.c - settle what came back and reserve what there is room for, in one round trip.
 *
 * While one exchange is under way the workers go on with what they have, and their results pile up
 * for the next one. So batches grow with the load by themselves: one job at a time when idle, which
 * is the lowest latency, hundreds when busy, which is the highest throughput.
 */
#include "dispatcher/exchange.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/random.h"
#include "base/text.h"
#include "config/config.h"
#include "dispatcher/company.h"
#include "dispatcher/conclude.h"
#include "dispatcher/handout.h"
#include "dispatcher/interleave.h"
#include "dispatcher/recovery.h"
#include "dispatcher/results.h"
#include "dispatcher/room.h"
#include "dispatcher/state.h"
#include "process/meters.h"
#include "process/process.h"
#include "store/store.h"

/* Settlements or places for jobs: with fewer, an exchange is waited for. */
#define FLIGHT_MIN 256

static void answer_done(struct answer *answer)
{
    job_list_done(&answer->jobs);
}

/* For one exchange, well before its deadline, which is a sixth of the lease. */
static usec_t too_long(const struct dispatcher *dispatcher)
{
    const usec_t part = dispatcher->config->pool.lease / 8;

    return part < 2 * USEC_PER_SEC ? part : 2 * USEC_PER_SEC;
}

struct reservation exchange_wish(struct dispatcher *dispatcher, size_t room, struct error *away)
{
    struct reservation wanted = {
        .queues = dispatcher->queues.asking.shares,
        .queue_count = queues_share(&dispatcher->queues, room),
        .limits_out = dispatcher->queues.asking.limits,
        .away_out = away,
        .pool = dispatcher->process->pool,
        .lease_for = dispatcher->config->pool.lease,
    };

    random_bytes(&wanted.batch, sizeof wanted.batch);
    return wanted;
}

/* What does not go with this one is kept for the next. */
static bool send(struct dispatcher *dispatcher, size_t from, size_t sent,
                 const struct reservation *wanted, usec_t now, struct job_list *jobs_out,
                 struct error *err)
{
    const struct outbox *outbox = &dispatcher->outbox;
    const struct settlement_list finished = {outbox->settlements + from, sent};
    enum th_error_code *verdicts = outbox->verdicts + from;

    for (size_t i = from + sent; i < outbox->count; i++)
        outbox->verdicts[i] = TH_E_UNAVAILABLE;
    if (wanted->queue_count == 0)
        return store_settle(dispatcher->store, &finished, now, verdicts, err);
    return store_exchange(dispatcher->store, &finished, wanted, 1, now, verdicts, jobs_out, err);
}

/* One that took too long is repeated with half of what it had to settle. */
static bool ask(struct dispatcher *dispatcher, size_t from, const struct reservation *wanted,
                usec_t now, struct job_list *jobs_out, struct error *err)
{
    struct outbox *outbox = &dispatcher->outbox;
    const size_t share = outbox_share(outbox, outbox->count - from);
    const size_t sent = outbox_fit(outbox, from, share);
    const usec_t start = clock_boot();
    const bool answered = send(dispatcher, from, sent, wanted, now, jobs_out, err);

    meters_add_store_work(dispatcher->process->meters, STORE_EXCHANGE, start);
    if (answered)
        outbox_grow(outbox, share);
    else
        exchange_note_failure(dispatcher, sent, start);
    return answered;
}

void exchange_note_failure(struct dispatcher *dispatcher, size_t sent, usec_t asked_at)
{
    if (clock_boot() - asked_at > too_long(dispatcher))
        outbox_shrink(&dispatcher->outbox, sent);
}

void exchange_count_quick(struct dispatcher *dispatcher)
{
    dispatcher->last_quick = dispatcher->quick;
    dispatcher->quick = 0;
}

static void measure(struct dispatcher *dispatcher, const struct job_list *jobs, usec_t clock_shift)
{
    dispatcher->last_count = jobs->count;
    dispatcher->last_bytes = 0;
    for (size_t i = 0; i < jobs->count; i++) {
        dispatcher->last_bytes += jobs->items[i].payload.length;
        queues_count(&dispatcher->queues, jobs->items[i].queue);
    }
    queues_conclude(&dispatcher->queues, clock_shift);
}

bool exchange_take_in_job(struct dispatcher *dispatcher, const struct job *job, usec_t stop_at,
                          struct error *err)
{
    struct held_job *held = held_job_new(&dispatcher->held_jobs, dispatcher->config, job);
    char id[UUID_TEXT_SIZE];
    bool concluded = false;

    if (!held)
        return error_no_memory(err);
    if (job->stalls > 0)
        log_warning("job_stalled", "job=%s type=%s queue=%s stalls=%d", uuid_format(&job->id, id),
                    job->type, job->queue, job->stalls);
    if (lease_is_half_over(stop_at, dispatcher->config->pool.lease, dispatcher->now.boot))
        return conclude_release(dispatcher, held, err);
    if (job->stalls > 0 && handout_lose(dispatcher, &job->id))
        held_job_move(held, HELD_BEHIND);
    if (!conclude_early(dispatcher, held, job->payload, &concluded, err))
        return false;
    if (!concluded)
        return handout_give(dispatcher, held, job->payload, stop_at, err);
    /* No worker is needed: there is room for as many again. But one that comes back was brought
     * back by a pool that can run it, and is left to that. */
    dispatcher->quick += job->executions == 1;
    return true;
}

static bool is_of_one_queue(const struct job_list *jobs)
{
    return jobs->count == 0 || text_equal(jobs->items[0].queue, jobs->items[jobs->count - 1].queue);
}

bool exchange_take_in(struct dispatcher *dispatcher, const struct job_list *jobs, usec_t stop_at,
                      struct error *err)
{
    const bool is_mixed = !is_of_one_queue(jobs);
    AUTO_FREE size_t *order = is_mixed ? interleave_order(jobs) : NULL;

    if (is_mixed && !order)
        return error_no_memory(err);
    for (size_t i = 0; i < jobs->count; i++) {
        const struct job *job = &jobs->items[order ? order[i] : i];

        if (!exchange_take_in_job(dispatcher, job, stop_at, err))
            return false;
    }
    return handout_ring(dispatcher, err);
}

/* What a queue that was away may have reserved for us is to be looked for. */
static bool tell_away(struct dispatcher *dispatcher, const struct error *why, struct error *err)
{
    bool any_back;
    const bool answers =
        queues_tell_away(&dispatcher->queues, why, dispatcher->now.boot, &any_back, err);

    if (any_back)
        dispatcher_add(dispatcher, CHORE_RECOVER);
    return answers;
}

/* Whatever the verdict is, nothing is left to be done for these, but for those that are kept. */
bool exchange_note_answer(struct dispatcher *dispatcher, size_t from, const struct answer *answer,
                          struct error *err)
{
    dispatcher_read_clocks(dispatcher);
    measure(dispatcher, &answer->jobs, answer->asked_at - answer->now);
    log_hold();
    const bool kept_all = outbox_take_answers(dispatcher, from, err);
    log_release();
    return kept_all;
}

bool exchange_bring_in(struct dispatcher *dispatcher, const struct answer *answer,
                       struct error *err)
{
    const usec_t lease = dispatcher->config->pool.lease;

    return exchange_take_in(dispatcher, &answer->jobs,
                            lease_stop_at(answer->asked_at + lease, lease), err) &&
           tell_away(dispatcher, &answer->away, err);
}

/* Empties the outbox, takes in up to `room` jobs. */
static bool settle_and_reserve(struct dispatcher *dispatcher, size_t room, struct error *err)
{
    CLEANUP(answer_done)
    struct answer answer = {.asked_at = clock_boot(), .now = store_now(dispatcher->store)};
    const size_t from = outbox_first(&dispatcher->outbox, answer.asked_at);
    const struct reservation wanted = exchange_wish(dispatcher, room, &answer.away);

    dispatcher->last_exchange = answer.asked_at;
    if (!ask(dispatcher, from, &wanted, answer.now, &answer.jobs, err))
        return error_prefix(err, "settle %zu jobs and reserve %zu", dispatcher->outbox.count, room);
    exchange_count_quick(dispatcher);
    return exchange_note_answer(dispatcher, from, &answer, err) &&
           results_forget(dispatcher, err) && exchange_bring_in(dispatcher, &answer, err);
}

/* What is about to be settled makes room in its queue before the same exchange reserves. */
static void open_queues(struct dispatcher *dispatcher)
{
    const struct outbox *outbox = &dispatcher->outbox;
    const bool any_full = queues_have_full(&dispatcher->queues);

    for (size_t i = outbox_first(outbox, clock_boot()); any_full && i < outbox->count; i++)
        queues_note_end(&dispatcher->queues, outbox->settlements[i].queue);
    usec_t next = queues_note_time(&dispatcher->queues, clock_boot());

    if (outbox->kept > 0 && (next == 0 || outbox->kept_until < next))
        next = outbox->kept_until;
    if (next != 0)
        loop_set_timer(dispatcher->process->loop, &dispatcher->limit_timer, next);
}

/* What is out brings jobs as well. While there is any, exchanges follow each other twice as fast,
 * and what was done since the last but one tells how fast jobs are done. */
static size_t room_now(struct dispatcher *dispatcher)
{
    const struct flights *flights = &dispatcher->flights;

    if (dispatcher->state != DISPATCHER_SERVING || !queues_may_give(&dispatcher->queues))
        return 0;
    const struct held_jobs_census census =
        held_jobs_count(&dispatcher->held_jobs, dispatcher->process->leases);
    const struct company company = company_count(dispatcher, census.running);
    const struct room_facts facts = {
        .idle = company.idle,
        .spare = company.spare,
        .quick = dispatcher->quick + (flights->count > 0 ? dispatcher->last_quick : 0),
        .last_quick = dispatcher->last_quick,
        .waiting = census.waiting + flights_room(flights),
        .held = dispatcher->held_jobs.count - census.concluded + flights_room(flights),
        .capacity = dispatcher->held_jobs.capacity,
    };

    return room_by_size(room_for(&facts), dispatcher->last_count, dispatcher->last_bytes);
}

/* To be settled now. */
static bool has_results(const struct dispatcher *dispatcher)
{
    return outbox_first(&dispatcher->outbox, clock_boot()) < dispatcher->outbox.count;
}

/* Something else is to be asked of the store, and that is done while nothing is out. */
static bool has_errand(const struct dispatcher *dispatcher)
{
    const usec_t now = clock_boot();

    return (dispatcher->chores & (CHORE_HEAR_BELL | CHORE_PROVE_BELL)) ||
           now >= dispatcher->look_at || recovery_is_due(dispatcher) ||
           now - dispatcher->clock.asked_at >= dispatcher->config->pool.lease / 3;
}

/* Nothing to settle needs more than one exchange, or a second look. */
static bool is_plain(struct dispatcher *dispatcher)
{
    struct outbox *outbox = &dispatcher->outbox;

    return outbox->kept == 0 && outbox->most == 0 &&
           outbox_fit(outbox, 0, outbox->count) == outbox->count &&
           !workers_have_ended(&dispatcher->workers);
}

/* Whether to go on without waiting for the next one. */
static bool is_for_a_flight(struct dispatcher *dispatcher, size_t room)
{
    return (room >= FLIGHT_MIN || dispatcher->outbox.count >= FLIGHT_MIN) &&
           store_can_overlap(dispatcher->store) && dispatcher->state == DISPATCHER_SERVING &&
           is_plain(dispatcher) && !has_errand(dispatcher);
}

bool exchange_run(struct dispatcher *dispatcher, bool *exchanged_out, struct error *err)
{
    /* Reserving takes back leases that have ended: not by a clock that was set since. */
    if (!store_follow_clock(dispatcher->store, dispatcher->config->pool.lease / 3, err))
        return error_prefix(err, "ask for the time");
    open_queues(dispatcher);
    const size_t room = room_now(dispatcher);

    *exchanged_out = room > 0 || has_results(dispatcher);
    if (!*exchanged_out)
        return results_forget(dispatcher, err);
    return is_for_a_flight(dispatcher, room) ? flights_begin(dispatcher, room, err)
                                             : settle_and_reserve(dispatcher, room, err);
}

bool exchange_go_on(struct dispatcher *dispatcher, struct error *err)
{
    const struct flights *flights = &dispatcher->flights;

    if (flights->has_news && !flights_land(dispatcher, err))
        return false;
    if (flights->count == 0 || flights->count == FLIGHTS_MAX)
        return true;
    open_queues(dispatcher);
    const size_t room = room_now(dispatcher);

    return !is_for_a_flight(dispatcher, room) || flights_begin(dispatcher, room, err);
}

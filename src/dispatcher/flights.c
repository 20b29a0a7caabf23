/*
 * flights.c - exchanges that are out: the store works on them, and we go on.
 */
#include "dispatcher/flights.h"

#include "base/clock.h"
#include "base/error.h"
#include "config/config.h"
#include "dispatcher/exchange.h"
#include "dispatcher/state.h"
#include "process/meters.h"
#include "process/process.h"

#include <assert.h>

bool flights_init(struct flights *flights, size_t queue_count, struct error *err)
{
    for (size_t i = 0; i < FLIGHTS_MAX; i++)
        if (!queue_asking_init(&flights->items[i].asking, queue_count, err))
            return false;
    return true;
}

void flights_done(struct flights *flights)
{
    assert(flights->count == 0);
    for (size_t i = 0; i < FLIGHTS_MAX; i++) {
        outbox_done(&flights->items[i].outbox);
        queue_asking_done(&flights->items[i].asking);
    }
}

void flights_trim(struct flights *flights)
{
    assert(flights->count == 0);
    for (size_t i = 0; i < FLIGHTS_MAX; i++)
        outbox_trim(&flights->items[i].outbox);
}

/* The one that began so many after the oldest. */
static size_t number_of(const struct flights *flights, size_t after)
{
    return (flights->oldest + after) % FLIGHTS_MAX;
}

size_t flights_room(const struct flights *flights)
{
    size_t room = 0;

    for (size_t i = 0; i < flights->count; i++)
        room += flights->items[number_of(flights, i)].room;
    return room;
}

/* ---- what wakes us ---- */

static void hear_answer(void *context, unsigned events)
{
    struct flights *flights = context;

    (void)events;
    flights->has_news = true;
}

static void be_late(void *context)
{
    hear_answer(context, 0);
}

/* Not while the store is called: it may close the descriptor. */
static void unwatch(struct dispatcher *dispatcher)
{
    loop_unwatch(dispatcher->process->loop, &dispatcher->flights.watch);
    loop_clear_timer(dispatcher->process->loop, &dispatcher->flights.timer);
    dispatcher->flights.has_news = false;
}

static bool watch(struct dispatcher *dispatcher, struct error *err)
{
    struct flights *flights = &dispatcher->flights;
    const struct flight *oldest = &flights->items[flights->oldest];
    const int fd = store_exchange_fd(dispatcher->store);

    if (flights->count == 0)
        return true;
    flights->timer.call = be_late;
    flights->timer.context = flights;
    loop_set_timer(dispatcher->process->loop, &flights->timer,
                   oldest->answer.asked_at + lease_deadline(dispatcher->config->pool.lease));
    flights->has_news = fd < 0;
    flights->watch = (struct loop_watch){.fd = fd, .call = hear_answer, .context = flights};
    return fd < 0 || loop_watch(dispatcher->process->loop, &flights->watch, LOOP_READ, err);
}

/* ---- out and back ---- */

static void swap_outboxes(struct outbox *a, struct outbox *b)
{
    const struct outbox kept = *a;

    *a = *b;
    *b = kept;
}

/* Takes the outbox and the shares along. */
static struct reservation load(struct dispatcher *dispatcher, struct flight *flight, size_t room)
{
    flight->answer = (struct answer){.asked_at = clock_boot(), .now = store_now(dispatcher->store)};
    const struct reservation wanted = exchange_wish(dispatcher, room, &flight->answer.away);

    queues_swap_asking(&dispatcher->queues, &flight->asking);
    swap_outboxes(&dispatcher->outbox, &flight->outbox);
    flight->finished = (struct settlement_list){flight->outbox.settlements, flight->outbox.count};
    flight->room = room;
    return wanted;
}

bool flights_begin(struct dispatcher *dispatcher, size_t room, struct error *err)
{
    struct flights *flights = &dispatcher->flights;
    const size_t number = number_of(flights, flights->count);
    struct flight *flight = &flights->items[number];

    assert(flights->count < FLIGHTS_MAX);
    unwatch(dispatcher);
    const struct reservation wanted = load(dispatcher, flight, room);

    flights->count++;
    dispatcher->last_exchange = flight->answer.asked_at;
    exchange_count_quick(dispatcher);
    workers_note_flight(&dispatcher->workers, number);
    if (!store_exchange_begin(dispatcher->store, &flight->finished, &wanted, flight->answer.now,
                              flight->outbox.verdicts, &flight->answer.jobs, err))
        return error_prefix(err, "settle %zu jobs and reserve %zu", flight->finished.count, room);
    return watch(dispatcher, err);
}

/* What the oldest has settled, or could not, comes before what has gathered since. */
static bool unload(struct dispatcher *dispatcher, struct flight *flight, struct error *err)
{
    swap_outboxes(&dispatcher->outbox, &flight->outbox);
    queues_swap_asking(&dispatcher->queues, &flight->asking);
    const bool noted = exchange_note_answer(dispatcher, 0, &flight->answer, err);

    return outbox_append(&dispatcher->outbox, &flight->outbox, err) && noted;
}

/* Some are kept: their results have to be, too, until nothing is out and results_forget() sees
 * which. */
static bool forget_results(struct dispatcher *dispatcher, size_t number, struct error *err)
{
    if (dispatcher->outbox.kept == 0)
        return workers_take_flown(&dispatcher->workers, number, err);
    workers_forget_flight(&dispatcher->workers, number);
    return true;
}

bool flights_land(struct dispatcher *dispatcher, struct error *err)
{
    struct flights *flights = &dispatcher->flights;
    const size_t number = flights->oldest;
    struct flight *flight = &flights->items[number];

    unwatch(dispatcher);
    if (!store_exchange_end(dispatcher->store, err)) {
        exchange_note_failure(dispatcher, flight->finished.count, flight->answer.asked_at);
        return error_prefix(err, "settle %zu jobs and reserve %zu", flight->finished.count,
                            flight->room);
    }
    meters_add_store_work(dispatcher->process->meters, STORE_EXCHANGE, flight->answer.asked_at);
    flights->oldest = number_of(flights, 1);
    flights->count--;
    const bool taken = unload(dispatcher, flight, err) && forget_results(dispatcher, number, err) &&
                       exchange_bring_in(dispatcher, &flight->answer, err);

    job_list_done(&flight->answer.jobs);
    return taken && watch(dispatcher, err);
}

void flights_abandon(struct dispatcher *dispatcher)
{
    struct flights *flights = &dispatcher->flights;
    struct error err;

    unwatch(dispatcher);
    while (flights->count > 0) {
        const size_t number = number_of(flights, --flights->count);
        struct flight *flight = &flights->items[number];

        swap_outboxes(&dispatcher->outbox, &flight->outbox);
        if (!outbox_append(&dispatcher->outbox, &flight->outbox, &err))
            dispatcher_end(dispatcher, process_fail(&err));
        workers_forget_flight(&dispatcher->workers, number);
        job_list_done(&flight->answer.jobs);
    }
}

/*
 * heartbeater.c - `thd: heartbeater`: keeps this pool and its leases alive.
 *
 * Woken every min(pool.heartbeat_interval, lease / 3), and more often while the store is away. Its
 * first beat comes while the others are still starting, and people who look would see none of them:
 * so the second one follows soon.
 *
 * While somebody watches the pool or one of its jobs, which the answers to its beats say, it looks
 * between two of them what there is to see, and tells the store if there is something new.
 *
 * What somebody wants of the pool (thctl pools quiet) comes with the answer to a beat, and goes on
 * to the master.
 *
 * A beat that fails stops nothing by itself: leases outlive a few lost beats, and every entry's
 * stop_at ends its run before an unconfirmed lease can.
 */
#include "periodic/heartbeater.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "job/lease.h"
#include "periodic/beat.h"
#include "periodic/periodic.h"
#include "process/process.h"
#include "store/store.h"

#define SECOND_BEAT (500 * USEC_PER_MSEC)

#define CLOCK_OFF  USEC_PER_SEC
#define LOOK_AGAIN (80 * USEC_PER_MSEC) /* while somebody watches */

struct heartbeater {
    struct process *process;
    struct beat *beat;
    usec_t interval;
    usec_t due; /* boot time, of the next whole beat */
    bool has_beaten;
    usec_t wanted_told;  /* the master, since when something is wanted of the pool */
    unsigned steps_told; /* of the database's clock */
    bool is_off_told;    /* this machine's clock */
};

/* One of the pool's processes says it for all of them. */
static void tell_step(struct heartbeater *heartbeater, const struct timekeeper *clock)
{
    if (clock->steps == heartbeater->steps_told)
        return;
    heartbeater->steps_told = clock->steps;
    log_warning("clock_stepped", "by_ms=%" PRId64 " for_ms=%" PRId64 " hint=%s",
                clock->last_step / USEC_PER_MSEC, clock->lease / USEC_PER_MSEC,
                "the database's clock was set: leases hold by the old and the new one for so long");
}

/* Once, until it is right again. */
static void tell_error(struct heartbeater *heartbeater, usec_t ahead)
{
    const bool is_off = ahead > CLOCK_OFF || ahead < -CLOCK_OFF;

    if (is_off && !heartbeater->is_off_told)
        log_warning("clock_off", "ahead_ms=%" PRId64 " hint=%s", ahead / USEC_PER_MSEC,
                    "this machine's clock is not the database's, which is the one that counts: "
                    "synchronise both");
    heartbeater->is_off_told = is_off;
}

/* Counted from its start: a beat that takes long does not delay the next one. */
static bool send_beat(struct heartbeater *heartbeater, struct store *store, struct error *err)
{
    usec_t interval = heartbeater->interval;

    if (!heartbeater->has_beaten && interval > SECOND_BEAT)
        interval = SECOND_BEAT;
    const usec_t due = clock_boot() + interval;
    tell_step(heartbeater, store_clock(store));
    tell_error(heartbeater, store_clock_error(store));
    if (!beat_send(heartbeater->beat, store, heartbeater->interval, err))
        return false;
    heartbeater->has_beaten = true;
    heartbeater->due = due;
    return true;
}

/* One that fails is followed by a whole beat. */
static bool tell_watchers(struct heartbeater *heartbeater, struct store *store, struct error *err)
{
    if (beat_tell_watchers(heartbeater->beat, store, err))
        return true;
    heartbeater->due = 0;
    return false;
}

static enum order_kind order_for(enum pool_want want)
{
    switch (want) {
    case POOL_WANT_NOTHING:
        return ORDER_RESUME;
    case POOL_WANT_QUIET:
        return ORDER_PAUSE;
    case POOL_WANT_TERMINATE:
        return ORDER_DRAIN;
    }
    return ORDER_RESUME;
}

/* Each time that somebody has said something. */
static bool tell_wanted(struct heartbeater *heartbeater, struct error *err)
{
    const struct pool_answer *told = beat_told(heartbeater->beat);
    const struct report report = {
        .kind = REPORT_WANTED,
        .serial = heartbeater->process->serial,
        .wanted = order_for(told->want),
        .wanted_at = told->wanted_at,
    };

    if (told->wanted_at == heartbeater->wanted_told)
        return true;
    heartbeater->wanted_told = told->wanted_at;
    if (told->wanted_at == 0)
        return true;
    log_info("pool_wanted", "want=%s", pool_want_name(told->want));
    return process_report(heartbeater->process, &report, err);
}

static bool make_pass(void *context, struct store *store, usec_t *next_out, struct error *err)
{
    struct heartbeater *heartbeater = context;
    const bool is_due = clock_boot() >= heartbeater->due;

    if (!(is_due ? send_beat : tell_watchers)(heartbeater, store, err) ||
        !tell_wanted(heartbeater, err))
        return false;
    const usec_t look = clock_boot() + LOOK_AGAIN;
    const bool looks = beat_is_watched(heartbeater->beat) && look < heartbeater->due;
    *next_out = looks ? look : heartbeater->due;
    return true;
}

static bool remove_pool(void *context, struct store *store, struct error *err)
{
    const struct heartbeater *heartbeater = context;

    return store_pool_remove(store, heartbeater->process->pool, err) ||
           err->code == TH_E_NOT_FOUND || error_prefix(err, "remove the pool");
}

int heartbeater_main(struct process *process)
{
    const struct pool_config *pool = &process->config->pool;
    CLEANUP(beat_free) struct beat *beat = NULL;
    struct error err;

    if (!beat_new(process, &beat, &err))
        return process_fail(&err);
    struct heartbeater heartbeater = {
        .process = process,
        .beat = beat,
        .interval = lease_renewal_interval(pool->heartbeat_interval, pool->lease),
    };
    const struct periodic periodic = {
        .work = STORE_HEARTBEAT,
        .pass = make_pass,
        .leave = remove_pool,
        .max_silence = heartbeater.interval,
        .deadline = lease_deadline(pool->lease),
        .context = &heartbeater,
    };
    return periodic_run(process, &periodic);
}

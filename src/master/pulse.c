/*
 * pulse.c - finds processes that hang.
 */
#include "master/pulse.h"

#include "base/clock.h"
#include "base/log.h"
#include "config/config.h"
#include "master/master.h"
#include "process/scoreboard.h"

#define INTERVAL  (10 * USEC_PER_SEC)
#define LIMIT_MIN (60 * USEC_PER_SEC) /* every call of a store ends long before that */

bool pulse_stands_still(struct pulse *pulse, uint32_t serial, int64_t count, usec_t now,
                        usec_t limit)
{
    if (pulse->serial == serial && pulse->count == count)
        return now - pulse->since >= limit;
    *pulse = (struct pulse){.serial = serial, .count = count, .since = now};
    return false;
}

/* The heartbeater may be that slow when it is well. */
static usec_t limit_of(const struct master *master)
{
    const usec_t slow = 3 * master->config->pool.heartbeat_interval;

    return slow > LIMIT_MIN ? slow : LIMIT_MIN;
}

static void feel(struct master *master, enum role_id role, usec_t now)
{
    struct child_seat *seat = children_seat(master, role);
    struct slot slot;

    if (seat->pid == 0 || !scoreboard_read(master->scoreboard, seat->slot, &slot))
        return;
    if (!pulse_stands_still(&seat->pulse, seat->serial, slot.jobs_done, now, limit_of(master)))
        return;
    log_error("process_hangs", "name=%s pid=%d silent_ms=%" PRId64, seat->name, (int)seat->pid,
              (now - seat->pulse.since) / USEC_PER_MSEC);
    children_kill(seat);
}

static void forget(struct master *master, enum role_id role)
{
    children_seat(master, role)->pulse = (struct pulse){0};
}

/* A machine that slept, or a master that was stopped, has heard nothing of anybody. */
static void feel_all(void *context)
{
    struct master *master = context;
    const usec_t now = clock_boot();
    const bool was_away = now - master->pulse_timer.at > INTERVAL;

    for (enum role_id role = ROLE_DISPATCHER; role <= ROLE_HEARTBEATER; role++) {
        if (was_away)
            forget(master, role);
        feel(master, role, now);
    }
    loop_set_timer(master->loop, &master->pulse_timer, now + INTERVAL);
}

void pulse_start(struct master *master)
{
    master->pulse_timer = (struct loop_timer){.call = feel_all, .context = master};
    loop_set_timer(master->loop, &master->pulse_timer, clock_boot() + INTERVAL);
}

/*
 * dump.c - USR1: what every process does right now, into the log.
 */
#include "master/dump.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/uuid.h"
#include "master/children.h"
#include "master/generation.h"
#include "master/this_pool.h"
#include "process/scoreboard.h"

#define EVENT "process_state"

/* How long it has been so. */
static int64_t milliseconds_since(usec_t since)
{
    return (clock_wall() - since) / USEC_PER_MSEC;
}

/* Nobody is there: it waits for its restart, or has ended with the pool. */
static void log_empty(const struct seat *seat)
{
    if (seat->restart_timer.is_on)
        log_info(EVENT, "name=%s state=restarting restart_ms=%" PRId64, seat->name,
                 (seat->restart_timer.at - clock_boot()) / USEC_PER_MSEC);
    else
        log_info(EVENT, "name=%s state=ended", seat->name);
}

static void log_job(const struct slot *slot, const struct slot_job *run, unsigned generation)
{
    char job[UUID_TEXT_SIZE];
    const int64_t duration = milliseconds_since(run->since);

    uuid_format(&run->job, job);
    if (run->progress_percent < 0)
        log_info(EVENT, "name=%s pid=%d generation=%u state=%s for_ms=%" PRId64 " job=%s type=%s",
                 slot->name, slot->pid, generation, slot_state_name(slot->state), duration, job,
                 run->type);
    else
        log_info(EVENT,
                 "name=%s pid=%d generation=%u state=%s for_ms=%" PRId64
                 " job=%s type=%s progress=%d text=%s",
                 slot->name, slot->pid, generation, slot_state_name(slot->state), duration, job,
                 run->type, run->progress_percent, run->progress_text);
}

/* A line for each of its jobs. */
static void log_jobs(const struct seat *seat, const struct slot *slot)
{
    struct slot_job job;

    for (size_t place = 0; place < slot->place_extent; place++) {
        if (scoreboard_read_job(seat->pool->scoreboard, seat->slot, place, &job))
            log_job(slot, &job, seat->generation->number);
    }
}

static void log_slot(const struct seat *seat, const struct slot *slot)
{
    if (slot->state == SLOT_RUNNING)
        log_jobs(seat, slot);
    else
        log_info(EVENT, "name=%s pid=%d generation=%u state=%s for_ms=%" PRId64 " done=%" PRId64,
                 slot->name, slot->pid, seat->generation->number, slot_state_name(slot->state),
                 milliseconds_since(slot->since), slot->jobs_done);
}

void dump_log(const struct children *children)
{
    const struct this_pool *pool = children->pool;
    struct slot slot;

    log_info("pool_state", "state=%s paused=%s workers=%d generation=%u old_workers=%zu",
             pool_state_name(pool->state), pool->is_paused ? "true" : "false",
             roles_instances(ROLE_WORKER, pool->config), pool->generation->number,
             children_count_old(children));
    for (size_t i = 0; i < children->count; i++) {
        const struct seat *seat = &children->seats[i];

        if (seat->pid != 0 && scoreboard_read(pool->scoreboard, seat->slot, &slot))
            log_slot(seat, &slot);
        else if (seat->pid != 0)
            log_info(EVENT, "name=%s pid=%d state=unknown", seat->name, (int)seat->pid);
        else if (seat_is_wanted(seat))
            log_empty(seat);
    }
}

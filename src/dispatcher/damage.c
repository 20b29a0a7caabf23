/*
 * damage.c - jobs whose word in the lease table was overwritten by a worker gone wrong.
 */
#include "dispatcher/damage.h"

#include "base/clock.h"
#include "base/log.h"
#include "dispatcher/conclude.h"
#include "dispatcher/state.h"
#include "process/process.h"
#include "process/scoreboard.h"

/* For a worker to show what it has just started, and for us to be told of a worker. */
#define PATIENCE USEC_PER_SEC

/* For a worker that has lost its slot as well to end: it may be the one that runs the job. */
#define LONG_PATIENCE (10 * USEC_PER_SEC)

static bool is_wrong(const struct dispatcher *dispatcher, const struct held_job *held)
{
    uint32_t serial;

    switch (lease_table_state(dispatcher->process->leases, held->hold, &serial)) {
    case HOLD_HANDED:
        return false;
    case HOLD_STARTED:
    case HOLD_FINISHED:
        return !workers_find(&dispatcher->workers, serial);
    case HOLD_FREE:
    case HOLD_REVOKED: /* not by us: it would be concluded */
    case HOLD_UNKNOWN:
        break;
    }
    return true;
}

static bool shows(const struct scoreboard *board, size_t index, const struct slot *slot,
                  struct hold hold)
{
    struct slot_job job;

    for (size_t place = 0; place < slot->place_extent; place++) {
        if (scoreboard_read_job(board, index, place, &job) && hold_equal(job.hold, hold))
            return true;
    }
    return false;
}

/* The living worker that shows this job as its own; NULL: none. */
static const struct worker_link *find_runner(const struct dispatcher *dispatcher, struct hold hold)
{
    const struct scoreboard *board = dispatcher->process->scoreboard;
    struct slot slot;

    for (size_t i = 0; i < scoreboard_slots(board); i++) {
        if (!scoreboard_read(board, i, &slot) || slot.state != SLOT_RUNNING ||
            !shows(board, i, &slot, hold))
            continue;
        const struct worker_link *link = workers_find(&dispatcher->workers, slot.serial);

        if (link && !link->has_ended)
            return link;
    }
    return NULL;
}

static bool shows_itself(const struct dispatcher *dispatcher, uint32_t serial)
{
    const struct scoreboard *board = dispatcher->process->scoreboard;
    struct slot slot;

    for (size_t i = 0; i < scoreboard_slots(board); i++) {
        if (scoreboard_read(board, i, &slot) && slot.serial == serial)
            return true;
    }
    return false;
}

static usec_t patience(const struct dispatcher *dispatcher)
{
    for (const struct worker_link *link = dispatcher->workers.first; link; link = link->next) {
        if (!link->has_ended && !shows_itself(dispatcher, link->serial))
            return LONG_PATIENCE;
    }
    return PATIENCE;
}

static bool set_right(struct dispatcher *dispatcher, struct held_job *held, struct error *err)
{
    const struct worker_link *runner = find_runner(dispatcher, held->hold);

    held->wrong_since = 0;
    if (runner)
        lease_table_mend(dispatcher->process->leases, held->hold, runner->serial);
    else if (held->state == HELD_STRAY)
        conclude_silently(dispatcher, held);
    else
        return conclude_release(dispatcher, held, err);
    return true;
}

bool damage_check(struct dispatcher *dispatcher, struct error *err)
{
    const usec_t now = clock_boot();
    struct held_job *held;
    size_t mended = 0;

    for (size_t i = 0; (held = held_jobs_next(&dispatcher->held_jobs, &i));) {
        if (held_job_is_concluded(held) || !is_wrong(dispatcher, held)) {
            held->wrong_since = 0;
            continue;
        }
        if (held->wrong_since == 0)
            held->wrong_since = now;
        if (now - held->wrong_since < PATIENCE || now - held->wrong_since < patience(dispatcher))
            continue;
        if (!set_right(dispatcher, held, err))
            return false;
        mended++;
    }
    if (mended > 0)
        log_error("leases_damaged", "jobs=%zu error=%s", mended,
                  "a worker has overwritten memory that it shares with others");
    return true;
}

static bool is_unknown(const struct dispatcher *dispatcher, const struct held_job *held)
{
    return held && !held_job_is_concluded(held) &&
           lease_table_state(dispatcher->process->leases, held->hold, NULL) == HOLD_UNKNOWN;
}

struct held_job *damage_find_culprit(const struct dispatcher *dispatcher,
                                     const struct worker_link *link)
{
    struct held_job *held = held_jobs_find(&dispatcher->held_jobs, link->end.hold);
    struct held_job *oldest = NULL;

    if (is_unknown(dispatcher, held))
        return held;
    for (size_t i = 0; (held = held_jobs_next(&dispatcher->held_jobs, &i));) {
        if ((!oldest || held->number < oldest->number) && is_unknown(dispatcher, held) &&
            !find_runner(dispatcher, held->hold))
            oldest = held;
    }
    return oldest;
}

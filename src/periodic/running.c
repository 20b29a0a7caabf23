/*
 * running.c - what the workers show of the jobs that they run, as of one look at the scoreboard.
 *
 * A worker may write anything into its slot. What it shows counts only if it has started that job.
 */
#include "periodic/running.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

void running_done(struct running *running)
{
    free(running->jobs);
    free(running->by_entry);
    *running = (struct running){0};
}

static bool prepare(struct running *running, size_t entries, struct error *err)
{
    running->count = 0;
    if (!running->by_entry) {
        running->by_entry = calloc(entries, sizeof *running->by_entry);
        running->entries = entries;
    } else {
        memset(running->by_entry, 0, entries * sizeof *running->by_entry);
    }
    return running->by_entry || error_no_memory(err);
}

static bool make_room(struct running *running, struct error *err)
{
    if (running->count < running->capacity)
        return true;
    const size_t capacity = 2 * running->capacity + 1;
    struct running_job *jobs = reallocarray(running->jobs, capacity, sizeof *jobs);

    if (!jobs)
        return error_no_memory(err);
    running->jobs = jobs;
    running->capacity = capacity;
    return true;
}

static bool is_its_own(const struct lease_table *leases, const struct slot *slot,
                       const struct slot_job *job)
{
    uint32_t serial;

    return lease_table_state(leases, job->hold, &serial) == HOLD_STARTED && serial == slot->serial;
}

static bool read_jobs(struct running *running, const struct scoreboard *board, size_t index,
                      const struct slot *slot, const struct lease_table *leases, struct error *err)
{
    for (size_t place = 0; place < slot->place_extent; place++) {
        if (!make_room(running, err))
            return false;
        struct running_job *item = &running->jobs[running->count];

        if (!scoreboard_read_job(board, index, place, &item->job) ||
            !is_its_own(leases, slot, &item->job))
            continue;
        item->worker = slot->number;
        running->by_entry[item->job.hold.entry] = ++running->count;
    }
    return true;
}

bool running_read(struct running *running, const struct scoreboard *board,
                  const struct lease_table *leases, struct error *err)
{
    struct slot slot;

    if (!prepare(running, lease_table_capacity(leases), err))
        return false;
    for (size_t i = 0; i < scoreboard_slots(board); i++) {
        if (scoreboard_read(board, i, &slot) && slot.state == SLOT_RUNNING &&
            !read_jobs(running, board, i, &slot, leases, err))
            return false;
    }
    return true;
}

const struct running_job *running_find(const struct running *running, struct hold hold)
{
    const size_t number = hold.entry < running->entries ? running->by_entry[hold.entry] : 0;
    const struct running_job *item = number > 0 ? &running->jobs[number - 1] : NULL;

    return item && hold_equal(item->job.hold, hold) ? item : NULL;
}

/*
 * staying.c - the children of this worker that are spared when a run is cleared up after.
 */
#include "worker/staying.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "process/orphans.h"

#include <assert.h>
#include <stdlib.h>

#define PAUSE (USEC_PER_MSEC / 5)

bool staying_make_room(struct staying *staying, struct error *err)
{
    if (staying->count < staying->capacity)
        return true;
    const size_t capacity = 2 * staying->capacity + 1;
    pid_t *pids = reallocarray(staying->pids, capacity, sizeof *pids);

    if (!pids)
        return error_no_memory(err);
    staying->pids = pids;
    staying->capacity = capacity;
    return true;
}

void staying_add(struct staying *staying, pid_t pid)
{
    assert(staying->count < staying->capacity);
    staying->pids[staying->count++] = pid;
}

void staying_remove(struct staying *staying, pid_t pid)
{
    for (size_t i = 0; i < staying->count; i++) {
        if (staying->pids[i] == pid)
            staying->pids[i] = staying->pids[--staying->count];
    }
}

void staying_done(struct staying *staying)
{
    free(staying->pids);
    *staying = (struct staying){0};
}

static bool has(const struct staying *staying, pid_t pid)
{
    for (size_t i = 0; i < staying->count; i++) {
        if (staying->pids[i] == pid)
            return true;
    }
    return false;
}

bool staying_add_children(struct staying *staying, struct error *err)
{
    AUTO_FREE pid_t *pids = NULL;
    size_t count = 0;

    if (!orphans_list(&pids, &count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (has(staying, pids[i]))
            continue;
        if (!staying_make_room(staying, err))
            return false;
        staying_add(staying, pids[i]);
    }
    return true;
}

bool staying_kill_others(const struct staying *staying, struct error *err)
{
    struct usage usage = {0};
    bool left = true;

    while (orphans_kill(staying->pids, staying->count, &usage, &left, err)) {
        if (!left)
            return true;
        clock_sleep(PAUSE);
    }
    return false;
}

/*
 * staying.c - the children of this worker that are spared when a run is cleared up after.
 */
#include "worker/staying.h"

#include "base/error.h"

#include <assert.h>
#include <stdlib.h>

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

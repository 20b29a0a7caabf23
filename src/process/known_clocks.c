/*
 * known_clocks.c - what each service has learnt of the database's clock.
 *
 * Word by word, in an order in which every beginning of it is true. A step is first two offsets
 * that nobody goes by yet; then the moment until which they count; then the new offset. Whoever
 * reads the old offset, because the writer was killed, sees the step by itself.
 */
#include "process/known_clocks.h"

#include "base/error.h"
#include "job/timekeeper.h"
#include "process/shared_memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

struct known_clock {
    _Atomic usec_t low, high, until, offset;
    _Atomic bool is_set;
};

struct known_clocks {
    size_t size; /* in whole pages */
    unsigned char *memory;
};

bool known_clocks_open(size_t services, struct known_clocks **clocks_out, struct error *err)
{
    struct known_clocks *clocks = calloc(1, sizeof *clocks);

    if (!clocks)
        return error_no_memory(err);
    clocks->size = shared_memory_pages(services * sizeof(struct known_clock));
    if (!shared_memory_map(clocks->size, "the known clocks", &clocks->memory, err)) {
        free(clocks);
        return false;
    }
    *clocks_out = clocks;
    return true;
}

void known_clocks_close(struct known_clocks **clocks)
{
    if (*clocks) {
        munmap((*clocks)->memory, (*clocks)->size);
        free(*clocks);
    }
    *clocks = NULL;
}

struct known_clock *known_clocks_of(struct known_clocks *clocks, size_t service)
{
    return (struct known_clock *)(void *)clocks->memory + service;
}

bool known_clocks_restrict(struct known_clocks *clocks, struct error *err)
{
    if (munmap(clocks->memory, clocks->size))
        return error_errno(err, TH_E_INTERNAL, errno, "unmap the known clocks");
    return true;
}

void known_clock_keep(struct known_clock *clock, const struct timekeeper *keeper)
{
    if (!keeper->is_set)
        return;
    atomic_store_explicit(&clock->low, keeper->low, memory_order_relaxed);
    atomic_store_explicit(&clock->high, keeper->high, memory_order_relaxed);
    atomic_store_explicit(&clock->until, keeper->until, memory_order_release);
    atomic_store_explicit(&clock->offset, keeper->offset, memory_order_release);
    atomic_store_explicit(&clock->is_set, true, memory_order_release);
}

void known_clock_recall(const struct known_clock *clock, struct timekeeper *keeper)
{
    keeper->is_set = atomic_load_explicit(&clock->is_set, memory_order_acquire);
    keeper->offset = atomic_load_explicit(&clock->offset, memory_order_acquire);
    keeper->until = atomic_load_explicit(&clock->until, memory_order_acquire);
    keeper->high = atomic_load_explicit(&clock->high, memory_order_relaxed);
    keeper->low = atomic_load_explicit(&clock->low, memory_order_relaxed);
    keeper->width = USEC_MAX; /* whatever is learnt next is known better */
}

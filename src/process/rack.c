/*
 * rack.c - shared memory: the tasks that wait for a worker, in the order of their turn.
 *
 * A ring of holds, and for each entry of the lease table a place for its task.
 *
 * Invariants:
 *   - A place is filled before its hold is in the ring, and the ring before `end` is moved on.
 *   - A task that nobody has started is in the ring: its hold was among the last `capacity` that
 *     were put, for tasks are started in order, and each has an entry of its own.
 *   - What a worker copies out of a place belongs to the hold if the hold is still its own after
 *     copying: only then the dispatcher has not used the entry again.
 */
#include "process/rack.h"

#include "base/error.h"
#include "process/shared_memory.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#define PLACE_SIZE 1024

/* What fits in here needs no system call. */
struct place {
    uint32_t length; /* 0: the task is in the socket */
    uint32_t handler;
    unsigned char task[PLACE_SIZE - 2 * sizeof(uint32_t)];
};

struct shared {
    _Atomic uint64_t end; /* how many were ever put */
    _Atomic uint64_t ring[];
};

/* Each process has its own copy of this; the memory is shared. */
struct rack {
    size_t capacity;
    size_t size;   /* of the memory, in whole pages */
    uint64_t next; /* of a worker: how many it has looked at */
    int bell;
    struct shared *shared;
    struct place *places;
};

static bool map(struct rack *rack, struct error *err)
{
    const size_t ring =
        shared_memory_pages(sizeof *rack->shared + rack->capacity * sizeof(uint64_t));

    rack->size = ring + shared_memory_pages(rack->capacity * sizeof *rack->places);
    unsigned char *memory;

    if (!shared_memory_map(rack->size, "the tasks", &memory, err))
        return false;
    rack->shared = (void *)memory;
    rack->places = (void *)(memory + ring);
    return true;
}

bool rack_open(size_t capacity, struct rack **rack_out, struct error *err)
{
    struct rack *rack = calloc(1, sizeof *rack);

    if (!rack)
        return error_no_memory(err);
    rack->capacity = capacity;
    rack->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC | EFD_SEMAPHORE);
    if (rack->bell < 0)
        error_errno(err, TH_E_INTERNAL, errno, "open an eventfd");
    if (rack->bell < 0 || !map(rack, err)) {
        rack_close(&rack);
        return false;
    }
    *rack_out = rack;
    return true;
}

void rack_close(struct rack **rack)
{
    struct rack *closed = *rack;

    if (!closed)
        return;
    if (closed->shared)
        munmap(closed->shared, closed->size);
    if (closed->bell >= 0)
        close(closed->bell);
    free(closed);
    *rack = NULL;
}

int rack_bell(const struct rack *rack)
{
    return rack->bell;
}

/* ---- the dispatcher ---- */

static void publish(struct rack *rack, struct hold hold)
{
    struct shared *shared = rack->shared;
    const uint64_t end = atomic_load_explicit(&shared->end, memory_order_relaxed);

    atomic_store_explicit(&shared->ring[end % rack->capacity],
                          (uint64_t)hold.entry << 32 | hold.generation, memory_order_relaxed);
    /* Sequentially consistent: whoever falls asleep looks at it after having said so, and we look
     * for sleepers after this. */
    atomic_store(&shared->end, end + 1);
}

bool rack_put(struct rack *rack, const struct task *task)
{
    assert(task->hold.entry < rack->capacity);
    struct place *place = &rack->places[task->hold.entry];

    place->length = (uint32_t)task_pack(task, place->task, sizeof place->task);
    place->handler = (uint32_t)task->handler;
    if (place->length == 0)
        return false;
    publish(rack, task->hold);
    return true;
}

void rack_note(struct rack *rack, const struct task *task)
{
    assert(task->hold.entry < rack->capacity);
    rack->places[task->hold.entry].length = 0;
    rack->places[task->hold.entry].handler = (uint32_t)task->handler;
    publish(rack, task->hold);
}

bool rack_ring(struct rack *rack, size_t sleepers, struct error *err)
{
    const uint64_t one = 1;

    /* One write wakes one of those that watch it; a count of two would wake one as well. */
    for (size_t i = 0; i < sleepers; i++) {
        if (write(rack->bell, &one, sizeof one) < 0 && errno != EAGAIN)
            return error_errno(err, TH_E_INTERNAL, errno, "wake a worker");
    }
    return true;
}

/* ---- workers ---- */

bool rack_restrict(struct rack *rack, struct error *err)
{
    if (mprotect(rack->shared, rack->size, PROT_READ))
        return error_errno(err, TH_E_INTERNAL, errno, "write-protect the tasks");
    return true;
}

/* What is read of a place belongs to the hold if nobody has started it even afterwards. */
static bool read_head(const struct rack *rack, const struct lease_table *leases, struct hold hold,
                      struct rack_head *head_out)
{
    const struct place *place = &rack->places[hold.entry];

    if (lease_table_state(leases, hold, NULL) != HOLD_HANDED)
        return false;
    *head_out = (struct rack_head){hold, place->handler, place->length == 0};
    atomic_thread_fence(memory_order_acquire);
    return lease_table_state(leases, hold, NULL) == HOLD_HANDED;
}

bool rack_look(struct rack *rack, const struct lease_table *leases, struct rack_head *head_out)
{
    const uint64_t end = atomic_load(&rack->shared->end);

    if (end - rack->next > rack->capacity) /* one that was busy for long, or has just begun */
        rack->next = end - rack->capacity;
    for (; rack->next < end; rack->next++) {
        const uint64_t word = atomic_load_explicit(&rack->shared->ring[rack->next % rack->capacity],
                                                   memory_order_relaxed);
        const struct hold hold = {(uint32_t)(word >> 32), (uint32_t)word};

        if (read_head(rack, leases, hold, head_out))
            return true;
    }
    return false;
}

void rack_pass(struct rack *rack)
{
    rack->next++;
}

bool rack_has_more(const struct rack *rack)
{
    return atomic_load(&rack->shared->end) != rack->next;
}

bool rack_read(const struct rack *rack, struct hold hold, struct arena *arena,
               struct task *task_out, struct error *err)
{
    const struct place *place = &rack->places[hold.entry];
    const uint32_t length = place->length;

    if (length > sizeof place->task)
        return error_set(err, TH_E_INTERNAL, "a task of %u bytes where it cannot be", length);
    return task_unpack((struct bytes){place->task, length}, arena, task_out, err);
}

void rack_hear(const struct rack *rack)
{
    uint64_t count;

    while (read(rack->bell, &count, sizeof count) < 0 && errno == EINTR)
        continue;
}

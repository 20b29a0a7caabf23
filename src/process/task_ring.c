/*
 * task_ring.c - shared memory: the tasks that wait for a worker, in the order of their turn.
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
#include "process/task_ring.h"

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
    _Atomic uint64_t turns[];
};

/* Each process has its own copy of this; the memory is shared. */
struct task_ring {
    size_t capacity;
    size_t size;   /* of the memory, in whole pages */
    uint64_t next; /* of a worker: how many it has looked at */
    int bell;
    struct shared *shared;
    struct place *places;
};

static bool map(struct task_ring *ring, struct error *err)
{
    const size_t turns =
        shared_memory_pages(sizeof *ring->shared + ring->capacity * sizeof(uint64_t));

    ring->size = turns + shared_memory_pages(ring->capacity * sizeof *ring->places);
    unsigned char *memory;

    if (!shared_memory_map(ring->size, "the tasks", &memory, err))
        return false;
    ring->shared = (void *)memory;
    ring->places = (void *)(memory + turns);
    return true;
}

bool task_ring_open(size_t capacity, struct task_ring **ring_out, struct error *err)
{
    struct task_ring *ring = calloc(1, sizeof *ring);

    if (!ring)
        return error_no_memory(err);
    ring->capacity = capacity;
    ring->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC | EFD_SEMAPHORE);
    if (ring->bell < 0)
        error_errno(err, TH_E_INTERNAL, errno, "open an eventfd");
    if (ring->bell < 0 || !map(ring, err)) {
        task_ring_close(&ring);
        return false;
    }
    *ring_out = ring;
    return true;
}

void task_ring_close(struct task_ring **ring)
{
    struct task_ring *closed = *ring;

    if (!closed)
        return;
    if (closed->shared)
        munmap(closed->shared, closed->size);
    if (closed->bell >= 0)
        close(closed->bell);
    free(closed);
    *ring = NULL;
}

int task_ring_bell(const struct task_ring *ring)
{
    return ring->bell;
}

/* ---- the dispatcher ---- */

static void publish(struct task_ring *ring, struct hold hold)
{
    struct shared *shared = ring->shared;
    const uint64_t end = atomic_load_explicit(&shared->end, memory_order_relaxed);

    atomic_store_explicit(&shared->turns[end % ring->capacity],
                          (uint64_t)hold.entry << 32 | hold.generation, memory_order_relaxed);
    /* Sequentially consistent: whoever falls asleep looks at it after having said so, and we look
     * for sleepers after this. */
    atomic_store(&shared->end, end + 1);
}

bool task_ring_put(struct task_ring *ring, const struct task *task)
{
    assert(task->hold.entry < ring->capacity);
    struct place *place = &ring->places[task->hold.entry];

    place->length = (uint32_t)task_pack(task, place->task, sizeof place->task);
    place->handler = (uint32_t)task->handler;
    if (place->length == 0)
        return false;
    publish(ring, task->hold);
    return true;
}

void task_ring_note(struct task_ring *ring, const struct task *task)
{
    assert(task->hold.entry < ring->capacity);
    ring->places[task->hold.entry].length = 0;
    ring->places[task->hold.entry].handler = (uint32_t)task->handler;
    publish(ring, task->hold);
}

bool task_ring_wake(struct task_ring *ring, size_t sleepers, struct error *err)
{
    const uint64_t one = 1;

    /* One write wakes one of those that watch it; a count of two would wake one as well. */
    for (size_t i = 0; i < sleepers; i++) {
        if (write(ring->bell, &one, sizeof one) < 0 && errno != EAGAIN)
            return error_errno(err, TH_E_INTERNAL, errno, "wake a worker");
    }
    return true;
}

/* ---- workers ---- */

bool task_ring_restrict(struct task_ring *ring, struct error *err)
{
    if (mprotect(ring->shared, ring->size, PROT_READ))
        return error_errno(err, TH_E_INTERNAL, errno, "write-protect the tasks");
    return true;
}

/* What is read of a place belongs to the hold if nobody has started it even afterwards. */
static bool read_head(const struct task_ring *ring, const struct lease_table *leases,
                      struct hold hold, struct task_head *head_out)
{
    const struct place *place = &ring->places[hold.entry];

    if (lease_table_state(leases, hold, NULL) != HOLD_HANDED)
        return false;
    *head_out = (struct task_head){hold, place->handler, place->length == 0};
    atomic_thread_fence(memory_order_acquire);
    return lease_table_state(leases, hold, NULL) == HOLD_HANDED;
}

bool task_ring_look(struct task_ring *ring, const struct lease_table *leases,
                    struct task_head *head_out)
{
    const uint64_t end = atomic_load(&ring->shared->end);

    if (end - ring->next > ring->capacity) /* one that was busy for long, or has just begun */
        ring->next = end - ring->capacity;
    for (; ring->next < end; ring->next++) {
        const uint64_t word = atomic_load_explicit(
            &ring->shared->turns[ring->next % ring->capacity], memory_order_relaxed);
        const struct hold hold = {(uint32_t)(word >> 32), (uint32_t)word};

        if (read_head(ring, leases, hold, head_out))
            return true;
    }
    return false;
}

void task_ring_pass(struct task_ring *ring)
{
    ring->next++;
}

bool task_ring_has_more(const struct task_ring *ring)
{
    return atomic_load(&ring->shared->end) != ring->next;
}

bool task_ring_read(const struct task_ring *ring, struct hold hold, struct arena *arena,
                    struct task *task_out, struct error *err)
{
    const struct place *place = &ring->places[hold.entry];
    const uint32_t length = place->length;

    if (length > sizeof place->task)
        return error_set(err, TH_E_INTERNAL, "a task of %u bytes where it cannot be", length);
    return task_unpack((struct bytes){place->task, length}, arena, task_out, err);
}

void task_ring_hear(const struct task_ring *ring)
{
    uint64_t count;

    while (read(ring->bell, &count, sizeof count) < 0 && errno == EINTR)
        continue;
}

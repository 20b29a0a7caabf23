/*
 * result_ring.c - shared memory: results for the dispatcher, a ring per worker; who sleeps.
 *
 * A ring of cells has two counts: `put` is written by the worker, in its ring, `taken` by the
 * dispatcher, on its desk.
 *
 * Invariants:
 *   - A cell is filled before `put` is moved on: a worker that is killed while it fills one leaves
 *     no half of a result.
 *   - Workers cannot write to the desk. Whatever `put` says, no more is read of a ring than it has
 *     cells, and none of it twice.
 */
#include "process/result_ring.h"

#include "base/error.h"
#include "process/shared_memory.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CELLS     2048 /* as many as two quick workers are given at once */
#define CELL_SIZE 256

struct cell {
    uint32_t length;
    unsigned char result[CELL_SIZE - sizeof(uint32_t)];
};

struct result_ring {
    _Atomic uint64_t put;
    _Atomic uint32_t is_asleep;
    struct cell cells[CELLS];
};

/* On a line of its own: each is read by another worker. */
struct count {
    _Alignas(64) _Atomic uint64_t taken;
};

struct desk {
    _Atomic uint32_t call;
    struct count counts[]; /* of each ring */
};

/* How far the dispatcher is with a ring. */
struct progress {
    bool is_used;
    uint64_t taken, looked;
};

/* Each process has its own copy of this; the memory is shared. */
struct result_rings {
    size_t count;
    size_t extent;             /* the dispatcher uses none above it */
    size_t desk_size;          /* in whole pages, as is the next */
    size_t ring_size;          /* those that nobody uses take no memory */
    struct desk *desk;         /* on pages of its own: workers only read it */
    unsigned char *memory;     /* the rings */
    struct progress *progress; /* owned; of each ring; the dispatcher's */
    bool *is_issued;           /* owned; each ring; the master's */
};

static struct result_ring *ring_of(const struct result_rings *rings, int ring)
{
    assert(ring > 0 && (size_t)ring <= rings->count);
    return (void *)(rings->memory + (size_t)(ring - 1) * rings->ring_size);
}

static _Atomic uint64_t *taken_of(const struct result_rings *rings, int ring)
{
    return &rings->desk->counts[ring - 1].taken;
}

static bool map(struct result_rings *rings, struct error *err)
{
    unsigned char *memory;

    if (!shared_memory_map(rings->desk_size + rings->count * rings->ring_size, "the results",
                           &memory, err))
        return false;
    rings->desk = (void *)memory;
    rings->memory = memory + rings->desk_size;
    return true;
}

bool result_rings_open(size_t count, struct result_rings **rings_out, struct error *err)
{
    struct result_rings *rings = calloc(1, sizeof *rings);

    if (!rings)
        return error_no_memory(err);
    rings->count = count;
    rings->desk_size = shared_memory_pages(sizeof(struct desk) + count * sizeof(struct count));
    rings->ring_size = shared_memory_pages(sizeof(struct result_ring));
    rings->progress = calloc(count, sizeof *rings->progress);
    rings->is_issued = calloc(count, sizeof *rings->is_issued);
    const bool has_memory = rings->progress && rings->is_issued;
    if (!has_memory)
        error_no_memory(err);
    if (!has_memory || !map(rings, err)) {
        result_rings_close(&rings);
        return false;
    }
    *rings_out = rings;
    return true;
}

void result_rings_close(struct result_rings **rings)
{
    struct result_rings *closed = *rings;

    if (!closed)
        return;
    if (closed->desk)
        munmap(closed->desk, closed->desk_size + closed->count * closed->ring_size);
    free(closed->progress);
    free(closed->is_issued);
    free(closed);
    *rings = NULL;
}

/* ---- the master ---- */

/* Its memory is given back to the system, and what comes in its place is zeroed. */
static bool make_blank(struct result_rings *rings, int ring)
{
    if (madvise(ring_of(rings, ring), rings->ring_size, MADV_REMOVE))
        return false;
    atomic_store(taken_of(rings, ring), 0);
    return true;
}

int result_rings_issue(struct result_rings *rings)
{
    for (size_t i = 0; i < rings->count; i++) {
        if (rings->is_issued[i] || !make_blank(rings, (int)i + 1))
            continue;
        rings->is_issued[i] = true;
        return (int)i + 1;
    }
    return 0;
}

void result_ring_leave(struct result_rings *rings, int ring)
{
    result_ring_set_asleep(rings, ring, false);
}

void result_rings_return(struct result_rings *rings, int ring)
{
    if (ring > 0)
        rings->is_issued[ring - 1] = false;
}

/* ---- a worker ---- */

static bool unmap(unsigned char *from, const unsigned char *to, struct error *err)
{
    if (from < to && munmap(from, (size_t)(to - from)))
        return error_errno(err, TH_E_INTERNAL, errno, "unmap the results of others");
    return true;
}

bool result_rings_restrict(struct result_rings *rings, int ring, struct error *err)
{
    unsigned char *own = (unsigned char *)ring_of(rings, ring);

    if (mprotect(rings->desk, rings->desk_size, PROT_READ))
        return error_errno(err, TH_E_INTERNAL, errno, "write-protect the dispatcher's desk");
    return unmap(rings->memory, own, err) &&
           unmap(own + rings->ring_size, rings->memory + rings->count * rings->ring_size, err);
}

bool result_ring_put(struct result_rings *rings, int number, const struct result *result)
{
    struct result_ring *ring = ring_of(rings, number);
    const uint64_t put = atomic_load_explicit(&ring->put, memory_order_relaxed);
    struct cell *cell = &ring->cells[put % CELLS];

    if (put - atomic_load_explicit(taken_of(rings, number), memory_order_acquire) >= CELLS)
        return false;
    cell->length = (uint32_t)result_pack(result, cell->result, sizeof cell->result);
    if (cell->length == 0)
        return false;
    /* Sequentially consistent: the dispatcher says that it sleeps, then looks at this; we write
     * this, then look whether it sleeps. */
    atomic_store(&ring->put, put + 1);
    return true;
}

enum result_call result_rings_call(const struct result_rings *rings)
{
    return (enum result_call)atomic_load(&rings->desk->call);
}

void result_ring_set_asleep(struct result_rings *rings, int ring, bool is_asleep)
{
    atomic_store(&ring_of(rings, ring)->is_asleep, is_asleep);
}

/* ---- the dispatcher ---- */

void result_ring_use(struct result_rings *rings, int ring)
{
    const uint64_t taken = atomic_load(taken_of(rings, ring));

    rings->progress[ring - 1] = (struct progress){true, taken, taken};
    if (rings->extent < (size_t)ring)
        rings->extent = (size_t)ring;
}

void result_ring_drop(struct result_rings *rings, int ring)
{
    rings->progress[ring - 1].is_used = false;
}

/* A worker gone wrong may have written any count: then nothing more is read of its ring. */
static bool has_news(const struct result_rings *rings, int ring)
{
    const struct progress *progress = &rings->progress[ring - 1];
    const uint64_t full = atomic_load(&ring_of(rings, ring)->put) - progress->taken;

    return full <= CELLS && progress->looked - progress->taken < full;
}

enum delivery result_ring_look(struct result_rings *rings, int ring, struct arena *arena,
                               struct result *result_out, struct error *err)
{
    struct progress *progress = &rings->progress[ring - 1];

    if (!has_news(rings, ring))
        return DELIVERY_NONE;
    const struct cell *cell = &ring_of(rings, ring)->cells[progress->looked++ % CELLS];
    unsigned char copy[sizeof cell->result]; /* nobody changes it while it is checked */
    const uint32_t length = cell->length;

    if (length > sizeof copy) {
        error_set(err, TH_E_INTERNAL, "a result of %u bytes in a ring", length);
        return DELIVERY_FAILED;
    }
    memcpy(copy, cell->result, length);
    return result_unpack((struct bytes){copy, length}, arena, result_out, err) ? DELIVERY_DONE
                                                                               : DELIVERY_FAILED;
}

size_t result_ring_looked(const struct result_rings *rings, int ring)
{
    const struct progress *progress = &rings->progress[ring - 1];

    return (size_t)(progress->looked - progress->taken);
}

bool result_ring_is_filling(const struct result_rings *rings, int ring)
{
    return result_ring_looked(rings, ring) >= CELLS / 2;
}

void result_ring_take(struct result_rings *rings, int ring)
{
    result_ring_take_first(rings, ring, result_ring_looked(rings, ring));
}

void result_ring_take_first(struct result_rings *rings, int ring, size_t count)
{
    struct progress *progress = &rings->progress[ring - 1];

    assert(count <= result_ring_looked(rings, ring));
    if (count == 0)
        return;
    progress->taken += count;
    atomic_store_explicit(taken_of(rings, ring), progress->taken, memory_order_release);
}

bool result_rings_have_news(const struct result_rings *rings)
{
    for (size_t i = 0; i < rings->extent; i++) {
        if (rings->progress[i].is_used && has_news(rings, (int)i + 1))
            return true;
    }
    return false;
}

void result_rings_set_call(struct result_rings *rings, enum result_call call)
{
    atomic_store(&rings->desk->call, call);
}

size_t result_rings_sleepers(const struct result_rings *rings)
{
    size_t sleepers = 0;

    for (size_t i = 0; i < rings->extent; i++) {
        if (rings->progress[i].is_used)
            sleepers += atomic_load(&ring_of(rings, (int)i + 1)->is_asleep) != 0;
    }
    return sleepers;
}

/*
 * tray.c - shared memory: results that wait for the dispatcher, a tray per worker; who sleeps.
 *
 * A tray is a ring of cells with two counts: `put` is written by the worker, `taken` by the
 * dispatcher.
 *
 * Invariants:
 *   - A cell is filled before `put` is moved on: a worker that is killed while it fills one leaves
 *     no half of a result.
 *   - The dispatcher goes by its own copy of what it has taken; the worker could have written to
 *     the other one.
 */
#include "process/tray.h"

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

struct tray {
    _Atomic uint64_t put;
    _Atomic uint64_t taken;
    _Atomic uint32_t is_asleep;
    struct cell cells[CELLS];
};

struct desk {
    _Atomic uint32_t call;
};

/* How far the dispatcher is with a tray. */
struct progress {
    uint64_t taken, looked;
};

/* Each process has its own copy of this; the memory is shared. */
struct trays {
    size_t seats;
    size_t used;               /* those that the dispatcher looks at: the others take no memory */
    size_t tray_size;          /* in whole pages */
    struct desk *desk;         /* on a page of its own: workers only read it */
    unsigned char *memory;     /* the trays */
    struct progress *progress; /* owned; of each tray */
};

/* A page. */
static size_t desk_size(void)
{
    return shared_memory_pages(sizeof(struct desk));
}

static struct tray *tray_of(const struct trays *trays, int worker)
{
    assert(worker > 0 && (size_t)worker <= trays->seats);
    return (void *)(trays->memory + (size_t)(worker - 1) * trays->tray_size);
}

static bool map(struct trays *trays, struct error *err)
{
    unsigned char *memory;

    if (!shared_memory_map(desk_size() + trays->seats * trays->tray_size, "the results", &memory,
                           err))
        return false;
    trays->desk = (void *)memory;
    trays->memory = memory + desk_size();
    return true;
}

bool trays_open(size_t seats, struct trays **trays_out, struct error *err)
{
    struct trays *trays = calloc(1, sizeof *trays);

    if (!trays)
        return error_no_memory(err);
    trays->seats = seats;
    trays->tray_size = shared_memory_pages(sizeof(struct tray));
    trays->progress = calloc(seats, sizeof *trays->progress);
    if (!trays->progress)
        error_no_memory(err);
    if (!trays->progress || !map(trays, err)) {
        trays_close(&trays);
        return false;
    }
    *trays_out = trays;
    return true;
}

void trays_close(struct trays **trays)
{
    struct trays *closed = *trays;

    if (!closed)
        return;
    if (closed->desk)
        munmap(closed->desk, desk_size() + closed->seats * closed->tray_size);
    free(closed->progress);
    free(closed);
    *trays = NULL;
}

/* ---- a worker ---- */

static bool unmap(unsigned char *from, const unsigned char *to, struct error *err)
{
    if (from < to && munmap(from, (size_t)(to - from)))
        return error_errno(err, TH_E_INTERNAL, errno, "unmap the results of others");
    return true;
}

bool trays_restrict(struct trays *trays, int worker, struct error *err)
{
    unsigned char *own = (unsigned char *)tray_of(trays, worker);

    if (mprotect(trays->desk, desk_size(), PROT_READ))
        return error_errno(err, TH_E_INTERNAL, errno, "write-protect the dispatcher's desk");
    return unmap(trays->memory, own, err) &&
           unmap(own + trays->tray_size, trays->memory + trays->seats * trays->tray_size, err);
}

bool tray_put(struct trays *trays, int worker, const struct result *result)
{
    struct tray *tray = tray_of(trays, worker);
    const uint64_t put = atomic_load_explicit(&tray->put, memory_order_relaxed);
    struct cell *cell = &tray->cells[put % CELLS];

    if (put - atomic_load_explicit(&tray->taken, memory_order_acquire) >= CELLS)
        return false;
    cell->length = (uint32_t)result_pack(result, cell->result, sizeof cell->result);
    if (cell->length == 0)
        return false;
    /* Sequentially consistent: the dispatcher says that it sleeps, then looks at this; we write
     * this, then look whether it sleeps. */
    atomic_store(&tray->put, put + 1);
    return true;
}

enum tray_call trays_call(const struct trays *trays)
{
    return (enum tray_call)atomic_load(&trays->desk->call);
}

void tray_set_asleep(struct trays *trays, int worker, bool is_asleep)
{
    atomic_store(&tray_of(trays, worker)->is_asleep, is_asleep);
}

/* ---- the dispatcher ---- */

void trays_use(struct trays *trays, int worker)
{
    for (; trays->used < (size_t)worker; trays->used++) {
        const uint64_t taken = atomic_load(&tray_of(trays, (int)trays->used + 1)->taken);

        trays->progress[trays->used] = (struct progress){taken, taken};
    }
}

/* A worker gone wrong may have written any count: then nothing more is read of its tray. */
static bool has_news(const struct trays *trays, int worker)
{
    const struct progress *progress = &trays->progress[worker - 1];
    const uint64_t put = atomic_load(&tray_of(trays, worker)->put);

    return put - progress->looked > 0 && put - progress->taken <= CELLS;
}

enum delivery tray_look(struct trays *trays, int worker, struct arena *arena,
                        struct result *result_out, struct error *err)
{
    struct progress *progress = &trays->progress[worker - 1];

    if (!has_news(trays, worker))
        return DELIVERY_NONE;
    const struct cell *cell = &tray_of(trays, worker)->cells[progress->looked++ % CELLS];
    unsigned char copy[sizeof cell->result]; /* nobody changes it while it is checked */
    const uint32_t length = cell->length;

    if (length > sizeof copy) {
        error_set(err, TH_E_INTERNAL, "a result of %u bytes in a tray", length);
        return DELIVERY_FAILED;
    }
    memcpy(copy, cell->result, length);
    return result_unpack((struct bytes){copy, length}, arena, result_out, err) ? DELIVERY_DONE
                                                                               : DELIVERY_FAILED;
}

bool tray_is_filling(const struct trays *trays, int worker)
{
    const struct progress *progress = &trays->progress[worker - 1];

    return progress->looked - progress->taken >= CELLS / 2;
}

void tray_take(struct trays *trays, int worker)
{
    struct progress *progress = &trays->progress[worker - 1];

    if (progress->taken == progress->looked)
        return;
    progress->taken = progress->looked;
    atomic_store_explicit(&tray_of(trays, worker)->taken, progress->taken, memory_order_release);
}

bool trays_have_news(const struct trays *trays)
{
    for (size_t i = 0; i < trays->used; i++) {
        if (has_news(trays, (int)i + 1))
            return true;
    }
    return false;
}

void trays_set_call(struct trays *trays, enum tray_call call)
{
    atomic_store(&trays->desk->call, call);
}

size_t trays_sleepers(const struct trays *trays)
{
    size_t sleepers = 0;

    for (size_t i = 0; i < trays->used; i++)
        sleepers += atomic_load(&tray_of(trays, (int)i + 1)->is_asleep) != 0;
    return sleepers;
}

/* ---- the master ---- */

void tray_leave(struct trays *trays, int worker)
{
    tray_set_asleep(trays, worker, false);
}

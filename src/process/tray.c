/*
 * tray.c - shared memory: results that wait for the dispatcher, a tray per worker; who sleeps.
 *
 * A tray is a ring of cells with two counts: `put` is written by the worker, in its tray, `taken`
 * by the dispatcher, on its desk.
 *
 * Invariants:
 *   - A cell is filled before `put` is moved on: a worker that is killed while it fills one leaves
 *     no half of a result.
 *   - Workers cannot write to the desk. Whatever `put` says, no more is read of a tray than it has
 *     cells, and none of it twice.
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
    _Atomic uint32_t is_asleep;
    struct cell cells[CELLS];
};

/* On a line of its own: each is read by another worker. */
struct count {
    _Alignas(64) _Atomic uint64_t taken;
};

struct desk {
    _Atomic uint32_t call;
    struct count counts[]; /* of each tray */
};

/* How far the dispatcher is with a tray. */
struct progress {
    bool is_used;
    uint64_t taken, looked;
};

/* Each process has its own copy of this; the memory is shared. */
struct trays {
    size_t count;
    size_t extent;             /* the dispatcher uses none above it */
    size_t desk_size;          /* in whole pages, as is the next */
    size_t tray_size;          /* those that nobody uses take no memory */
    struct desk *desk;         /* on pages of its own: workers only read it */
    unsigned char *memory;     /* the trays */
    struct progress *progress; /* owned; of each tray; the dispatcher's */
    bool *is_issued;           /* owned; each tray; the master's */
};

static struct tray *tray_of(const struct trays *trays, int tray)
{
    assert(tray > 0 && (size_t)tray <= trays->count);
    return (void *)(trays->memory + (size_t)(tray - 1) * trays->tray_size);
}

static _Atomic uint64_t *taken_of(const struct trays *trays, int tray)
{
    return &trays->desk->counts[tray - 1].taken;
}

static bool map(struct trays *trays, struct error *err)
{
    unsigned char *memory;

    if (!shared_memory_map(trays->desk_size + trays->count * trays->tray_size, "the results",
                           &memory, err))
        return false;
    trays->desk = (void *)memory;
    trays->memory = memory + trays->desk_size;
    return true;
}

bool trays_open(size_t count, struct trays **trays_out, struct error *err)
{
    struct trays *trays = calloc(1, sizeof *trays);

    if (!trays)
        return error_no_memory(err);
    trays->count = count;
    trays->desk_size = shared_memory_pages(sizeof(struct desk) + count * sizeof(struct count));
    trays->tray_size = shared_memory_pages(sizeof(struct tray));
    trays->progress = calloc(count, sizeof *trays->progress);
    trays->is_issued = calloc(count, sizeof *trays->is_issued);
    const bool has_memory = trays->progress && trays->is_issued;
    if (!has_memory)
        error_no_memory(err);
    if (!has_memory || !map(trays, err)) {
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
        munmap(closed->desk, closed->desk_size + closed->count * closed->tray_size);
    free(closed->progress);
    free(closed->is_issued);
    free(closed);
    *trays = NULL;
}

/* ---- the master ---- */

/* Its memory is given back to the system, and what comes in its place is zeroed. */
static bool make_blank(struct trays *trays, int tray)
{
    if (madvise(tray_of(trays, tray), trays->tray_size, MADV_REMOVE))
        return false;
    atomic_store(taken_of(trays, tray), 0);
    return true;
}

int trays_issue(struct trays *trays)
{
    for (size_t i = 0; i < trays->count; i++) {
        if (trays->is_issued[i] || !make_blank(trays, (int)i + 1))
            continue;
        trays->is_issued[i] = true;
        return (int)i + 1;
    }
    return 0;
}

void tray_leave(struct trays *trays, int tray)
{
    tray_set_asleep(trays, tray, false);
}

void trays_return(struct trays *trays, int tray)
{
    if (tray > 0)
        trays->is_issued[tray - 1] = false;
}

/* ---- a worker ---- */

static bool unmap(unsigned char *from, const unsigned char *to, struct error *err)
{
    if (from < to && munmap(from, (size_t)(to - from)))
        return error_errno(err, TH_E_INTERNAL, errno, "unmap the results of others");
    return true;
}

bool trays_restrict(struct trays *trays, int tray, struct error *err)
{
    unsigned char *own = (unsigned char *)tray_of(trays, tray);

    if (mprotect(trays->desk, trays->desk_size, PROT_READ))
        return error_errno(err, TH_E_INTERNAL, errno, "write-protect the dispatcher's desk");
    return unmap(trays->memory, own, err) &&
           unmap(own + trays->tray_size, trays->memory + trays->count * trays->tray_size, err);
}

bool tray_put(struct trays *trays, int number, const struct result *result)
{
    struct tray *tray = tray_of(trays, number);
    const uint64_t put = atomic_load_explicit(&tray->put, memory_order_relaxed);
    struct cell *cell = &tray->cells[put % CELLS];

    if (put - atomic_load_explicit(taken_of(trays, number), memory_order_acquire) >= CELLS)
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

void tray_set_asleep(struct trays *trays, int tray, bool is_asleep)
{
    atomic_store(&tray_of(trays, tray)->is_asleep, is_asleep);
}

/* ---- the dispatcher ---- */

void tray_use(struct trays *trays, int tray)
{
    const uint64_t taken = atomic_load(taken_of(trays, tray));

    trays->progress[tray - 1] = (struct progress){true, taken, taken};
    if (trays->extent < (size_t)tray)
        trays->extent = (size_t)tray;
}

void tray_drop(struct trays *trays, int tray)
{
    trays->progress[tray - 1].is_used = false;
}

/* A worker gone wrong may have written any count: then nothing more is read of its tray. */
static bool has_news(const struct trays *trays, int tray)
{
    const struct progress *progress = &trays->progress[tray - 1];
    const uint64_t full = atomic_load(&tray_of(trays, tray)->put) - progress->taken;

    return full <= CELLS && progress->looked - progress->taken < full;
}

enum delivery tray_look(struct trays *trays, int tray, struct arena *arena,
                        struct result *result_out, struct error *err)
{
    struct progress *progress = &trays->progress[tray - 1];

    if (!has_news(trays, tray))
        return DELIVERY_NONE;
    const struct cell *cell = &tray_of(trays, tray)->cells[progress->looked++ % CELLS];
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

bool tray_is_filling(const struct trays *trays, int tray)
{
    const struct progress *progress = &trays->progress[tray - 1];

    return progress->looked - progress->taken >= CELLS / 2;
}

void tray_take(struct trays *trays, int tray)
{
    struct progress *progress = &trays->progress[tray - 1];

    if (progress->taken == progress->looked)
        return;
    progress->taken = progress->looked;
    atomic_store_explicit(taken_of(trays, tray), progress->taken, memory_order_release);
}

bool trays_have_news(const struct trays *trays)
{
    for (size_t i = 0; i < trays->extent; i++) {
        if (trays->progress[i].is_used && has_news(trays, (int)i + 1))
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

    for (size_t i = 0; i < trays->extent; i++) {
        if (trays->progress[i].is_used)
            sleepers += atomic_load(&tray_of(trays, (int)i + 1)->is_asleep) != 0;
    }
    return sleepers;
}

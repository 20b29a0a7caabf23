/*
 * scoreboard.c - shared memory: what every process and worker is doing.
 *
 * Each slot has a sequence number: odd while its owner writes. A reader copies the slot and keeps
 * the copy if the number was even and is still the same.
 *
 * Invariants:
 *   - A slot has one writer: its owner, and after its death the master, then the next owner.
 *   - An owner that is killed while it writes leaves the number odd; whoever writes next takes it
 *     from there.
 *   - What a reader gets is safe to print, whatever a worker wrote: texts end, counts are in range.
 */
#include "process/scoreboard.h"

#include "base/clock.h"
#include "base/error.h"
#include "process/shared_memory.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SLOTS_MAX ((size_t)1 << 16)

/* How often a reader looks again before it takes the owner for dead. */
#define LOOKS_MAX 1000

_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a lock would stay locked when its holder is killed");

/* One slot, at the start of pages of its own. */
struct cell {
    _Atomic uint32_t sequence;
    struct slot slot;

    /* The mark: the plugin is written last and read first. */
    _Atomic uint32_t plugin;
    _Atomic uint64_t hold; /* entry 32 | generation 32 */
    _Atomic int64_t until;
};

/* Each process has its own copy of this; the memory is shared. */
struct scoreboard {
    size_t slots;
    size_t used;      /* of them */
    size_t cell_size; /* in whole pages */
    unsigned char *memory;
};

static const char *const state_names[] = {
    [SLOT_EMPTY] = "empty",     [SLOT_STARTING] = "starting", [SLOT_IDLE] = "idle",
    [SLOT_RUNNING] = "running", [SLOT_WAITING] = "waiting",   [SLOT_STOPPING] = "stopping",
};

const char *slot_state_name(enum slot_state state)
{
    return state_names[state];
}

/* ---- the mapping ---- */

static struct cell *cell_at(const struct scoreboard *board, size_t index)
{
    assert(index < board->slots);
    return (void *)(board->memory + index * board->cell_size);
}

bool scoreboard_open(size_t slots, struct scoreboard **board_out, struct error *err)
{
    if (slots == 0 || slots > SLOTS_MAX)
        return error_set(err, TH_E_INVALID, "a scoreboard has 1 to %zu slots", SLOTS_MAX);

    struct scoreboard *board = calloc(1, sizeof *board);
    if (!board)
        return error_no_memory(err);
    board->slots = board->used = slots;
    board->cell_size = shared_memory_pages(sizeof(struct cell));
    if (!shared_memory_map(slots * board->cell_size, "the scoreboard", &board->memory, err)) {
        free(board);
        return false;
    }
    *board_out = board;
    return true;
}

void scoreboard_close(struct scoreboard **board)
{
    if (!*board)
        return;
    munmap((*board)->memory, (*board)->slots * (*board)->cell_size);
    free(*board);
    *board = NULL;
}

size_t scoreboard_slots(const struct scoreboard *board)
{
    return board->used;
}

void scoreboard_use(struct scoreboard *board, size_t slots)
{
    assert(slots > 0 && slots <= board->slots);
    board->used = slots;
}

bool scoreboard_restrict(struct scoreboard *board, size_t own, struct error *err)
{
    if (mprotect(board->memory, board->slots * board->cell_size, PROT_READ) ||
        mprotect(cell_at(board, own), board->cell_size, PROT_READ | PROT_WRITE))
        return error_errno(err, TH_E_INTERNAL, errno, "write-protect the scoreboard");
    return true;
}

/* ---- reading ---- */

static bool copy_once(const struct cell *cell, struct slot *slot_out)
{
    const uint32_t before = atomic_load_explicit(&cell->sequence, memory_order_acquire);

    if (before & 1)
        return false;
    memcpy(slot_out, &cell->slot, sizeof *slot_out);
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&cell->sequence, memory_order_relaxed) == before;
}

static void make_safe(struct slot *slot)
{
    slot->name[sizeof slot->name - 1] = '\0';
    slot->type[sizeof slot->type - 1] = '\0';
    slot->progress_text[sizeof slot->progress_text - 1] = '\0';
    if (slot->output_length > sizeof slot->output)
        slot->output_length = sizeof slot->output;
}

bool scoreboard_read(const struct scoreboard *board, size_t index, struct slot *slot_out)
{
    const struct cell *cell = cell_at(board, index);
    int looks = 0;

    while (!copy_once(cell, slot_out)) {
        if (++looks == LOOKS_MAX)
            return false;
        sched_yield(); /* the owner may be waiting for our processor */
    }
    make_safe(slot_out);
    return slot_out->state > SLOT_EMPTY && slot_out->state <= SLOT_STOPPING;
}

/* ---- writing ---- */

/* An odd number that a dead owner left is odd enough. */
static struct slot *begin(struct scoreboard *board, size_t own)
{
    struct cell *cell = cell_at(board, own);
    const uint32_t sequence = atomic_load_explicit(&cell->sequence, memory_order_relaxed);

    atomic_store_explicit(&cell->sequence, sequence | 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    return &cell->slot;
}

static void end(struct scoreboard *board, size_t own)
{
    struct cell *cell = cell_at(board, own);

    atomic_fetch_add_explicit(&cell->sequence, 1, memory_order_release);
}

/* As much as fits, without half a character at its end. */
static void keep_text(char *kept, size_t size, const char *text)
{
    size_t length = strnlen(text, size);

    if (length == size) {
        length--;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--;
    }
    memcpy(kept, text, length);
    kept[length] = '\0';
}

static void clear_job(struct slot *slot)
{
    slot->hold = (struct hold){0};
    slot->job = (struct uuid){0};
    slot->type[0] = '\0';
    slot->progress_percent = -1;
    slot->progress_text[0] = '\0';
    slot->output_total = 0;
    slot->output_length = 0;
}

void scoreboard_enter(struct scoreboard *board, size_t own, const char *name, int number,
                      uint32_t serial, int pid)
{
    struct slot *slot = begin(board, own);

    memset(slot, 0, sizeof *slot);
    clear_job(slot);
    keep_text(slot->name, sizeof slot->name, name);
    slot->number = number;
    slot->serial = serial;
    slot->pid = pid;
    slot->state = SLOT_STARTING;
    slot->since = clock_wall();
    end(board, own);
}

void scoreboard_set_state(struct scoreboard *board, size_t own, enum slot_state state)
{
    struct slot *slot = begin(board, own);

    if (slot->state != state)
        slot->since = clock_wall();
    slot->state = state;
    if (state != SLOT_RUNNING)
        clear_job(slot);
    end(board, own);
}

void scoreboard_retire(struct scoreboard *board, size_t own)
{
    begin(board, own)->is_retiring = true;
    end(board, own);
}

void scoreboard_count(struct scoreboard *board, size_t own, int64_t jobs_done)
{
    begin(board, own)->jobs_done = jobs_done;
    end(board, own);
}

void scoreboard_set_job(struct scoreboard *board, size_t own, struct hold hold,
                        const struct uuid *job, const char *type)
{
    struct slot *slot = begin(board, own);

    clear_job(slot);
    slot->state = SLOT_RUNNING;
    slot->since = clock_wall();
    slot->hold = hold;
    slot->job = *job;
    keep_text(slot->type, sizeof slot->type, type);
    end(board, own);
}

void scoreboard_set_progress(struct scoreboard *board, size_t own, int percent, const char *text)
{
    struct slot *slot = begin(board, own);

    slot->progress_percent = percent;
    keep_text(slot->progress_text, sizeof slot->progress_text, text ? text : "");
    end(board, own);
}

void scoreboard_add_output(struct scoreboard *board, size_t own, struct bytes data)
{
    struct slot *slot = begin(board, own);
    const size_t size = sizeof slot->output;
    const size_t added = data.length < size ? data.length : size;
    const size_t kept = slot->output_length + added <= size ? slot->output_length : size - added;

    memmove(slot->output, slot->output + slot->output_length - kept, kept);
    if (added > 0)
        memcpy(slot->output + kept, data.data + data.length - added, added);
    slot->output_length = kept + added;
    slot->output_total += data.length;
    end(board, own);
}

void scoreboard_leave(struct scoreboard *board, size_t index)
{
    struct slot *slot = begin(board, index);

    memset(slot, 0, sizeof *slot);
    end(board, index);
    scoreboard_clear_plugin(board, index);
}

/* ---- the mark ---- */

void scoreboard_set_plugin(struct scoreboard *board, size_t own, const struct plugin_mark *mark)
{
    struct cell *cell = cell_at(board, own);

    atomic_store_explicit(&cell->plugin, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&cell->hold, (uint64_t)mark->hold.entry << 32 | mark->hold.generation,
                          memory_order_relaxed);
    atomic_store_explicit(&cell->until, mark->until, memory_order_relaxed);
    atomic_store_explicit(&cell->plugin, mark->plugin, memory_order_release);
}

void scoreboard_clear_plugin(struct scoreboard *board, size_t own)
{
    atomic_store_explicit(&cell_at(board, own)->plugin, 0, memory_order_release);
}

/* One that changes under our eyes is in no plugin for long: whoever looks comes again. */
struct plugin_mark scoreboard_plugin(const struct scoreboard *board, size_t index)
{
    const struct cell *cell = cell_at(board, index);
    const uint32_t plugin = atomic_load_explicit(&cell->plugin, memory_order_acquire);
    const uint64_t hold = atomic_load_explicit(&cell->hold, memory_order_relaxed);
    const usec_t until = atomic_load_explicit(&cell->until, memory_order_relaxed);

    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&cell->hold, memory_order_relaxed) != hold ||
        atomic_load_explicit(&cell->plugin, memory_order_relaxed) != plugin)
        return (struct plugin_mark){0};
    return (struct plugin_mark){plugin, {(uint32_t)(hold >> 32), (uint32_t)hold}, until};
}

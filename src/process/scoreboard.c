/*
 * scoreboard.c - shared memory: what every process and worker is doing.
 *
 * Each slot has a sequence number, and so has each place for a job in it: odd while its owner
 * writes. A reader copies it and keeps the copy if the number was even and is still the same.
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
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SLOTS_MAX  ((size_t)1 << 16)
#define PLACES_MAX ((size_t)1 << 12)

/* How often a reader looks again before it takes the owner for dead. */
#define LOOKS_MAX 100

_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a lock would stay locked when its holder is killed");

/* A place for a job. */
struct place {
    _Atomic uint32_t sequence;
    struct slot_job job;
};

/* One slot, at the start of pages of its own. */
struct cell {
    _Atomic uint32_t sequence;
    struct slot slot; /* what it says of a job is filled in by readers */

    /* The mark: the plugin is written last and read first. */
    _Atomic uint32_t plugin;
    _Atomic uint64_t hold; /* entry 32 | generation 32 */
    _Atomic int64_t until;

    struct place places[];
};

/* Each process has its own copy of this; the memory is shared. */
struct scoreboard {
    size_t slots;
    size_t used;      /* of them */
    size_t places;    /* of each */
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

static struct place *place_at(const struct scoreboard *board, size_t index, size_t place)
{
    assert(place < board->places);
    return &cell_at(board, index)->places[place];
}

bool scoreboard_open(size_t slots, size_t places, struct scoreboard **board_out, struct error *err)
{
    if (slots == 0 || slots > SLOTS_MAX || places == 0 || places > PLACES_MAX)
        return error_set(err, TH_E_INVALID, "a scoreboard has 1 to %zu slots of 1 to %zu places",
                         SLOTS_MAX, PLACES_MAX);

    struct scoreboard *board = calloc(1, sizeof *board);
    if (!board)
        return error_no_memory(err);
    board->slots = board->used = slots;
    board->places = places;
    board->cell_size = shared_memory_pages(sizeof(struct cell) + places * sizeof(struct place));
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

size_t scoreboard_places(const struct scoreboard *board)
{
    return board->places;
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

/* False while its owner is at it. */
static bool copy_once(const _Atomic uint32_t *sequence, const void *from, void *to, size_t size)
{
    const uint32_t before = atomic_load_explicit(sequence, memory_order_acquire);

    if (before & 1)
        return false;
    memcpy(to, from, size);
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(sequence, memory_order_relaxed) == before;
}

static bool copy(const _Atomic uint32_t *sequence, const void *from, void *to, size_t size)
{
    for (int looks = 0; looks < LOOKS_MAX; looks++) {
        if (copy_once(sequence, from, to, size))
            return true;
        sched_yield(); /* the owner may be waiting for our processor */
    }
    return false;
}

static void clear_job(struct slot_job *job)
{
    job->since = 0;
    job->hold = (struct hold){0};
    job->job = (struct uuid){0};
    job->type[0] = '\0';
    job->progress_percent = -1;
    job->progress_text[0] = '\0';
    job->output_total = 0;
    job->output_length = 0;
}

static bool read_job(const struct scoreboard *board, size_t index, size_t place, size_t size,
                     struct slot_job *job_out)
{
    const struct place *from = place_at(board, index, place);

    if (!copy(&from->sequence, &from->job, job_out, size))
        return false;
    job_out->type[sizeof job_out->type - 1] = '\0';
    job_out->progress_text[sizeof job_out->progress_text - 1] = '\0';
    return job_out->since != 0;
}

/* The job that has been there longest; none when it has just ended. */
static void read_shown(const struct scoreboard *board, size_t index, struct slot *slot)
{
    struct slot_job job;

    if (slot->state != SLOT_RUNNING || slot->shown >= board->places ||
        !read_job(board, index, slot->shown, offsetof(struct slot_job, output_total), &job))
        clear_job(&job);
    slot->hold = job.hold;
    slot->job = job.job;
    memcpy(slot->type, job.type, sizeof slot->type);
    slot->progress_percent = job.progress_percent;
    memcpy(slot->progress_text, job.progress_text, sizeof slot->progress_text);
}

bool scoreboard_read(const struct scoreboard *board, size_t index, struct slot *slot_out)
{
    const struct cell *cell = cell_at(board, index);

    if (!copy(&cell->sequence, &cell->slot, slot_out, offsetof(struct slot, hold)))
        return false;
    slot_out->name[sizeof slot_out->name - 1] = '\0';
    if (slot_out->place_extent > board->places)
        slot_out->place_extent = board->places;
    read_shown(board, index, slot_out);
    return slot_out->state > SLOT_EMPTY && slot_out->state <= SLOT_STOPPING;
}

bool scoreboard_read_job(const struct scoreboard *board, size_t index, size_t place,
                         struct slot_job *job_out)
{
    if (!read_job(board, index, place, sizeof *job_out, job_out))
        return false;
    if (job_out->output_length > sizeof job_out->output)
        job_out->output_length = sizeof job_out->output;
    return true;
}

/* ---- writing ---- */

/* An odd number that a dead owner left is odd enough. */
static void begin(_Atomic uint32_t *sequence)
{
    const uint32_t before = atomic_load_explicit(sequence, memory_order_relaxed);

    atomic_store_explicit(sequence, before | 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
}

static void end(_Atomic uint32_t *sequence)
{
    atomic_fetch_add_explicit(sequence, 1, memory_order_release);
}

static struct slot *begin_slot(const struct scoreboard *board, size_t own)
{
    struct cell *cell = cell_at(board, own);

    begin(&cell->sequence);
    return &cell->slot;
}

static void end_slot(const struct scoreboard *board, size_t own)
{
    end(&cell_at(board, own)->sequence);
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

/* What a process before this one has left there. */
static void clear_places(struct scoreboard *board, size_t own, size_t extent)
{
    for (size_t i = 0; i < extent && i < board->places; i++)
        scoreboard_end_job(board, own, i);
}

void scoreboard_enter(struct scoreboard *board, size_t own, const char *name, int number,
                      uint32_t serial, int pid)
{
    struct slot *slot = begin_slot(board, own);

    memset(slot, 0, sizeof *slot);
    keep_text(slot->name, sizeof slot->name, name);
    slot->number = number;
    slot->serial = serial;
    slot->pid = pid;
    slot->state = SLOT_STARTING;
    slot->since = clock_wall();
    end_slot(board, own);
}

void scoreboard_set_state(struct scoreboard *board, size_t own, enum slot_state state)
{
    struct slot *slot = begin_slot(board, own);

    if (slot->state != state)
        slot->since = clock_wall();
    slot->state = state;
    slot->jobs_running = slot->place_extent = slot->shown = 0;
    end_slot(board, own);
}

void scoreboard_retire(struct scoreboard *board, size_t own)
{
    begin_slot(board, own)->is_retiring = true;
    end_slot(board, own);
}

void scoreboard_count(struct scoreboard *board, size_t own, int64_t jobs_done)
{
    begin_slot(board, own)->jobs_done = jobs_done;
    end_slot(board, own);
}

void scoreboard_set_job(struct scoreboard *board, size_t own, size_t place, struct hold hold,
                        const struct uuid *job, const char *type)
{
    struct place *to = place_at(board, own, place);

    begin(&to->sequence);
    clear_job(&to->job);
    to->job.since = clock_wall();
    to->job.hold = hold;
    to->job.job = *job;
    keep_text(to->job.type, sizeof to->job.type, type);
    end(&to->sequence);
}

void scoreboard_end_job(struct scoreboard *board, size_t own, size_t place)
{
    struct place *to = place_at(board, own, place);

    begin(&to->sequence);
    to->job.since = 0;
    end(&to->sequence);
}

void scoreboard_set_progress(struct scoreboard *board, size_t own, size_t place, int percent,
                             const char *text)
{
    struct place *to = place_at(board, own, place);

    begin(&to->sequence);
    to->job.progress_percent = percent;
    keep_text(to->job.progress_text, sizeof to->job.progress_text, text ? text : "");
    end(&to->sequence);
}

static void add_tail(struct slot_job *job, struct bytes data)
{
    const size_t size = sizeof job->output;
    const size_t added = data.length < size ? data.length : size;
    const size_t kept = job->output_length + added <= size ? job->output_length : size - added;

    memmove(job->output, job->output + job->output_length - kept, kept);
    if (added > 0)
        memcpy(job->output + kept, data.data + data.length - added, added);
    job->output_length = kept + added;
    job->output_total += data.length;
}

void scoreboard_add_output(struct scoreboard *board, size_t own, size_t place, struct bytes data)
{
    struct place *to = place_at(board, own, place);

    begin(&to->sequence);
    add_tail(&to->job, data);
    end(&to->sequence);
}

void scoreboard_show_jobs(struct scoreboard *board, size_t own, size_t running, size_t extent,
                          size_t shown)
{
    struct slot *slot = begin_slot(board, own);

    if (slot->state != SLOT_RUNNING)
        slot->since = clock_wall();
    slot->state = SLOT_RUNNING;
    slot->jobs_running = running;
    slot->place_extent = extent;
    slot->shown = shown;
    end_slot(board, own);
}

void scoreboard_leave(struct scoreboard *board, size_t index)
{
    struct slot *slot = begin_slot(board, index);
    const size_t extent = slot->place_extent;

    memset(slot, 0, sizeof *slot);
    end_slot(board, index);
    clear_places(board, index, extent);
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

/*
 * lease_table.c - shared memory: every job handed out, who started it, when it must stop.
 *
 * One mapping in three parts, each on pages of its own:
 *
 *     words     generation 32 | state 3 | worker 29      workers may write them
 *     stops     generation 20 | milliseconds 44          workers may read them
 *     secrets   the lease; generation 32 | flags 32      workers do not map them
 *
 * Invariants:
 *   - Whether an entry is held, and by which generation, is said by the flags among the secrets,
 *     where no worker can write; how far it has come, and who has it, by the word.
 *   - A generation begins when its word is published, after the other two parts are filled in. A
 *     dispatcher that dies before that leaves a word that says so: the entry is free.
 *   - An entry is free when its flags say so, and then its word does. The flags keep its generation
 *     so that the next use has another one.
 *   - Whoever copies a lease looks at the flags again afterwards: the lease is whole if it is still
 *     held by that generation.
 */
#include "process/lease_table.h"

#include "base/error.h"
#include "process/shared_memory.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define CAPACITY_MAX ((size_t)1 << 20)

#define WORKER_BITS     29
#define STATE_BITS      3
#define GENERATION_FROM (WORKER_BITS + STATE_BITS)
#define WORKER_MAX      (((uint32_t)1 << WORKER_BITS) - 1)
#define STATE_MASK      (((uint32_t)1 << STATE_BITS) - 1)

#define LEASE_HELD  0x80000000u /* a flag beside those of the header: the entry is not free */
#define LEASE_FLAGS (LEASE_LOST | LEASE_CANCELED)

#define STOP_BITS 44
#define STOP_MAX  (((uint64_t)1 << STOP_BITS) - 1)

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "a lock would stay locked when its holder is killed");

struct secret {
    struct held_lease lease;
    _Atomic uint64_t flags;
};

/* Each process has its own copy of this; what it points to is shared. */
struct lease_table {
    size_t capacity;
    uint32_t *free_entries; /* owned; the dispatcher's: those used last are used again first */
    size_t free_count;
    size_t words_size, stops_size, secrets_size; /* of the parts, in whole pages */
    _Atomic uint64_t *words;
    _Atomic uint64_t *stops;
    struct secret *secrets; /* NULL in workers */
};

/* ---- words ---- */

static uint64_t make_word(uint32_t generation, enum hold_state state, uint32_t worker)
{
    return (uint64_t)generation << GENERATION_FROM | (uint64_t)state << WORKER_BITS | worker;
}

static uint32_t generation_of(uint64_t word)
{
    return (uint32_t)(word >> GENERATION_FROM);
}

static unsigned raw_state_of(uint64_t word)
{
    return (unsigned)(word >> WORKER_BITS) & STATE_MASK;
}

/* A state that is not one of ours was written by a worker gone wrong: nobody can start it
 * either. */
static enum hold_state state_of(uint64_t word)
{
    const unsigned state = raw_state_of(word);

    return state <= HOLD_REVOKED ? (enum hold_state)state : HOLD_REVOKED;
}

static uint32_t worker_of(uint64_t word)
{
    return (uint32_t)word & WORKER_MAX;
}

/* What an entry shows until its next generation is published; a wild write is unlikely to. */
static uint64_t unpublished(uint32_t generation)
{
    return make_word(generation - 1, HOLD_REVOKED, WORKER_MAX);
}

/* Free when the hold is over. It may come from a worker, and name any entry. */
static uint64_t look(const struct lease_table *table, struct hold hold)
{
    const uint64_t nothing = make_word(hold.generation, HOLD_FREE, 0);

    if (hold.entry >= table->capacity)
        return nothing;
    const uint64_t word = atomic_load(&table->words[hold.entry]);
    return generation_of(word) == hold.generation ? word : nothing;
}

/* Of an entry that exists. */
static bool is_held_by_flags(const struct lease_table *table, struct hold hold)
{
    const uint64_t flags = atomic_load(&table->secrets[hold.entry].flags);

    return flags >> 32 == hold.generation && (flags & LEASE_HELD);
}

/* Where the word is as it should be, what workers cannot see is not looked at. */
static bool is_held(const struct lease_table *table, struct hold hold)
{
    return lease_table_state(table, hold, NULL) != HOLD_FREE;
}

/* The one change of a word: from exactly this to that. */
static bool change(struct lease_table *table, struct hold hold, uint64_t from, uint64_t to)
{
    if (hold.entry >= table->capacity)
        return false;
    return atomic_compare_exchange_strong(&table->words[hold.entry], &from, to);
}

/* ---- stops ---- */

/* Rounded down: to stop early is safe. */
static uint64_t make_stop(uint32_t generation, usec_t at)
{
    uint64_t milliseconds = at > 0 ? (uint64_t)(at / USEC_PER_MSEC) : 0;

    if (milliseconds > STOP_MAX)
        milliseconds = STOP_MAX;
    return (uint64_t)generation << STOP_BITS | milliseconds;
}

static bool is_same_generation(uint64_t stop, uint64_t other)
{
    return stop >> STOP_BITS == other >> STOP_BITS;
}

/* ---- the mapping ---- */

static bool map(struct lease_table *table, struct error *err)
{
    table->words_size = shared_memory_pages(table->capacity * sizeof *table->words);
    table->stops_size = shared_memory_pages(table->capacity * sizeof *table->stops);
    table->secrets_size = shared_memory_pages(table->capacity * sizeof *table->secrets);
    const size_t size = table->words_size + table->stops_size + table->secrets_size;
    unsigned char *memory;

    if (!shared_memory_map(size, "the lease table", &memory, err))
        return false;
    table->words = (void *)memory;
    table->stops = (void *)(memory + table->words_size);
    table->secrets = (void *)(memory + table->words_size + table->stops_size);
    return true;
}

bool lease_table_open(size_t capacity, struct lease_table **table_out, struct error *err)
{
    if (capacity == 0 || capacity > CAPACITY_MAX)
        return error_set(err, TH_E_INVALID, "a lease table has 1 to %zu entries", CAPACITY_MAX);

    struct lease_table *table = calloc(1, sizeof *table);
    if (!table)
        return error_no_memory(err);
    table->capacity = capacity;
    if (!map(table, err)) {
        free(table);
        return false;
    }
    *table_out = table;
    return true;
}

void lease_table_close(struct lease_table **table)
{
    struct lease_table *closed = *table;

    if (!closed)
        return;
    munmap((void *)closed->words, closed->words_size + closed->stops_size);
    if (closed->secrets)
        munmap(closed->secrets, closed->secrets_size);
    free(closed->free_entries);
    free(closed);
    *table = NULL;
}

size_t lease_table_capacity(const struct lease_table *table)
{
    return table->capacity;
}

bool lease_table_restrict(struct lease_table *table, struct error *err)
{
    if (munmap(table->secrets, table->secrets_size))
        return error_errno(err, TH_E_INTERNAL, errno, "unmap the leases");
    table->secrets = NULL;
    if (mprotect((void *)table->stops, table->stops_size, PROT_READ))
        return error_errno(err, TH_E_INTERNAL, errno, "write-protect the lease table");
    return true;
}

/* ---- the dispatcher ---- */

/* False when the entry is free, or was freed while we copied. */
static bool copy_entry(const struct lease_table *table, size_t entry, struct hold_view *view_out)
{
    const struct secret *secret = &table->secrets[entry];
    const uint64_t flags = atomic_load(&secret->flags);
    const struct hold hold = {(uint32_t)entry, (uint32_t)(flags >> 32)};

    if (!(flags & LEASE_HELD))
        return false;
    view_out->hold = hold;
    view_out->lease = secret->lease;
    atomic_thread_fence(memory_order_acquire);
    view_out->state = lease_table_state(table, hold, &view_out->worker);
    return view_out->state != HOLD_FREE && is_held_by_flags(table, hold);
}

bool lease_table_next(const struct lease_table *table, size_t *position, struct hold_view *view_out)
{
    assert(table->secrets);
    while (*position < table->capacity) {
        if (copy_entry(table, (*position)++, view_out))
            return true;
    }
    return false;
}

/* What a dispatcher before this one has left free, the lowest on top. */
static bool find_free(struct lease_table *table)
{
    table->free_entries = calloc(table->capacity, sizeof *table->free_entries);
    if (!table->free_entries)
        return false;
    for (size_t entry = table->capacity; entry-- > 0;) {
        struct hold_view view;

        if (!copy_entry(table, entry, &view))
            table->free_entries[table->free_count++] = (uint32_t)entry;
    }
    return true;
}

bool lease_table_hand(struct lease_table *table, const struct held_lease *lease, usec_t stop_at,
                      struct hold *hold_out)
{
    assert(table->secrets);
    if (!table->free_entries && !find_free(table))
        return false;
    if (table->free_count == 0)
        return false;
    const uint32_t entry = table->free_entries[--table->free_count];
    const uint32_t before = (uint32_t)(atomic_load(&table->secrets[entry].flags) >> 32);
    const uint32_t generation = before + 1;
    /* One whose dispatcher died before it was published looks held, and so may its word. */
    atomic_store(&table->secrets[entry].flags, (uint64_t)before << 32);
    atomic_store(&table->words[entry], unpublished(generation));
    /* Nobody may see anything of the new lease while the flags are still those of the old one. */
    atomic_thread_fence(memory_order_release);
    table->secrets[entry].lease = *lease;
    atomic_store(&table->secrets[entry].flags, (uint64_t)generation << 32 | LEASE_HELD);
    atomic_store(&table->stops[entry], make_stop(generation, stop_at));
    atomic_store(&table->words[entry], make_word(generation, HOLD_HANDED, 0));
    *hold_out = (struct hold){entry, generation};
    return true;
}

bool lease_table_revoke(struct lease_table *table, struct hold hold)
{
    return change(table, hold, make_word(hold.generation, HOLD_HANDED, 0),
                  make_word(hold.generation, HOLD_REVOKED, 0));
}

void lease_table_mend(struct lease_table *table, struct hold hold, uint32_t worker)
{
    assert(table->secrets && worker > 0 && worker <= WORKER_MAX);
    if (hold.entry < table->capacity && is_held_by_flags(table, hold))
        atomic_store(&table->words[hold.entry], make_word(hold.generation, HOLD_STARTED, worker));
}

/* Whatever a worker makes of the word in this moment does not count any more. */
void lease_table_free(struct lease_table *table, struct hold hold)
{
    assert(table->secrets);
    if (hold.entry >= table->capacity || !is_held_by_flags(table, hold))
        return;
    atomic_store(&table->secrets[hold.entry].flags, (uint64_t)hold.generation << 32);
    atomic_store(&table->words[hold.entry], make_word(hold.generation, HOLD_FREE, 0));
    if (table->free_entries)
        table->free_entries[table->free_count++] = hold.entry;
}

unsigned lease_table_flags(const struct lease_table *table, struct hold hold)
{
    assert(table->secrets);
    if (!is_held(table, hold))
        return 0;
    const uint64_t flags = atomic_load(&table->secrets[hold.entry].flags);
    return flags >> 32 == hold.generation ? (unsigned)flags & LEASE_FLAGS : 0;
}

bool lease_table_was_handed(const struct lease_table *table, struct hold hold)
{
    assert(table->secrets);
    if (hold.entry >= table->capacity || hold.generation == 0)
        return false;
    return hold.generation <= atomic_load(&table->secrets[hold.entry].flags) >> 32;
}

/* ---- workers ---- */

bool lease_table_start(struct lease_table *table, struct hold hold, uint32_t worker)
{
    assert(worker > 0 && worker <= WORKER_MAX);
    return change(table, hold, make_word(hold.generation, HOLD_HANDED, 0),
                  make_word(hold.generation, HOLD_STARTED, worker));
}

void lease_table_finish(struct lease_table *table, struct hold hold, uint32_t worker)
{
    assert(worker > 0 && worker <= WORKER_MAX);
    /* When it was freed meanwhile there is nothing left to finish. */
    (void)change(table, hold, make_word(hold.generation, HOLD_STARTED, worker),
                 make_word(hold.generation, HOLD_FINISHED, worker));
}

usec_t lease_table_stop_at(const struct lease_table *table, struct hold hold)
{
    if (!is_held(table, hold))
        return 0;
    const uint64_t stop = atomic_load(&table->stops[hold.entry]);
    if (!is_same_generation(stop, make_stop(hold.generation, 0)))
        return 0;
    return (usec_t)(stop & STOP_MAX) * USEC_PER_MSEC;
}

/* ---- anybody ---- */

/* Of a word that is not what it should be, where more can be seen. */
static enum hold_state judge(const struct lease_table *table, struct hold hold)
{
    const uint64_t word = atomic_load(&table->words[hold.entry]);

    if (!is_held_by_flags(table, hold) || word == unpublished(hold.generation))
        return HOLD_FREE;
    return HOLD_UNKNOWN;
}

enum hold_state lease_table_state(const struct lease_table *table, struct hold hold,
                                  uint32_t *worker_out)
{
    const uint64_t word = look(table, hold);
    const unsigned state = raw_state_of(word);

    if (worker_out)
        *worker_out = worker_of(word);
    if (table->secrets && hold.entry < table->capacity &&
        (state == HOLD_FREE || state > HOLD_REVOKED))
        return judge(table, hold);
    return state_of(word);
}

bool lease_table_is_running(const struct lease_table *table, uint32_t worker)
{
    for (size_t i = 0; i < table->capacity; i++) {
        const uint64_t word = atomic_load(&table->words[i]);

        if (state_of(word) == HOLD_STARTED && worker_of(word) == worker)
            return true;
    }
    return false;
}

/* ---- the heartbeater ---- */

void lease_table_confirm(struct lease_table *table, struct hold hold, usec_t stop_at)
{
    const uint64_t later = make_stop(hold.generation, stop_at);

    if (!is_held(table, hold))
        return;
    uint64_t stop = atomic_load(&table->stops[hold.entry]);
    while (is_same_generation(stop, later) && stop < later) {
        if (atomic_compare_exchange_weak(&table->stops[hold.entry], &stop, later))
            return;
    }
}

bool lease_table_flag(struct lease_table *table, struct hold hold, unsigned flags)
{
    assert(table->secrets);
    if (!is_held(table, hold))
        return false;
    _Atomic uint64_t *place = &table->secrets[hold.entry].flags;
    uint64_t before = atomic_load(place);
    while (before >> 32 == hold.generation && (before | flags) != before) {
        if (atomic_compare_exchange_weak(place, &before, before | flags))
            return true;
    }
    return false;
}

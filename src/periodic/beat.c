/*
 * beat.c - one heartbeat: what it tells the store of this pool, and what it makes of the answers.
 *
 *     lease table --what we hold-----------.
 *     scoreboard ---progress, output, who--+--> store --> confirmed: a later stop_at
 *                                               `-------> lost, cancelled: a flag, and a nudge
 *
 * Invariants:
 *   - A lease is confirmed as of the moment before the request was sent. The store counts from
 *     later on, so the run is stopped before the lease can end, however long the answer takes.
 *   - A lease that nobody runs is left out while it is young: most jobs are over before their first
 *     beat, and a lease that is never named here stays one of its batch. A run is named by every
 *     beat, so that it hears of a cancellation, and whoever watches it of its progress, with the
 *     next one. No lease comes to be older than a third of its time without being extended.
 *   - A refusal is passed on within the beat that saw it, and said once.
 *   - What the store was told counts as told only when it has answered.
 *   - Between two beats nothing is asked or told unless somebody watches, and has something to see.
 */
#include "periodic/beat.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "periodic/progress_sent.h"
#include "periodic/running.h"
#include "periodic/status.h"
#include "process/lease_table.h"
#include "process/meters.h"
#include "process/process.h"
#include "process/scoreboard.h"
#include "store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOST_SIZE 256

/* A lease that this beat extends. */
struct holding {
    struct hold_view view;
    const struct slot_job *job; /* as its worker shows it; NULL: none does */
};

struct beat {
    const struct process *process;

    /* Owned; room for the whole scoreboard. */
    struct slot *slots;
    size_t slot_count;

    struct running running; /* what they show of their jobs */

    /* Owned; room for the whole lease table. */
    struct progress_sent *progress_sent; /* by entry */
    struct holding *holdings;
    struct lease_beat *leases;
    struct lease_answer *answers;
    size_t capacity;
    size_t count;

    usec_t next_at; /* boot time by which the next whole beat comes; USEC_MAX: no lease can wait */

    struct buffer status, sent_status;
    bool is_watched;         /* the pool, or one of its jobs, as of the last whole beat */
    struct pool_answer told; /* of the pool */
    usec_t started_at;       /* of the pool, on the database's clock */
    bool is_registered;      /* as far as we know */
};

bool beat_new(const struct process *process, struct beat **beat_out, struct error *err)
{
    const size_t slots = scoreboard_slots(process->scoreboard);
    const size_t capacity = lease_table_capacity(process->leases);
    struct beat *beat = calloc(1, sizeof *beat);

    if (!beat)
        return error_no_memory(err);
    *beat = (struct beat){
        .process = process,
        .slots = calloc(slots, sizeof *beat->slots),
        .slot_count = slots,
        .progress_sent = calloc(capacity, sizeof *beat->progress_sent),
        .holdings = calloc(capacity, sizeof *beat->holdings),
        .leases = calloc(capacity, sizeof *beat->leases),
        .answers = calloc(capacity, sizeof *beat->answers),
        .capacity = capacity,
        .status = BUFFER(status_limit(process->config, slots)),
        .sent_status = BUFFER(status_limit(process->config, slots)),
    };
    if (!beat->slots || !beat->progress_sent || !beat->holdings || !beat->leases ||
        !beat->answers) {
        beat_free(&beat);
        return error_no_memory(err);
    }
    *beat_out = beat;
    return true;
}

void beat_free(struct beat **beat)
{
    if (!*beat)
        return;
    buffer_done(&(*beat)->sent_status);
    buffer_done(&(*beat)->status);
    free((*beat)->answers);
    free((*beat)->leases);
    free((*beat)->holdings);
    free((*beat)->progress_sent);
    running_done(&(*beat)->running);
    free((*beat)->slots);
    free(*beat);
    *beat = NULL;
}

/* ---- what there is to tell ---- */

static void read_scoreboard(struct beat *beat)
{
    for (size_t i = 0; i < beat->slot_count; i++) {
        if (!scoreboard_read(beat->process->scoreboard, i, &beat->slots[i]))
            beat->slots[i] = (struct slot){.state = SLOT_EMPTY};
    }
}

/* What is revoked is about to be given back. What is lost stays lost: the store is not asked again.
 */
static bool is_to_be_extended(const struct beat *beat, const struct hold_view *view)
{
    switch (view->state) {
    case HOLD_HANDED:
    case HOLD_STARTED:
    case HOLD_FINISHED:
    case HOLD_UNKNOWN: /* the dispatcher is about to find out */
        return !(lease_table_flags(beat->process->leases, view->hold) & LEASE_LOST);
    case HOLD_FREE:
    case HOLD_REVOKED:
        return false;
    }
    return false;
}

static void fill_lease(struct beat *beat, size_t index)
{
    struct holding *holding = &beat->holdings[index];
    const struct held_lease *held = &holding->view.lease;
    struct lease_beat *lease = &beat->leases[index];

    *lease = (struct lease_beat){
        .job = held->job,
        .queue = held->queue,
        .token = held->token,
        .ref = held->ref,
        .progress_percent = -1,
    };
    /* A worker that has gone on to its next job has told its result. */
    const struct running_job *running = holding->view.state == HOLD_STARTED
                                            ? running_find(&beat->running, holding->view.hold)
                                            : NULL;

    holding->job = running ? &running->job : NULL;
    if (!running)
        return;
    lease->worker = running->worker;
    progress_sent_compare(&beat->progress_sent[running->job.hold.entry], &running->job, lease);
}

/* Something that somebody waits to see. */
static bool is_awaited(const struct beat *beat, size_t index)
{
    const struct holding *holding = &beat->holdings[index];
    const struct lease_beat *lease = &beat->leases[index];

    return (lease->progress_percent >= 0 || lease->output.data) &&
           progress_sent_is_watched(&beat->progress_sent[holding->view.hold.entry], holding->job);
}

/* What is handed out, or has run, has nothing to tell and nobody to ask. */
static bool is_due(const struct beat *beat, size_t index)
{
    const struct hold_view *view = &beat->holdings[index].view;

    if (view->state == HOLD_STARTED || view->state == HOLD_UNKNOWN)
        return true;
    return !lease_can_wait(lease_table_stop_at(beat->process->leases, view->hold),
                           beat->process->config->pool.lease, beat->next_at);
}

static void list_leases(struct beat *beat, bool (*is_wanted)(const struct beat *, size_t))
{
    size_t position = 0;

    beat->count = 0;
    while (beat->count < beat->capacity &&
           lease_table_next(beat->process->leases, &position, &beat->holdings[beat->count].view)) {
        if (!is_to_be_extended(beat, &beat->holdings[beat->count].view))
            continue;
        fill_lease(beat, beat->count);
        if (is_wanted(beat, beat->count))
            beat->count++;
    }
}

static bool write_status(struct beat *beat, usec_t now, struct error *err)
{
    buffer_clear(&beat->status);
    status_write(beat->process->config, beat->slots, beat->slot_count, beat->process->start_board,
                 beat->process->meters, now, &beat->status);
    return buffer_ok(&beat->status, err) || error_prefix(err, "write the pool's status");
}

static struct bytes bytes_of(const struct buffer *buffer)
{
    return (struct bytes){(const unsigned char *)buffer->data, buffer->length};
}

static struct bytes new_status(const struct beat *beat)
{
    const struct buffer *now = &beat->status, *sent = &beat->sent_status;

    if (now->length == sent->length && memcmp(now->data, sent->data, now->length) == 0)
        return (struct bytes){0};
    return bytes_of(now);
}

static void remember_status(struct beat *beat)
{
    const struct buffer sent = beat->status;

    beat->status = beat->sent_status;
    beat->sent_status = sent;
}

/* ---- what the store answers ---- */

/* A run that has ended meanwhile has nothing to be stopped: the dispatcher has its result, and may
 * have settled it before the store came to our question. */
static bool note_lost(struct beat *beat, const struct hold_view *view, enum th_error_code verdict)
{
    struct lease_table *leases = beat->process->leases;
    uint32_t worker;
    const enum hold_state state = lease_table_state(leases, view->hold, &worker);
    char id[UUID_TEXT_SIZE];

    if (state != HOLD_HANDED && state != HOLD_STARTED && state != HOLD_UNKNOWN)
        return false;
    if (!lease_table_flag(leases, view->hold, LEASE_LOST))
        return false;
    meters_add_lost_lease(beat->process->meters);
    log_warning("lease_lost", "job=%s reason=%s", uuid_format(&view->lease.job, id),
                error_code_name(verdict));
    return true;
}

/* True when there is something new for the dispatcher to see. */
static bool take_answer(struct beat *beat, size_t index, usec_t stop_at)
{
    const struct holding *holding = &beat->holdings[index];
    const struct lease_answer *answer = &beat->answers[index];
    const struct hold hold = holding->view.hold;

    if (answer->verdict == TH_E_UNAVAILABLE)
        return false; /* the run goes on until its lease, as it was confirmed last, may end */
    if (answer->verdict != TH_OK)
        return note_lost(beat, &holding->view, answer->verdict);
    lease_table_confirm(beat->process->leases, hold, stop_at);
    if (holding->job)
        progress_sent_remember(&beat->progress_sent[hold.entry], holding->job, answer->watched);
    return answer->cancel_requested &&
           lease_table_flag(beat->process->leases, hold, LEASE_CANCELED);
}

static bool nudge_dispatcher(const struct beat *beat, struct error *err)
{
    const uint64_t one = 1;

    /* EAGAIN: it has been nudged more often than can be counted. */
    if (write(beat->process->nudge, &one, sizeof one) < 0 && errno != EAGAIN)
        return error_errno(err, TH_E_INTERNAL, errno, "nudge the dispatcher");
    return true;
}

static bool take_answers(struct beat *beat, usec_t stop_at, struct error *err)
{
    bool any_new = false;

    log_hold();
    for (size_t i = 0; i < beat->count; i++)
        any_new = take_answer(beat, i, stop_at) || any_new;
    log_release();
    return !any_new || nudge_dispatcher(beat, err);
}

/* ---- the pool ---- */

static bool register_pool(struct beat *beat, struct store *store, struct error *err)
{
    char host[HOST_SIZE] = "";
    const struct pool pool = {
        .name = beat->process->pool,
        .host = host,
        .pid = getppid(),
        .started_at = beat->started_at,
        .status = bytes_of(&beat->status),
    };

    if (gethostname(host, sizeof host - 1))
        return error_errno(err, TH_E_INTERNAL, errno, "ask for this machine's name");
    return store_pool_register(store, &pool, store_now(store), err) ||
           error_prefix(err, "register the pool");
}

/* A pool that was silent for long has been removed by somebody's reaper. It lives, so it is there
 * again; what became of its jobs is in the answers. */
static bool keep_registered(struct beat *beat, bool registered, struct store *store,
                            struct error *err)
{
    if (!registered && beat->is_registered)
        log_warning("pool_removed", "name=%s registered=again", beat->process->pool);
    beat->is_registered = registered;
    if (!registered && !register_pool(beat, store, err))
        return false;
    beat->is_registered = true;
    return true;
}

/* Tells what was listed, and takes the answers. */
static bool exchange(struct beat *beat, struct store *store, struct bytes status, struct error *err)
{
    const usec_t lease_for = beat->process->config->pool.lease;
    const usec_t asked_at = clock_boot();
    const struct heartbeat heartbeat = {
        .pool = beat->process->pool,
        .status = status,
        .leases = beat->leases,
        .lease_count = beat->count,
        .lease_for = lease_for,
    };

    if (!store_heartbeat(store, &heartbeat, 1, store_now(store), beat->answers, &beat->told, err))
        return error_prefix(err, "extend %zu leases", beat->count);
    if (!take_answers(beat, lease_stop_at(asked_at + lease_for, lease_for), err) ||
        !keep_registered(beat, beat->told.is_registered, store, err))
        return false;
    if (status.data)
        remember_status(beat);
    return true;
}

static bool is_any_watched(const struct beat *beat)
{
    for (size_t i = 0; i < beat->count; i++) {
        if (beat->answers[i].watched)
            return true;
    }
    return beat->told.is_watched;
}

/* After the database's clock was set, every lease has to end by the one that is ahead. */
static usec_t next_beat(struct store *store, usec_t interval)
{
    const usec_t now = clock_boot();

    return timekeeper_lead(store_clock(store), now) > 0 ? USEC_MAX : now + interval;
}

bool beat_send(struct beat *beat, struct store *store, usec_t interval, struct error *err)
{
    if (beat->started_at == 0)
        beat->started_at = store_now(store);
    read_scoreboard(beat);
    if (!running_read(&beat->running, beat->process->scoreboard, beat->process->leases, err))
        return false;
    beat->next_at = next_beat(store, interval);
    list_leases(beat, is_due);
    if (!write_status(beat, store_now(store), err) || !exchange(beat, store, new_status(beat), err))
        return false;
    beat->is_watched = is_any_watched(beat);
    return true;
}

const struct pool_answer *beat_told(const struct beat *beat)
{
    return &beat->told;
}

bool beat_is_watched(const struct beat *beat)
{
    return beat->is_watched;
}

bool beat_tell_watchers(struct beat *beat, struct store *store, struct error *err)
{
    struct bytes status = {0};

    if (!running_read(&beat->running, beat->process->scoreboard, beat->process->leases, err))
        return false;
    list_leases(beat, is_awaited);
    if (beat->told.is_watched) {
        read_scoreboard(beat);
        if (!write_status(beat, store_now(store), err))
            return false;
        status = new_status(beat);
    }
    return (beat->count == 0 && !status.data) || exchange(beat, store, status, err);
}

/*
 * outbox.c - settlements that wait for the next exchange.
 */
#include "dispatcher/outbox.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/error.h"
#include "config/config.h"
#include "dispatcher/conclude.h"
#include "dispatcher/events.h"
#include "dispatcher/news.h"
#include "dispatcher/state.h"
#include "dispatcher/tally.h"
#include "process/process.h"

#include <assert.h>
#include <stdlib.h>

#define FIRST_DELAY (20 * USEC_PER_MSEC)
#define MAX_DELAY   (500 * USEC_PER_MSEC)

#define LEAST_SHARE 32
#define SHARE_BYTES ((size_t)4 << 20)

static bool grow(struct outbox *outbox)
{
    const size_t capacity = outbox->capacity > 0 ? 2 * outbox->capacity : 64;
    void *settlements = realloc(outbox->settlements, capacity * sizeof *outbox->settlements);

    if (settlements)
        outbox->settlements = settlements;
    void *jobs = realloc(outbox->jobs, capacity * sizeof(struct held_job *));
    if (jobs)
        outbox->jobs = jobs;
    void *verdicts = realloc(outbox->verdicts, capacity * sizeof *outbox->verdicts);
    if (verdicts)
        outbox->verdicts = verdicts;
    if (!settlements || !jobs || !verdicts)
        return false;
    outbox->capacity = capacity;
    return true;
}

bool outbox_add(struct outbox *outbox, struct held_job *held, const struct settlement *settlement,
                struct error *err)
{
    if (outbox->count == outbox->capacity && !grow(outbox))
        return error_no_memory(err);
    held_job_move(held, HELD_CONCLUDED);
    outbox->settlements[outbox->count] = *settlement;
    outbox->jobs[outbox->count] = held;
    outbox->count++;
    return true;
}

size_t outbox_first(const struct outbox *outbox, usec_t now)
{
    return now < outbox->kept_until ? outbox->kept : 0;
}

size_t outbox_share(const struct outbox *outbox, size_t waiting)
{
    return outbox->most > 0 && outbox->most < waiting ? outbox->most : waiting;
}

static size_t size_of(const struct settlement *settlement)
{
    return settlement->output.length + settlement->result.length;
}

size_t outbox_fit(struct outbox *outbox, size_t from, size_t share)
{
    size_t count = 0, bytes = 0;

    while (count < share) {
        bytes += size_of(&outbox->settlements[from + count]);
        if (bytes > SHARE_BYTES && count > 0)
            break;
        count++;
    }
    outbox->left = share - count;
    return count;
}

void outbox_shrink(struct outbox *outbox, size_t sent)
{
    outbox->most = sent / 2 > LEAST_SHARE ? sent / 2 : LEAST_SHARE;
}

void outbox_grow(struct outbox *outbox, size_t sent)
{
    outbox->most = outbox->most > 0 && sent == outbox->most ? 2 * outbox->most : 0;
}

static void swap(struct outbox *outbox, size_t a, size_t b)
{
    const struct settlement settlement = outbox->settlements[a];
    struct held_job *held = outbox->jobs[a];

    outbox->settlements[a] = outbox->settlements[b];
    outbox->jobs[a] = outbox->jobs[b];
    outbox->settlements[b] = settlement;
    outbox->jobs[b] = held;
}

static void reverse(struct outbox *outbox, size_t from, size_t to)
{
    while (from + 1 < to)
        swap(outbox, from++, --to);
}

void outbox_turn(struct outbox *outbox, size_t from)
{
    if (outbox->left == 0 || outbox->left >= outbox->kept - from)
        return;
    const size_t refused = outbox->kept - outbox->left;
    reverse(outbox, from, refused);
    reverse(outbox, refused, outbox->kept);
    reverse(outbox, from, outbox->kept);
}

void outbox_wait(struct outbox *outbox, usec_t now)
{
    const usec_t delay = backoff_next(outbox->kept_delay, FIRST_DELAY, MAX_DELAY);

    outbox->kept_delay = outbox->kept > outbox->left ? delay : 0;
    outbox->kept_until = now + outbox->kept_delay;
}

static const struct job *copy_on_dead(struct arena *arena, const struct job *job)
{
    struct job *copy = job ? arena_alloc(arena, sizeof *copy) : NULL;

    if (!copy)
        return NULL;
    *copy = *job; /* its names are the config's */
    copy->payload = arena_bytes(arena, job->payload);
    copy->headers = arena_text(arena, job->headers);
    copy->tags = tags_copy(job->tags, arena);
    return copy;
}

bool outbox_keep(struct outbox *outbox, size_t from, size_t to, struct error *err)
{
    struct held_job *held = outbox->jobs[from];
    struct settlement settlement = outbox->settlements[from];

    if (held->state != HELD_KEPT) {
        held_job_move(held, HELD_KEPT);
        settlement.error = arena_text(&held->arena, settlement.error);
        settlement.run.error = arena_text(&held->arena, settlement.run.error);
        settlement.result = arena_bytes(&held->arena, settlement.result);
        settlement.output = arena_bytes(&held->arena, settlement.output);
        settlement.progress_text = arena_text(&held->arena, settlement.progress_text);
        settlement.on_dead = copy_on_dead(&held->arena, settlement.on_dead);
    }
    outbox->settlements[to] = settlement;
    outbox->jobs[to] = held;
    return !held->arena.failed || error_no_memory(err);
}

void outbox_clear(struct outbox *outbox, size_t kept)
{
    arena_done(&outbox->arena);
    outbox->arena = (struct arena){0};
    outbox->count = outbox->kept = kept;
}

static bool make_room(struct outbox *outbox, size_t count)
{
    while (outbox->capacity - outbox->count < count)
        if (!grow(outbox))
            return false;
    return true;
}

bool outbox_append(struct outbox *outbox, struct outbox *from, struct error *err)
{
    if (outbox->count == 0) { /* as it is most of the time */
        const struct outbox empty = *outbox;

        *outbox = *from;
        *from = empty;
        return true;
    }
    if (!make_room(outbox, from->count))
        return error_no_memory(err);
    if (outbox->kept == outbox->count)
        outbox->kept += from->kept;
    for (size_t i = 0; i < from->count; i++) {
        outbox->settlements[outbox->count] = from->settlements[i];
        outbox->jobs[outbox->count++] = from->jobs[i];
    }
    if (from->most > 0)
        outbox->most = from->most;
    arena_join(&outbox->arena, &from->arena);
    outbox_clear(from, 0);
    return true;
}

/* ---- answers ---- */

/* By what was confirmed last; nobody extends a lease that is not in the table. */
static bool has_lease_ended(const struct dispatcher *dispatcher, const struct held_job *held)
{
    usec_t end = held->kept_until;

    if (held->state != HELD_KEPT)
        return false;
    if (held_job_has_hold(held)) {
        const usec_t stop_at = lease_table_stop_at(dispatcher->process->leases, held->hold);
        const usec_t confirmed = lease_ends_at(stop_at, dispatcher->config->pool.lease);

        end = confirmed > end ? confirmed : end;
    }
    return clock_boot() >= end;
}

static bool keep(struct dispatcher *dispatcher, size_t from, size_t to, struct error *err)
{
    struct held_job *held = dispatcher->outbox.jobs[from];

    if (held->state != HELD_KEPT) {
        held->kept_until = clock_boot() + dispatcher->config->pool.lease;
        queues_wake(&dispatcher->queues); /* its queue has to be asked to be seen as away */
    }
    return outbox_keep(&dispatcher->outbox, from, to, err);
}

/* It waits for its time now: whoever makes it ready again has to know, if that is soon. */
static void note_due(struct dispatcher *dispatcher, const struct settlement *settlement)
{
    if ((settlement->kind == SETTLE_RETRY || settlement->kind == SETTLE_SNOOZE) &&
        job_state_is_due_soon(settlement->run_at, dispatcher->now.store))
        dispatcher_add(dispatcher, CHORE_TELL_DUE);
}

/* All are gone through, whatever happens: a job that is let go must not stay in the outbox. */
bool outbox_take_answers(struct dispatcher *dispatcher, size_t from, struct error *err)
{
    struct outbox *outbox = &dispatcher->outbox;
    bool copied_all = true;
    size_t kept = from;

    for (size_t i = from; i < outbox->count; i++) {
        struct held_job *held = outbox->jobs[i];
        const bool is_over = settlement_is_over(outbox->verdicts[i]);

        if (!is_over && !has_lease_ended(dispatcher, held)) {
            copied_all = keep(dispatcher, i, kept++, err) && copied_all;
            continue;
        }
        note_due(dispatcher, &outbox->settlements[i]);
        const enum th_error_code verdict = is_over ? outbox->verdicts[i] : TH_E_LEASE_EXPIRED;

        events_log(held, &outbox->settlements[i], verdict);
        tally_settled(dispatcher, held, &outbox->settlements[i], verdict);
        if (outbox->verdicts[i] == TH_OK)
            news_tell_settled(dispatcher, held, &outbox->settlements[i]);
        conclude_silently(dispatcher, held);
    }
    outbox_clear(outbox, kept);
    outbox_turn(outbox, from);
    if (from == 0)
        outbox_wait(outbox, clock_boot());
    return copied_all;
}

void outbox_trim(struct outbox *outbox)
{
    assert(outbox->count == 0);
    free(outbox->settlements);
    free(outbox->jobs);
    free(outbox->verdicts);
    outbox->settlements = NULL;
    outbox->jobs = NULL;
    outbox->verdicts = NULL;
    outbox->capacity = 0;
}

void outbox_done(struct outbox *outbox)
{
    for (size_t i = 0; i < outbox->count; i++) {
        if (!held_job_has_hold(outbox->jobs[i]))
            held_job_free(outbox->jobs[i]);
    }
    outbox_clear(outbox, 0);
    outbox_trim(outbox);
    *outbox = (struct outbox){0};
}

/*
 * follow.c - wait for a job's end, seeing its progress and, if wanted, its output.
 *
 * No backend tells a client that a job has ended, so this looks again and again: soon at first,
 * for jobs that take a moment, then less and less often.
 *
 * Whoever looks on gets news as they come: attention.h.
 */
#include "client/follow.h"

#include "base/backoff.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "client/attention.h"

#include <string.h>

#define DELAY_FIRST (2 * USEC_PER_MSEC)
#define DELAY_MAX   (250 * USEC_PER_MSEC)
#define DELAY_CLOSE (80 * USEC_PER_MSEC)  /* of a running job, whose news somebody waits for */
#define MARK_AFTER  (100 * USEC_PER_MSEC) /* jobs that take a moment need none */

static usec_t min_usec(usec_t a, usec_t b)
{
    return a < b ? a : b;
}

static usec_t deadline_after(usec_t timeout)
{
    usec_t now = clock_boot();

    return timeout > USEC_MAX - now ? USEC_MAX : now + timeout;
}

static bool is_passing(enum th_error_code code)
{
    return code == TH_E_UNAVAILABLE || code == TH_E_UNCERTAIN;
}

static bool is_same(struct bytes a, struct bytes b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

static bool has_changed(const struct job *before, const struct job *after, bool sees_output)
{
    return before->state != after->state || before->aside != after->aside ||
           before->progress_percent != after->progress_percent ||
           !text_equal(before->progress_text, after->progress_text) ||
           (sees_output && !is_same(before->output, after->output));
}

/* Replaces what was seen last by what is there now. */
static bool look(struct store *store, const struct uuid *id, bool sees_output,
                 struct job_list *job_out, bool *changed_out, struct error *err)
{
    CLEANUP(job_list_done) struct job_list fresh = {0};

    if (!store_get(store, id, &fresh, err))
        return false;
    *changed_out =
        job_out->count == 0 || has_changed(&job_out->items[0], &fresh.items[0], sees_output);

    struct job_list before = *job_out;
    *job_out = fresh;
    fresh = before;
    return true;
}

static void pay_attention(struct attention *attention, struct store *store, const struct job *job)
{
    const struct watched_job watched = {job->id, job->queue};
    const struct watch watch = {.jobs = &watched, .count = 1};

    attention_pay(attention, store, &watch);
}

bool follow_job(struct store *store, const struct uuid *id, usec_t timeout,
                const struct follow *follow, struct job_list *job_out, bool *ended_out,
                struct error *err)
{
    usec_t deadline = deadline_after(timeout);
    usec_t delay = DELAY_FIRST;
    struct attention attention = {.mark_at = clock_boot() + MARK_AFTER};

    for (;;) {
        bool changed = false;
        bool looked = look(store, id, follow->sees_output, job_out, &changed, err);

        if (!looked && !is_passing(err->code))
            return false;
        *ended_out = looked && job_state_has_ended(job_out->items[0].state);
        bool stop = changed && follow->seen && !follow->seen(&job_out->items[0], follow->context);
        usec_t left = deadline - clock_boot();
        stop |= follow->stopped && follow->stopped();
        if (*ended_out || stop || left <= 0)
            return looked;
        const bool looks_on = looked && follow->seen;
        if (looks_on)
            pay_attention(&attention, store, &job_out->items[0]);
        clock_sleep(min_usec(delay, left));
        const bool is_close = looks_on && job_out->items[0].state == JOB_RUNNING;
        delay = backoff_next(delay, DELAY_FIRST, is_close ? DELAY_CLOSE : DELAY_MAX);
    }
}

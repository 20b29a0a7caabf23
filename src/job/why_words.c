/*
 * why_words.c - what a job waits for, as a sentence, and what would help, as another.
 *
 * What others wrote (errors, names of pools) is quoted as it is: whoever shows the sentence on a
 * terminal makes it harmless.
 */
#include "job/why.h"

#include "base/text.h"
#include "base/timestamp.h"
#include "job/job.h"

#include <assert.h>
#include <stdio.h>

#define ERROR_SHOWN 200
#define AGO_SIZE    (UNITS_TEXT_SIZE + 8)
#define ASK_SIZE    (JOB_NAME_MAX + 32)

/* "5m 20s", "71ms", and "0s" for what is over: nobody reads a smaller fraction. */
static const char *span(usec_t from, usec_t to, char text[UNITS_TEXT_SIZE])
{
    const usec_t length = to > from ? to - from : 0;
    const usec_t step = length < USEC_PER_SEC ? USEC_PER_MSEC : USEC_PER_SEC;

    return units_format_duration(length - length % step, text);
}

/* "5m 20s ago", "just now". */
static const char *ago(usec_t then, usec_t now, char text[AGO_SIZE])
{
    char length[UNITS_TEXT_SIZE];

    if (now - then < USEC_PER_SEC)
        snprintf(text, AGO_SIZE, "just now");
    else
        snprintf(text, AGO_SIZE, "%s ago", span(then, now, length));
    return text;
}

/* " (did you mean 'mail'?)", or nothing. */
static const char *ask(const char *close, char text[ASK_SIZE])
{
    snprintf(text, ASK_SIZE, "%s%s%s", close ? " (did you mean '" : "", close ? close : "",
             close ? "'?)" : "");
    return text;
}

static void tell_due(const struct why_facts *facts, struct why *why)
{
    const struct job *job = facts->job;
    char in[UNITS_TEXT_SIZE], at[TIMESTAMP_SIZE];

    span(facts->now, why->until, in);
    timestamp_format(why->until, at);
    if (job->state == JOB_RETRY)
        snprintf(why->text, sizeof why->text,
                 "it has failed (attempts: %d) and is tried again in %s, at %s", job->attempts, in,
                 at);
    else
        snprintf(why->text, sizeof why->text, "it is scheduled for %s, in %s", at, in);
    snprintf(why->help, sizeof why->help, "thctl run lets it run now");
}

static void tell_key(const struct why_facts *facts, struct why *why)
{
    char id[UUID_TEXT_SIZE];

    (void)facts;
    if (why->job_count > 0)
        snprintf(why->text, sizeof why->text,
                 "job %s with the same key is running: this one follows when that has ended",
                 uuid_format(&why->jobs[0], id));
    else
        snprintf(why->text, sizeof why->text,
                 "a job with the same key was running until just now: it is about to be ready");
}

static void tell_paused(const struct why_facts *facts, struct why *why)
{
    char when[AGO_SIZE];

    snprintf(why->text, sizeof why->text, "queue %s was paused %s%s%s", facts->job->queue,
             ago(why->since, facts->now, when), why->by ? " by " : "", why->by ? why->by : "");
    snprintf(why->help, sizeof why->help, "thctl resume %s serves it again", facts->job->queue);
}

static void tell_no_pool(const struct why_facts *facts, struct why *why)
{
    size_t silent = 0, draining = 0;
    char meant[ASK_SIZE];

    for (size_t i = 0; i < facts->pool_count; i++) {
        silent += facts->pools[i].serves && facts->pools[i].is_silent;
        draining +=
            facts->pools[i].serves && facts->pools[i].is_draining && !facts->pools[i].is_silent;
    }
    if (draining > 0)
        snprintf(why->text, sizeof why->text,
                 "the pool that serves queue %s is draining, and no other one does",
                 facts->job->queue);
    else if (silent > 0)
        snprintf(why->text, sizeof why->text,
                 "the pool that serves queue %s has not been heard of, and no other one does",
                 facts->job->queue);
    else
        snprintf(why->text, sizeof why->text, "no live pool serves queue %s%s", facts->job->queue,
                 ask(facts->close_queue, meant));
    snprintf(why->help, sizeof why->help,
             "start a thd whose config has %s under queues (thctl pools shows what there is)",
             facts->job->queue);
}

static void tell_no_handler(const struct why_facts *facts, struct why *why)
{
    char meant[ASK_SIZE];

    snprintf(why->text, sizeof why->text, "no live pool of queue %s has a handler for type %s%s",
             facts->job->queue, facts->job->type, ask(facts->close_type, meant));
    snprintf(why->help, sizeof why->help,
             "add %s under handlers in the config of one of them, and reload it (thctl pools shows "
             "what they handle)",
             facts->job->type);
}

static void tell_cannot_start(const struct why_facts *facts, struct why *why)
{
    const struct bytes line = text_last_line(why->error ? why->error : "");
    const size_t shown = line.length < ERROR_SHOWN ? line.length : ERROR_SHOWN;
    char in[UNITS_TEXT_SIZE];
    int end = snprintf(why->text, sizeof why->text, "its handler cannot be started: %.*s",
                       (int)shown, shown > 0 ? (const char *)line.data : "");

    if (why->until > facts->now && end > 0 && (size_t)end < sizeof why->text)
        snprintf(why->text + end, sizeof why->text - (size_t)end, "; tried again in %s",
                 span(facts->now, why->until, in));
    snprintf(why->help, sizeof why->help,
             "fix the handler of %s; its jobs wait meanwhile, and nothing is counted",
             facts->job->type);
}

static void tell_max_running(const struct why_facts *facts, struct why *why)
{
    const bool is_one = facts->running == 1;

    snprintf(why->text, sizeof why->text,
             "%" PRId64 " job%s of queue %s run%s, and its max_running is %" PRId64, facts->running,
             is_one ? "" : "s", facts->job->queue, is_one ? "s" : "", why->limit);
    snprintf(why->help, sizeof why->help, "it waits for one of them to end, or for a larger limit");
}

static void tell_rate(const struct why_facts *facts, struct why *why)
{
    char in[UNITS_TEXT_SIZE], rate[UNITS_TEXT_SIZE] = "?";

    for (size_t i = 0; i < facts->pool_count; i++) {
        if (facts->pools[i].serves && facts->pools[i].rate.count > 0)
            units_format_rate(&facts->pools[i].rate, rate);
    }
    snprintf(
        why->text, sizeof why->text,
        "queue %s has started as many jobs as its rate of %s allows: the next one may start in "
        "%s",
        facts->job->queue, rate, span(facts->now, why->until, in));
}

static void tell_turn(const struct why_facts *facts, struct why *why)
{
    const char *queue = facts->job->queue;
    char in[UNITS_TEXT_SIZE];
    int end;

    if (why->before == 0) {
        snprintf(why->text, sizeof why->text,
                 "it is the next one of queue %s, when a worker is free", queue);
        return;
    }
    end = snprintf(why->text, sizeof why->text, "%s%" PRId64 " job%s of queue %s %s before it",
                   why->before >= WHY_BEFORE_MAX ? "at least " : "", why->before,
                   why->before == 1 ? "" : "s", queue, why->before == 1 ? "is" : "are");
    if (why->until != 0 && end > 0 && (size_t)end < sizeof why->text)
        snprintf(why->text + end, sizeof why->text - (size_t)end,
                 ": at the present rate its turn comes in about %s",
                 span(facts->now, why->until, in));
}

static void tell_running(const struct why_facts *facts, struct why *why)
{
    char lasts[UNITS_TEXT_SIZE];

    snprintf(why->text, sizeof why->text, "it has been running for %s, in pool %s",
             span(why->since, facts->now, lasts), why->pool ? why->pool : "?");
}

static void tell_pool_silent(const struct why_facts *facts, struct why *why)
{
    char in[UNITS_TEXT_SIZE];

    if (why->until > facts->now)
        snprintf(why->text, sizeof why->text,
                 "pool %s, which runs it, has not been heard of: its lease ends in %s, then it is "
                 "ready again",
                 why->pool ? why->pool : "?", span(facts->now, why->until, in));
    else
        snprintf(why->text, sizeof why->text,
                 "pool %s, which ran it, is silent and its lease is over: a pool that serves queue "
                 "%s takes it back",
                 why->pool ? why->pool : "?", facts->job->queue);
    snprintf(why->help, sizeof why->help, "see thctl pools, and whether that machine is up");
}

static void tell_ended(const struct why_facts *facts, struct why *why)
{
    const struct job *job = facts->job;
    const char *reason = job_reason_name(job->reason);
    char when[AGO_SIZE];

    snprintf(why->text, sizeof why->text, "it ended %s: %s%s%s%s",
             ago(why->since, facts->now, when), job_state_name(job->state), reason ? " (" : "",
             reason ? reason : "", reason ? ")" : "");
    if (job->state == JOB_DEAD)
        snprintf(why->help, sizeof why->help, "thctl retry runs it again");
}

/* clang-format off */
static void (*const words[])(const struct why_facts *facts, struct why *why) = {
    [WHY_DUE_LATER]    = tell_due,
    [WHY_KEY]          = tell_key,
    [WHY_PAUSED]       = tell_paused,
    [WHY_NO_POOL]      = tell_no_pool,
    [WHY_NO_HANDLER]   = tell_no_handler,
    [WHY_CANNOT_START] = tell_cannot_start,
    [WHY_MAX_RUNNING]  = tell_max_running,
    [WHY_RATE]         = tell_rate,
    [WHY_TURN]         = tell_turn,
    [WHY_RUNNING]      = tell_running,
    [WHY_POOL_SILENT]  = tell_pool_silent,
    [WHY_ENDED]        = tell_ended,
};
/* clang-format on */

static_assert(COUNT_OF(words) == WHY_CODES, "every code has its words");

void why_tell(const struct why_facts *facts, struct why *why)
{
    words[why->code](facts, why);
}

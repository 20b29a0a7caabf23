/*
 * why.c - what a job waits for: the first reason that applies.
 */
#include "job/why.h"

#include "base/json_writer.h"
#include "job/job.h"
#include "job/rate.h"

#include <assert.h>
#include <string.h>

/* clang-format off */
static const char *const names[] = {
    [WHY_DUE_LATER]    = "due_later",
    [WHY_KEY]          = "key",
    [WHY_PAUSED]       = "paused",
    [WHY_NO_POOL]      = "no_pool",
    [WHY_NO_HANDLER]   = "no_handler",
    [WHY_CANNOT_START] = "cannot_start",
    [WHY_MAX_RUNNING]  = "max_running",
    [WHY_RATE]         = "rate",
    [WHY_TURN]         = "turn",
    [WHY_RUNNING]      = "running",
    [WHY_POOL_SILENT]  = "pool_silent",
    [WHY_ENDED]        = "ended",
};
/* clang-format on */

static_assert(COUNT_OF(names) == WHY_CODES, "every code has its name");

const char *why_code_name(enum why_code code)
{
    assert((unsigned)code < WHY_CODES);
    return names[code];
}

/* ---- jobs that run or have ended ---- */

static bool is_heard_of(const struct why_facts *facts, const char *pool)
{
    for (size_t i = 0; pool && i < facts->pool_count; i++) {
        const struct why_pool *seen = &facts->pools[i];

        if (strcmp(seen->name, pool) == 0)
            return !seen->is_silent;
    }
    return false;
}

static void decide_running(const struct why_facts *facts, struct why *why)
{
    const struct job *job = facts->job;
    const bool is_held = job->expires_at > facts->now && is_heard_of(facts, job->pool);

    why->code = is_held ? WHY_RUNNING : WHY_POOL_SILENT;
    why->pool = job->pool;
    why->since = job->started_at;
    why->until = is_held ? 0 : job->expires_at;
}

/* ---- jobs that wait ---- */

static bool is_at_work(const struct why_pool *pool)
{
    return !pool->is_silent && !pool->is_draining && pool->serves;
}

static bool may_run(const struct why_pool *pool)
{
    return is_at_work(pool) && pool->handles;
}

static size_t count_pools(const struct why_facts *facts, bool (*fits)(const struct why_pool *pool))
{
    size_t count = 0;

    for (size_t i = 0; i < facts->pool_count; i++)
        count += fits(&facts->pools[i]);
    return count;
}

static bool find_start_failure(const struct why_facts *facts, struct why *why)
{
    for (size_t i = 0; i < facts->pool_count; i++) {
        const struct why_pool *pool = &facts->pools[i];

        if (!may_run(pool))
            continue;
        if (!pool->start_error)
            return false;
        why->error = pool->start_error;
        why->since = pool->start_since;
        if (why->until == 0 || pool->next_try < why->until)
            why->until = pool->next_try;
    }
    return why->error != NULL;
}

/* One that was set aside is tried by nobody until a handler starts again. */
static bool cannot_start(const struct why_facts *facts, struct why *why)
{
    const struct job *job = facts->job;

    if (!find_start_failure(facts, why) && job->aside != ASIDE_CANNOT_START)
        return false;
    if (!why->error)
        why->error = job->last_error;
    if (job->aside == ASIDE_CANNOT_START)
        why->since = job->aside_since;
    return true;
}

/* Each pool keeps to its own limits: one that has room is enough. */
static bool is_full(const struct why_facts *facts, struct why *why)
{
    for (size_t i = 0; i < facts->pool_count; i++) {
        const struct why_pool *pool = &facts->pools[i];

        if (!may_run(pool))
            continue;
        if (pool->max_running == 0 || facts->running < pool->max_running)
            return false;
        if (pool->max_running > why->limit)
            why->limit = pool->max_running;
    }
    return why->limit > 0;
}

static bool is_limited(const struct why_facts *facts, struct why *why)
{
    usec_t free_at = 0;

    for (size_t i = 0; i < facts->pool_count; i++) {
        const struct why_pool *pool = &facts->pools[i];

        if (!may_run(pool))
            continue;
        if (pool->rate.count == 0)
            return false;
        const usec_t next = rate_next(&pool->rate, facts->spent_until, facts->now);
        if (next <= facts->now)
            return false;
        if (free_at == 0 || next < free_at)
            free_at = next;
    }
    why->until = free_at;
    return free_at != 0;
}

static void take_jobs(const struct why_facts *facts, struct why *why)
{
    for (size_t i = 0; i < facts->running_count && i < WHY_JOBS_MAX; i++)
        why->jobs[why->job_count++] = facts->running_jobs[i];
}

/* About when those before it are done, as it went lately. */
static void foresee(const struct why_facts *facts, struct why *why)
{
    why->before = (int64_t)facts->before;
    if (facts->before < WHY_BEFORE_MAX && facts->done > 0 && facts->done_in > 0)
        why->until = facts->now + facts->done_in / facts->done * why->before;
}

static void decide_paused(const struct why_facts *facts, struct why *why)
{
    why->code = WHY_PAUSED;
    why->since = facts->paused_at;
    why->by = facts->paused_by;
}

static void decide_ready(const struct why_facts *facts, struct why *why)
{
    if (facts->paused_at != 0) {
        decide_paused(facts, why);
    } else if (count_pools(facts, is_at_work) == 0) {
        why->code = WHY_NO_POOL;
    } else if (count_pools(facts, may_run) == 0) {
        why->code = WHY_NO_HANDLER;
        why->since = facts->job->aside_since;
    } else if (cannot_start(facts, why)) {
        why->code = WHY_CANNOT_START;
    } else if (is_full(facts, why)) {
        why->code = WHY_MAX_RUNNING;
        take_jobs(facts, why);
    } else if (is_limited(facts, why)) {
        why->code = WHY_RATE;
    } else {
        why->code = WHY_TURN;
        why->limit = 0;
        foresee(facts, why);
    }
}

bool why_is_due_later(const struct job *job, usec_t now)
{
    return job->due > now && (job->state == JOB_SCHEDULED || job->state == JOB_RETRY);
}

static void decide_waiting(const struct why_facts *facts, struct why *why)
{
    if (facts->job->state == JOB_BLOCKED) {
        why->code = WHY_KEY;
        take_jobs(facts, why);
    } else if (why_is_due_later(facts->job, facts->now)) {
        why->code = WHY_DUE_LATER;
        why->until = facts->job->due;
    } else {
        decide_ready(facts, why);
    }
}

void why_decide(const struct why_facts *facts, struct why *why_out)
{
    *why_out = (struct why){.before = -1};
    if (job_state_has_ended(facts->job->state)) {
        why_out->code = WHY_ENDED;
        why_out->since = facts->job->ended_at;
    } else if (facts->job->state == JOB_RUNNING) {
        decide_running(facts, why_out);
    } else {
        decide_waiting(facts, why_out);
    }
    why_tell(facts, why_out);
}

static void add_number(struct json_writer *json, const char *name, int64_t number, int64_t absent)
{
    if (number == absent)
        json_write_null(json, name);
    else
        json_write_int(json, name, number);
}

void why_json_add(struct json_writer *json, const char *name, const struct why *why)
{
    char id[UUID_TEXT_SIZE];

    if (!why) {
        json_write_null(json, name);
        return;
    }
    json_write_open(json, name, '{');
    json_write_text(json, "code", why_code_name(why->code));
    json_write_text(json, "text", why->text);
    json_write_text(json, "help", why->help[0] != '\0' ? why->help : NULL);
    json_write_time(json, "since", why->since);
    json_write_time(json, "until", why->until);
    json_write_text(json, "by", why->by);
    json_write_text(json, "pool", why->pool);
    json_write_text(json, "error", why->error);
    add_number(json, "max_running", why->limit, 0);
    add_number(json, "before", why->before, -1);
    json_write_open(json, "jobs", '[');
    for (size_t i = 0; i < why->job_count; i++)
        json_write_text(json, NULL, uuid_format(&why->jobs[i], id));
    json_write_close(json, ']');
    json_write_close(json, '}');
}

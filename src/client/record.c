/*
 * record.c - jobs and queues as callers of <taskharbor/client.h> see them.
 *
 * The public struct is the first member of the one that owns its memory, so that freeing it finds
 * all of it.
 */
#include "client/record.h"

#include "base/error.h"
#include "store/listing.h"

#include <stdlib.h>

struct job_record {
    struct th_job_info info;
    struct job_list jobs; /* owned: the one job */
};

struct page_record {
    struct th_page page;
    struct job_list jobs; /* owned */
};

struct stats_record {
    struct th_stats stats;
    struct queue_stats_list queues; /* owned */
};

/* ---- states ---- */

enum th_state record_state(enum job_state state)
{
    switch (state) {
    case JOB_SCHEDULED:
        return TH_STATE_SCHEDULED;
    case JOB_READY:
        return TH_STATE_READY;
    case JOB_BLOCKED:
        return TH_STATE_BLOCKED;
    case JOB_RUNNING:
        return TH_STATE_RUNNING;
    case JOB_RETRY:
        return TH_STATE_RETRY;
    case JOB_DONE:
        return TH_STATE_DONE;
    case JOB_DEAD:
        return TH_STATE_DEAD;
    case JOB_CANCELLED:
        return TH_STATE_CANCELLED;
    }
    return TH_STATE_ANY;
}

bool record_to_job_state(enum th_state state, enum job_state *state_out)
{
    for (int i = 0; i < JOB_STATES; i++) {
        if (record_state((enum job_state)i) != state)
            continue;
        *state_out = (enum job_state)i;
        return true;
    }
    return false;
}

/* ---- one job ---- */

static const char *id_text(const struct uuid *id, struct arena *arena)
{
    char text[UUID_TEXT_SIZE];

    return arena_text(arena, uuid_format(id, text));
}

static void fill_run(const struct job_run *run, struct th_run_info *info_out)
{
    *info_out = (struct th_run_info){
        .execution = run->execution,
        .pool = run->pool,
        .worker = run->worker,
        .exit_code = run->exit_code,
        .signal = run->signal,
        .started_at = run->started_at,
        .wall = run->wall,
        .user = run->user,
        .system = run->system,
        .max_rss_kb = run->max_rss_kb,
        .outcome = run_outcome_name(run->outcome),
        .error = run->error,
    };
}

static bool fill_runs(const struct job *job, struct arena *arena, struct th_job_info *info_out)
{
    if (job->run_count == 0)
        return true;

    struct th_run_info *infos = arena_alloc(arena, job->run_count * sizeof *infos);
    const struct th_run_info **runs = arena_alloc(arena, job->run_count * sizeof(void *));

    if (!infos || !runs)
        return false;
    for (size_t i = 0; i < job->run_count; i++) {
        fill_run(&job->runs[i], &infos[i]);
        runs[i] = &infos[i];
    }
    info_out->runs = runs;
    info_out->run_count = job->run_count;
    return true;
}

static void fill_request(const struct job *job, struct th_job_info *info_out)
{
    info_out->type = job->type;
    info_out->queue = job->queue;
    info_out->encoding = job->encoding == JOB_JSON ? TH_ENCODING_JSON : TH_ENCODING_RAW;
    info_out->payload = job->payload.data;
    info_out->payload_size = job->payload.length;
    info_out->priority = job->priority;
    info_out->run_at = job->run_at;
    info_out->timeout = job->timeout;
    info_out->max_attempts = job->max_attempts;
    info_out->max_stalls = job->max_stalls;
    info_out->key = job->key;
    info_out->idempotency_key = job->idempotency_key;
    info_out->headers = job->headers;
    info_out->tags = job->tags.names;
    info_out->tag_count = job->tags.count;
}

static void fill_history(const struct job *job, struct th_job_info *info_out)
{
    info_out->state = record_state(job->state);
    info_out->attempts = job->attempts;
    info_out->stalls = job->stalls;
    info_out->executions = job->executions;
    info_out->created_at = job->created_at;
    info_out->started_at = job->started_at;
    info_out->ended_at = job->ended_at;
    info_out->cancel_requested_at = job->cancel_requested_at;
    info_out->pool = job->pool;
    info_out->worker = job->worker;
    info_out->progress_percent = job->progress_percent;
    info_out->progress_text = job->progress_text;
    info_out->result = job->result.data;
    info_out->result_size = job->result.length;
    info_out->output = job->output.data;
    info_out->output_size = job->output.length;
    info_out->last_error = job->last_error;
    info_out->failed_at = job->failed_at;
    info_out->reason = job_reason_name(job->reason);
    info_out->exit_code = job->exit_code;
    info_out->signal = job->signal;
}

bool record_fill_job(const struct job *job, struct arena *arena, struct th_job_info *info_out,
                     struct error *err)
{
    *info_out = (struct th_job_info){.id = id_text(&job->id, arena)};
    if (!uuid_is_nil(&job->merged_into))
        info_out->merged_into = id_text(&job->merged_into, arena);
    fill_request(job, info_out);
    fill_history(job, info_out);
    if (!fill_runs(job, arena, info_out) || arena->failed)
        return error_no_memory(err);
    return true;
}

bool record_new_job(struct job_list *jobs, struct th_job_info **job_out, struct error *err)
{
    struct job_record *record = calloc(1, sizeof *record);

    if (!record) {
        job_list_done(jobs);
        return error_no_memory(err);
    }
    record->jobs = *jobs;
    *jobs = (struct job_list){0};
    if (!record_fill_job(&record->jobs.items[0], &record->jobs.arena, &record->info, err)) {
        record_free_job(&record->info);
        return false;
    }
    *job_out = &record->info;
    return true;
}

void record_free_job(struct th_job_info *job)
{
    struct job_record *record = (struct job_record *)job;

    if (record)
        job_list_done(&record->jobs);
    free(record);
}

/* ---- a page of jobs ---- */

static bool fill_page(struct page_record *record, const struct job_cursor *next, struct error *err)
{
    struct arena *arena = &record->jobs.arena;
    size_t count = record->jobs.count;

    if (next->is_set)
        listing_format_cursor(next, record->page.next);
    if (count == 0)
        return true;

    struct th_job_info *infos = arena_alloc(arena, count * sizeof *infos);
    const struct th_job_info **jobs = arena_alloc(arena, count * sizeof(void *));

    if (!infos || !jobs)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        if (!record_fill_job(&record->jobs.items[i], arena, &infos[i], err))
            return false;
        jobs[i] = &infos[i];
    }
    record->page.jobs = jobs;
    record->page.count = count;
    return true;
}

bool record_new_page(struct job_list *jobs, const struct job_cursor *next,
                     struct th_page **page_out, struct error *err)
{
    struct page_record *record = calloc(1, sizeof *record);

    if (!record) {
        job_list_done(jobs);
        return error_no_memory(err);
    }
    record->jobs = *jobs;
    *jobs = (struct job_list){0};
    if (!fill_page(record, next, err)) {
        record_free_page(&record->page);
        return false;
    }
    *page_out = &record->page;
    return true;
}

void record_free_page(struct th_page *page)
{
    struct page_record *record = (struct page_record *)page;

    if (record)
        job_list_done(&record->jobs);
    free(record);
}

/* ---- queues ---- */

static void fill_queue(const struct queue_stats *stats, struct th_queue_info *info_out)
{
    *info_out = (struct th_queue_info){
        .queue = stats->queue,
        .paused_at = stats->paused_at,
        .scheduled = stats->jobs[JOB_SCHEDULED],
        .ready = stats->jobs[JOB_READY],
        .blocked = stats->jobs[JOB_BLOCKED],
        .running = stats->jobs[JOB_RUNNING],
        .retry = stats->jobs[JOB_RETRY],
        .done = stats->jobs[JOB_DONE],
        .dead = stats->jobs[JOB_DEAD],
        .cancelled = stats->jobs[JOB_CANCELLED],
        .oldest_ready = stats->oldest_ready,
        .done_total = stats->done_total,
        .failed_total = stats->failed_total,
        .no_handler = stats->no_handler,
        .cannot_start = stats->cannot_start,
    };
}

static bool fill_stats(struct stats_record *record, struct error *err)
{
    struct arena *arena = &record->queues.arena;
    size_t count = record->queues.count;

    if (count == 0)
        return true;

    struct th_queue_info *infos = arena_alloc(arena, count * sizeof *infos);
    const struct th_queue_info **queues = arena_alloc(arena, count * sizeof(void *));

    if (!infos || !queues)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        fill_queue(&record->queues.items[i], &infos[i]);
        queues[i] = &infos[i];
    }
    record->stats.queues = queues;
    record->stats.count = count;
    return true;
}

bool record_new_stats(struct queue_stats_list *queues, struct th_stats **stats_out,
                      struct error *err)
{
    struct stats_record *record = calloc(1, sizeof *record);

    if (!record) {
        queue_stats_list_done(queues);
        return error_no_memory(err);
    }
    record->queues = *queues;
    *queues = (struct queue_stats_list){0};
    if (!fill_stats(record, err)) {
        record_free_stats(&record->stats);
        return false;
    }
    *stats_out = &record->stats;
    return true;
}

void record_free_stats(struct th_stats *stats)
{
    struct stats_record *record = (struct stats_record *)stats;

    if (record)
        queue_stats_list_done(&record->queues);
    free(record);
}

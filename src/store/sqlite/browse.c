/*
 * browse.c - jobs for people: one, or a page in order of id.
 */
#include "base/cleanup.h"
#include "store/sqlite/query.h"
#include "store/sqlite/sqlite_jobs.h"
#include "store/sqlite/standing.h"

/* Payloads on one page, so that a page of large jobs does not need gigabytes. */
#define PAGE_BYTES ((size_t)16 << 20)

static int column_int_or(struct query *query, int absent)
{
    bool null = column_is_null(query);
    int value = (int)column_int(query);

    return null ? absent : value;
}

/* The columns of job_view, in its order. */
static void read_job(struct query *query, struct arena *arena, struct job *job)
{
    job->ref = column_int(query);
    job->id = column_uuid(query);
    job->type = column_text(query, arena);
    job->queue = column_text(query, arena);
    job->state = (enum job_state)column_int(query);
    job->encoding = column_int(query) == JOB_RAW ? JOB_RAW : JOB_JSON;
    job->payload = column_bytes(query, arena);
    job->priority = (int)column_int(query);
    job->due = column_int(query);
    job->run_at = column_int(query);
    job->timeout = column_int(query);
    job->attempts = (int)column_int(query);
    job->max_attempts = (int)column_int(query);
    job->executions = column_int(query);
    job->stalls = (int)column_int(query);
    job->max_stalls = (int)column_int(query);
    job->key = column_text(query, arena);
    job_flags_unpack((int)column_int(query), job);
    job->idempotency_key = column_text(query, arena);
    job->created_at = column_int(query);
    job->started_at = column_int(query);
    job->ended_at = column_int(query);
    job->token = column_token(query);
    job->expires_at = column_int(query);
    job->pool = column_text(query, arena);
    job->worker = (int)column_int(query);
    job->cancel_requested_at = column_int(query);
    job->merged_into = column_uuid(query);
    job->last_error = column_text(query, arena);
    job->failed_at = column_int(query);
    job->reason = (enum job_reason)column_int(query);
    job->exit_code = column_int_or(query, JOB_NO_EXIT_CODE);
    job->signal = (int)column_int(query);
    job->progress_percent = column_int_or(query, -1);
    job->progress_text = column_text(query, arena);
    job->result = column_bytes(query, arena);
    job->output = column_bytes(query, arena);
}

static void read_run(struct query *query, struct arena *arena, struct job_run *run)
{
    run->execution = column_int(query);
    run->outcome = (enum run_outcome)column_int(query);
    run->pool = column_text(query, arena);
    run->worker = (int)column_int(query);
    run->started_at = column_int(query);
    run->wall = column_int(query);
    run->user = column_int(query);
    run->system = column_int(query);
    run->max_rss_kb = column_int(query);
    run->exit_code = column_int_or(query, JOB_NO_EXIT_CODE);
    run->signal = (int)column_int(query);
    run->error = column_text(query, arena);
}

static bool read_runs(struct sqlite *sqlite, struct arena *arena, struct job *job,
                      struct error *err)
{
    bool found;
    CLEANUP(query_done) struct query query = query_start(sqlite, SQL_RUNS);

    /* One more than is kept: a done job has its last run in another table. */
    job->runs = arena_alloc(arena, (JOB_RUNS_KEPT + 1) * sizeof(*job->runs));
    if (job->runs == NULL)
        return error_no_memory(err);
    query_int(&query, job->ref);
    while (job->run_count <= JOB_RUNS_KEPT) {
        if (!query_row(&query, &found, err))
            return false;
        if (!found)
            break;
        read_run(&query, arena, &job->runs[job->run_count++]);
    }
    if (job->run_count > JOB_RUNS_KEPT) {
        job->runs++;
        job->run_count = JOB_RUNS_KEPT;
    }
    return true;
}

/* Every job that the query answers, up to the limit and PAGE_BYTES. */
static bool read_jobs(struct query *query, size_t limit, struct job_list *jobs_out, bool *more_out,
                      struct error *err)
{
    struct arena *arena = &jobs_out->arena;
    size_t bytes = 0;
    bool found;

    *more_out = false;
    for (size_t read = 0;; read++) {
        if (!query_row(query, &found, err))
            return false;
        if (!found)
            break;
        *more_out = read == limit || bytes >= PAGE_BYTES;
        if (*more_out)
            break;
        struct job *job = job_list_add(jobs_out);
        if (job == NULL)
            return error_no_memory(err);
        read_job(query, arena, job);
        bytes += job->payload.length;
        if (!read_runs(query->sqlite, arena, job, err))
            return false;
    }
    return !arena->failed || error_no_memory(err);
}

static bool get(struct sqlite *sqlite, const struct uuid *id, struct job_list *job_out,
                struct error *err)
{
    char text[UUID_TEXT_SIZE];
    size_t before = job_out->count;
    bool more;
    CLEANUP(query_done) struct query query = query_start(sqlite, SQL_GET);

    query_uuid(&query, id);
    if (!read_jobs(&query, 1, job_out, &more, err))
        return false;
    return job_out->count > before ||
           error_set(err, TH_E_NOT_FOUND, "no job %s", uuid_format(id, text));
}

bool sqlite_get(struct store *store, const struct uuid *id, struct job_list *job_out,
                struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);

    return sqlite_begin_read(sqlite, err) && sqlite_end(sqlite, get(sqlite, id, job_out, err), err);
}

/* Jobs that are sorted by id in no time; of more, a page is found sooner by going through all. */
#define FEW_JOBS 20000

static enum sql_statement statement_for_few(enum job_state state)
{
    switch (state) {
    case JOB_READY:
        return SQL_LIST_READY;
    case JOB_SCHEDULED:
    case JOB_BLOCKED:
    case JOB_RETRY:
        return SQL_LIST_WAITING;
    case JOB_RUNNING:
        return SQL_LIST_RUNNING;
    case JOB_DONE:
    case JOB_DEAD:
    case JOB_CANCELLED:
        return SQL_LIST_ENDED;
    }
    return SQL_LIST_MANY;
}

static bool choose_statement(struct sqlite *sqlite, const struct job_filter *filter,
                             enum sql_statement *statement_out, struct error *err)
{
    bool found;

    *statement_out = SQL_LIST;
    if (!filter->by_state)
        return true;
    CLEANUP(query_done) struct query query = query_start(sqlite, SQL_COUNT_STATE);
    query_int(&query, filter->state);
    query_int(&query, FEW_JOBS + 1);
    if (!query_row(&query, &found, err))
        return false;
    *statement_out =
        column_int(&query) <= FEW_JOBS ? statement_for_few(filter->state) : SQL_LIST_MANY;
    return true;
}

/* A cursor that names no job is a mistake, not the start of some other page. */
static bool check_cursor(struct sqlite *sqlite, const struct uuid *after, struct error *err)
{
    char text[UUID_TEXT_SIZE];
    int64_t seq;

    if (uuid_is_nil(after))
        return true;
    if (!standing_seq_of(sqlite, after, &seq, err))
        return false;
    return seq != 0 ||
           error_set(err, TH_E_NOT_FOUND, "no job %s to list after: start from the beginning",
                     uuid_format(after, text));
}

static bool list(struct sqlite *sqlite, const struct job_filter *filter, struct job_list *jobs_out,
                 bool *more_out, struct error *err)
{
    enum sql_statement statement;

    if (!check_cursor(sqlite, &filter->after, err) ||
        !choose_statement(sqlite, filter, &statement, err))
        return false;
    CLEANUP(query_done) struct query query = query_start(sqlite, statement);
    query_uuid(&query, &filter->after);
    query_text(&query, filter->queue);
    query_text(&query, filter->type);
    query_int(&query, (int64_t)filter->limit + 1);
    if (filter->by_state)
        query_int(&query, filter->state);
    return read_jobs(&query, filter->limit, jobs_out, more_out, err);
}

bool sqlite_list(struct store *store, const struct job_filter *filter, struct job_list *jobs_out,
                 bool *more_out, struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);

    return sqlite_begin_read(sqlite, err) &&
           sqlite_end(sqlite, list(sqlite, filter, jobs_out, more_out, err), err);
}

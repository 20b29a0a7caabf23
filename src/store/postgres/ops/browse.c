/*
 * browse.c - jobs for people: one, or a page of a list.
 */
#include "base/cleanup.h"
#include "store/listing.h"
#include "store/postgres/codec/columns.h"
#include "store/postgres/net/statement.h"
#include "store/postgres/ops/ops.h"

static struct job *find_job(struct job_list *jobs, size_t first, int64_t seq)
{
    for (size_t i = first; i < jobs->count; i++)
        if (jobs->items[i].ref == seq)
            return &jobs->items[i];
    return NULL;
}

/* Of all jobs from `first` on. */
static bool read_runs(struct postgres *postgres, struct job_list *jobs, size_t first,
                      struct error *err)
{
    CLEANUP(pg_statement_done) struct pg_statement call = pg_statement_start(postgres, SQL_RUNS);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    pg_statement_array(&call, ARRAY_INT8);
    for (size_t i = first; i < jobs->count; i++)
        pg_element_int(&call, jobs->items[i].ref);
    if (!pg_statement_run(&call, &answer, err))
        return false;
    struct columns columns = pg_columns_of(&answer, &jobs->arena);
    while (pg_answer_next(&answer)) {
        struct job *job = find_job(jobs, first, pg_answer_int(&answer));
        struct job_run *run = job ? job_run_add(job, &jobs->arena) : NULL;
        if (job && !run)
            return error_no_memory(err);
        if (run)
            columns_run(&columns, run);
    }
    return !jobs->arena.failed || error_no_memory(err);
}

/* Every job that was answered, up to the limit and LISTING_PAGE_BYTES. */
static bool read_jobs(struct pg_answer *answer, size_t limit, struct job_list *jobs_out,
                      bool *more_out, struct error *err)
{
    struct columns columns = pg_columns_of(answer, &jobs_out->arena);
    size_t bytes = 0;

    *more_out = false;
    for (size_t read = 0; pg_answer_next(answer); read++) {
        *more_out = read == limit || bytes >= LISTING_PAGE_BYTES;
        if (*more_out)
            return true;
        struct job *job = job_list_add(jobs_out);
        if (!job)
            return error_no_memory(err);
        columns_job(&columns, job);
        bytes += listing_bytes(job);
    }
    return true;
}

static bool get(struct postgres *postgres, const struct uuid *id, struct job_list *job_out,
                struct error *err)
{
    char text[UUID_TEXT_SIZE];
    size_t before = job_out->count;
    bool more;
    CLEANUP(pg_statement_done) struct pg_statement call = pg_statement_start(postgres, SQL_GET);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    pg_statement_uuid(&call, id);
    if (!pg_statement_run(&call, &answer, err) || !read_jobs(&answer, 1, job_out, &more, err))
        return false;
    if (job_out->count == before)
        return error_set(err, TH_E_NOT_FOUND, "no job %s", uuid_format(id, text));
    return read_runs(postgres, job_out, before, err);
}

bool pg_get(struct store *store, const struct uuid *id, struct job_list *job_out, struct error *err)
{
    struct postgres *postgres = pg_of(store);

    return pg_statement_begin_read(postgres, err) &&
           pg_statement_end_read(postgres, get(postgres, id, job_out, err), err);
}

/* ---- a page ---- */

/* The candidates of a page, as list_page() of the schema has it. */
static bool find_page(struct postgres *postgres, const struct job_filter *filter,
                      struct pg_answer *page_out, struct error *err)
{
    const struct listing_range range = listing_range_of(filter);
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(postgres, SQL_LIST_PAGE);

    pg_statement_int(&call, range.low_at);
    pg_statement_int(&call, range.low_ref);
    pg_statement_int(&call, range.high_at);
    pg_statement_int(&call, range.high_ref);
    pg_statement_text(&call, filter->queue);
    if (filter->by_state)
        pg_statement_int4(&call, (int)filter->state);
    else
        pg_statement_null(&call);
    pg_statement_text(&call, filter->type);
    pg_statement_text(&call, filter->key);
    pg_statement_text(&call, filter->error);
    pg_statement_uuid(&call, &range.low_id);
    pg_statement_uuid(&call, &range.high_id);
    pg_statement_int4(&call, range.low_is_in);
    pg_statement_int4(&call, filter->oldest_first);
    pg_statement_int4(&call, (int)filter->limit);
    pg_statement_int4(&call, LISTING_LOOK_MAX);
    pg_statement_text(&call, filter->tag);
    if (!pg_statement_run(&call, page_out, err))
        return false;
    return pg_answer_next(page_out) ||
           error_set(err, TH_E_INTERNAL, "postgres: a list has no page");
}

/* What the page says of itself, after the numbers of its jobs. */
static void read_next(struct pg_answer *page, struct job_cursor *next_out)
{
    if (pg_answer_int(page) == 0)
        return;
    next_out->is_set = true;
    next_out->at = pg_answer_int(page);
    next_out->ref = pg_answer_int(page);
    next_out->id = pg_answer_uuid(page);
    if (!uuid_is_nil(&next_out->id))
        next_out->ref = 0;
}

static bool read_page(struct postgres *postgres, const struct job_filter *filter,
                      struct pg_answer *page, struct job_list *jobs_out,
                      struct job_cursor *next_out, struct error *err)
{
    const size_t before = jobs_out->count;
    bool is_cut;
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(postgres, SQL_LIST_JOBS);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    /* As it came: what is an array in an answer is one in a parameter. */
    pg_statement_bytes(&call, (struct bytes){(const unsigned char *)pg_answer_raw(page),
                                             (size_t)pg_answer_length(page)});
    pg_statement_int4(&call, filter->brief);
    pg_statement_int(&call, filter->brief ? 0 : (int64_t)LISTING_PAGE_BYTES);
    if (!pg_statement_run(&call, &answer, err) ||
        !read_jobs(&answer, filter->limit, jobs_out, &is_cut, err))
        return false;
    pg_answer_skip(page);
    if (is_cut)
        *next_out = listing_cursor(filter, &jobs_out->items[jobs_out->count - 1]);
    else
        read_next(page, next_out);
    return filter->brief || read_runs(postgres, jobs_out, before, err);
}

static bool list(struct postgres *postgres, const struct job_filter *filter,
                 struct job_list *jobs_out, struct job_cursor *next_out, struct error *err)
{
    CLEANUP(pg_answer_done) struct pg_answer page = {0};

    return find_page(postgres, filter, &page, err) &&
           read_page(postgres, filter, &page, jobs_out, next_out, err);
}

bool pg_list(struct store *store, const struct job_filter *filter, struct job_list *jobs_out,
             struct job_cursor *next_out, struct error *err)
{
    struct postgres *postgres = pg_of(store);

    return pg_statement_begin_read(postgres, err) &&
           pg_statement_end_read(postgres, list(postgres, filter, jobs_out, next_out, err), err);
}

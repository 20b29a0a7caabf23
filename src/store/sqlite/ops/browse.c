/*
 * browse.c - jobs for people: one, or a page of a list.
 */
#include "base/cleanup.h"
#include "store/sqlite/codec/columns.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/ops/ops.h"
#include "store/sqlite/parts/candidates.h"

static bool read_runs(struct sqlite *sqlite, struct arena *arena, struct job *job,
                      struct error *err)
{
    bool found;
    CLEANUP(sqlite_query_done) struct sqlite_query query = sqlite_query_start(sqlite, SQL_RUNS);
    struct columns columns = sqlite_columns_of(&query, arena);

    sqlite_query_int(&query, job->ref);
    for (;;) {
        if (!sqlite_query_row(&query, &found, err))
            return false;
        if (!found)
            return true;
        struct job_run *run = job_run_add(job, arena);
        if (!run)
            return error_no_memory(err);
        columns_run(&columns, run);
    }
}

/* The job that the query answers, if there is one. */
static bool read_answer(struct sqlite_query *query, bool brief, struct job_list *jobs_out,
                        struct error *err)
{
    struct arena *arena = &jobs_out->arena;
    struct columns columns = sqlite_columns_of(query, arena);
    bool found;

    if (!sqlite_query_row(query, &found, err))
        return false;
    if (!found)
        return true;
    struct job *job = job_list_add(jobs_out);
    if (!job)
        return error_no_memory(err);
    columns_job(&columns, job);
    if (!brief && !read_runs(query->sqlite, arena, job, err))
        return false;
    return !arena->failed || error_no_memory(err);
}

static bool get(struct sqlite *sqlite, const struct uuid *id, struct job_list *job_out,
                struct error *err)
{
    CLEANUP(sqlite_query_done) struct sqlite_query query = sqlite_query_start(sqlite, SQL_GET);

    sqlite_query_uuid(&query, id);
    return read_answer(&query, false, job_out, err);
}

bool sqlite_get(struct store *store, const struct uuid *id, struct job_list *job_out,
                struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);

    return sqlite_begin_read(sqlite, err) && sqlite_end(sqlite, get(sqlite, id, job_out, err), err);
}

/* ---- a page ---- */

/* Only candidates that come by their tag may be of any state. */
static bool is_of_state(const struct sqlite_candidates *candidates, int64_t seq, bool *is_out,
                        struct error *err)
{
    const struct job_filter *filter = candidates->filter;
    bool found;

    *is_out = true;
    if (!filter->by_state || !filter->tag)
        return true;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(candidates->sqlite, SQL_LIST_STATE);
    sqlite_query_int(&query, seq);
    if (!sqlite_query_row(&query, &found, err))
        return false;
    *is_out =
        found && !sqlite_row_is_null(&query) && sqlite_row_int(&query) == (int64_t)filter->state;
    return true;
}

/* Whether it is of the queue, type, key and error that are asked for. */
static bool is_picked(const struct sqlite_candidates *candidates, int64_t seq, bool *wanted_out,
                      struct error *err)
{
    const struct job_filter *filter = candidates->filter;
    CLEANUP(arena_done) struct arena arena = {0};
    bool found;

    *wanted_out = true;
    if (!candidates->mixed && !listing_is_picky(filter))
        return true;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(candidates->sqlite, SQL_LIST_LOOK);
    sqlite_query_int(&query, seq);
    if (!sqlite_query_row(&query, &found, err))
        return false;
    *wanted_out = found && (sqlite_row_int(&query) == candidates->queue_id || !candidates->mixed);
    if (!*wanted_out)
        return true;
    const char *type = sqlite_row_text(&query, &arena);
    const char *key = sqlite_row_text(&query, &arena);
    const char *error = sqlite_row_text(&query, &arena);
    *wanted_out = listing_picks(filter, type, key, error);
    return !arena.failed || error_no_memory(err);
}

static bool is_wanted(const struct sqlite_candidates *candidates, int64_t seq, bool *wanted_out,
                      struct error *err)
{
    return is_picked(candidates, seq, wanted_out, err) &&
           (!*wanted_out || is_of_state(candidates, seq, wanted_out, err));
}

static bool add_job(const struct sqlite_candidates *candidates, int64_t seq,
                    struct job_list *jobs_out, struct error *err)
{
    bool brief = candidates->filter->brief;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query =
        sqlite_query_start(candidates->sqlite, brief ? SQL_GET_BRIEF : SQL_GET_SEQ);

    sqlite_query_int(&query, seq);
    return read_answer(&query, brief, jobs_out, err);
}

/* How much a page has, and how much was looked at for it. */
struct page {
    size_t looked, jobs, bytes;
};

static bool is_full(const struct page *page, size_t limit)
{
    return page->jobs >= limit || page->bytes >= LISTING_PAGE_BYTES ||
           page->looked >= LISTING_LOOK_MAX;
}

static bool take(const struct sqlite_candidates *candidates, int64_t seq, struct page *page,
                 struct job_list *jobs_out, struct error *err)
{
    size_t before = jobs_out->count;
    bool wanted;

    page->looked++;
    if (!is_wanted(candidates, seq, &wanted, err))
        return false;
    if (!wanted)
        return true;
    if (!add_job(candidates, seq, jobs_out, err))
        return false;
    if (jobs_out->count > before) {
        page->jobs++;
        page->bytes += listing_bytes(&jobs_out->items[before]);
    }
    return true;
}

static bool list(struct sqlite *sqlite, const struct job_filter *filter, struct job_list *jobs_out,
                 struct job_cursor *next_out, struct error *err)
{
    CLEANUP(sqlite_candidates_close) struct sqlite_candidates candidates = {0};
    struct sqlite_candidate candidate, last = {0};
    struct page page = {0};
    bool found;

    if (!sqlite_candidates_open(sqlite, filter, &candidates, err))
        return false;
    for (;;) {
        if (!sqlite_candidates_next(&candidates, &candidate, &found, err))
            return false;
        if (!found)
            return true;
        if (is_full(&page, filter->limit)) {
            *next_out = sqlite_candidates_cursor(&candidates, &last);
            return true;
        }
        last = candidate;
        if (!take(&candidates, candidate.seq, &page, jobs_out, err))
            return false;
    }
}

bool sqlite_list(struct store *store, const struct job_filter *filter, struct job_list *jobs_out,
                 struct job_cursor *next_out, struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);

    return sqlite_begin_read(sqlite, err) &&
           sqlite_end(sqlite, list(sqlite, filter, jobs_out, next_out, err), err);
}

/*
 * list.c - a page of jobs: as one object, as JSON lines, or as rows of CSV.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "browse/filters.h"
#include "browse/jobs_csv.h"
#include "browse/looks.h"
#include "job/job_json.h"
#include "store/listing.h"

/* A page that has so much is over, whatever else it could have: what is large waits for its reader
 * in one process after the other. */
#define PAGE_ENOUGH  ((size_t)4 << 20)
#define LINES_ENOUGH ((size_t)512 << 10)

static bool add_job(struct buffer *body, const struct job_query *query, const struct job *job,
                    struct error *err)
{
    switch (query->form) {
    case JOB_QUERY_LINES:
        job_json_add(body, job);
        buffer_char(body, '\n');
        break;
    case JOB_QUERY_CSV:
        return jobs_csv_add(body, job, err);
    case JOB_QUERY_PAGE:
    case JOB_QUERY_FORMS:
        if (query->full)
            job_json_add(body, job);
        else
            job_json_add_brief(body, job);
        break;
    }
    return true;
}

/* The jobs up to where there are enough: *next is after the last one of them then. */
static bool add_jobs(struct look *look, const struct job_query *query,
                     const struct job_filter *filter, const struct job_list *jobs,
                     struct job_cursor *next, struct error *err)
{
    const bool is_page = query->form == JOB_QUERY_PAGE;
    const size_t enough = is_page ? PAGE_ENOUGH : LINES_ENOUGH;

    for (size_t i = 0; i < jobs->count; i++) {
        if (i > 0 && is_page)
            buffer_char(look->body, ',');
        if (!add_job(look->body, query, &jobs->items[i], err))
            return false;
        if (look->body->length < enough || i + 1 == jobs->count)
            continue;
        *next = listing_cursor(filter, &jobs->items[i]);
        return true;
    }
    return true;
}

static bool add_page(struct look *look, const struct job_query *query,
                     const struct job_filter *filter, struct error *err)
{
    CLEANUP(job_list_done) struct job_list jobs = {0};
    char text[LISTING_CURSOR_SIZE];
    struct job_cursor next;

    if (!store_list(look->store, filter, &jobs, &next, err) ||
        !add_jobs(look, query, filter, &jobs, &next, err))
        return false;
    if (next.is_set)
        look->next = arena_text(look->arena, listing_format_cursor(&next, text));
    return !look->arena->failed || error_no_memory(err);
}

bool look_at_jobs(struct look *look, struct error *err)
{
    const struct job_query query = job_query_unpack(&look->wish);
    const struct job_filter filter = filter_of_query(&query);

    if (!unpack_end(&look->wish, "a list of jobs", err))
        return false;
    if (query.form == JOB_QUERY_CSV && !query.after)
        jobs_csv_add_names(look->body);
    if (query.form != JOB_QUERY_PAGE)
        return add_page(look, &query, &filter, err);
    buffer_text(look->body, "{\"jobs\":[");
    if (!add_page(look, &query, &filter, err))
        return false;
    if (look->next)
        buffer_printf(look->body, "],\"next\":\"%s\"}", look->next);
    else
        buffer_text(look->body, "],\"next\":null}");
    return true;
}

/*
 * pages.c - all jobs that match a filter, a page at a time.
 */
#include "thctl/pages.h"

bool pages_next(struct pages *pages, size_t limit, struct job_list *jobs_out, bool *more_out,
                struct error *err)
{
    struct job_cursor next;

    pages->filter.limit = limit < JOB_PAGE_MAX ? limit : JOB_PAGE_MAX;
    do {
        job_list_done(jobs_out);
        if (!store_list(pages->store, &pages->filter, jobs_out, &next, err))
            return false;
        pages->filter.after = next;
    } while (jobs_out->count == 0 && next.is_set);
    *more_out = next.is_set;
    return true;
}

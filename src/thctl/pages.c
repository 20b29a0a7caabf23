/*
 * pages.c - all jobs that match a filter, a page at a time.
 */
#include "thctl/pages.h"

#include <string.h>

static bool list_behind(struct pages *pages, struct job_list *jobs_out, bool *more_out,
                        struct error *err)
{
    size_t left = pages->listed_count;

    for (;;) {
        if (pages->listed_count > 0)
            pages->filter.after = left > 0 ? pages->listed[left - 1] : (struct uuid){0};
        if (store_list(pages->store, &pages->filter, jobs_out, more_out, err))
            return true;
        if (err->code != TH_E_NOT_FOUND || left == 0)
            return false;
        left--;
    }
}

static void remember(struct pages *pages, const struct job_list *jobs)
{
    for (size_t i = 0; i < jobs->count; i++)
        pages->listed[i] = jobs->items[i].id;
    if (jobs->count > 0)
        pages->listed_count = jobs->count;
}

/* Drops what was handed out before. */
static void skip_known(const struct pages *pages, struct job_list *jobs)
{
    size_t known = 0;

    while (known < jobs->count && uuid_compare(&jobs->items[known].id, &pages->last) <= 0)
        known++;
    if (known == 0)
        return;
    jobs->count -= known;
    memmove(jobs->items, jobs->items + known, jobs->count * sizeof *jobs->items);
}

bool pages_next(struct pages *pages, size_t limit, struct job_list *jobs_out, bool *more_out,
                struct error *err)
{
    pages->filter.limit = limit < JOB_PAGE_MAX ? limit : JOB_PAGE_MAX;
    if (pages->listed_count == 0)
        pages->last = pages->filter.after;
    do {
        job_list_done(jobs_out);
        if (!list_behind(pages, jobs_out, more_out, err))
            return false;
        remember(pages, jobs_out);
        skip_known(pages, jobs_out);
    } while (jobs_out->count == 0 && *more_out);
    if (jobs_out->count > 0)
        pages->last = jobs_out->items[jobs_out->count - 1].id;
    return true;
}

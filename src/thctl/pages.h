/*
 * pages.h - all jobs that match a filter, a page at a time.
 */
#ifndef THCTL_PAGES_H
#define THCTL_PAGES_H

#include "base/base.h"
#include "store/store.h"

struct pages {
    struct store *store;
    struct job_filter filter; /* `after` and `limit` become the walk's own */
};

/* The next page of at most `limit` jobs, in place of what is in the list. Empty at the end only. */
bool pages_next(struct pages *pages, size_t limit, struct job_list *jobs_out, bool *more_out,
                struct error *err) MUST_CHECK;

#endif

/*
 * candidates.h - the jobs that may be on a page, in the order of the list.
 *
 * No table has the ready or the ended jobs in the order of a list: each has it per queue, or per
 * queue and priority. So these are streams, read from their index a few rows at a time, and merged
 * by a heap. What is stored besides costs nothing.
 */
#ifndef SQLITE_CANDIDATES_H
#define SQLITE_CANDIDATES_H

#include "base/base.h"
#include "store/listing.h"
#include "store/sqlite/file/query.h"

struct sqlite_candidate {
    usec_t at; /* 0 where the order goes by id */
    int64_t seq;
    struct uuid id; /* nil where it goes by a time */
};

struct sqlite_candidates {
    struct sqlite *sqlite;
    const struct job_filter *filter;
    enum sql_statement statement;
    struct sqlite_candidates_stream *
        *heap; /* owned; those that have more, the next candidate first */
    size_t count;
    size_t at_once;   /* rows that a stream reads the first time */
    int64_t queue_id; /* of the filter, 0 is any */
    bool mixed;       /* other queues' jobs are among them: each is to be looked at */
};

/* In a transaction, which has to last as long as they do. */
bool sqlite_candidates_open(struct sqlite *sqlite, const struct job_filter *filter,
                            struct sqlite_candidates *candidates_out, struct error *err) MUST_CHECK;

bool sqlite_candidates_next(struct sqlite_candidates *candidates,
                            struct sqlite_candidate *candidate_out, bool *found_out,
                            struct error *err) MUST_CHECK;

/* Its position in the list. */
struct job_cursor sqlite_candidates_cursor(const struct sqlite_candidates *candidates,
                                           const struct sqlite_candidate *candidate);

void sqlite_candidates_close(struct sqlite_candidates *candidates);

#endif

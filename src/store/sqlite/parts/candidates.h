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

struct candidate {
    usec_t at; /* 0 where the order goes by id */
    int64_t seq;
    struct uuid id; /* nil where it goes by a time */
};

struct candidates {
    struct sqlite *sqlite;
    const struct job_filter *filter;
    enum sql_statement statement;
    struct candidates_stream **heap; /* owned; those that have more, the next candidate first */
    size_t count;
    size_t at_once;   /* rows that a stream reads the first time */
    int64_t queue_id; /* of the filter, 0 is any */
    bool mixed;       /* other queues' jobs are among them: each is to be looked at */
};

/* In a transaction, which has to last as long as they do. */
bool candidates_open(struct sqlite *sqlite, const struct job_filter *filter,
                     struct candidates *candidates_out, struct error *err) MUST_CHECK;

bool candidates_next(struct candidates *candidates, struct candidate *candidate_out,
                     bool *found_out, struct error *err) MUST_CHECK;

/* Its position in the list. */
struct job_cursor candidates_cursor(const struct candidates *candidates,
                                    const struct candidate *candidate);

void candidates_close(struct candidates *candidates);

#endif

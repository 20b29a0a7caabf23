/*
 * job_query.h - which jobs somebody asks for, on the way from a door to browse: the filter of lists
 * and bulk repairs, and of a list how much of it, from where on, and as what.
 */
#ifndef DOOR_JOB_QUERY_H
#define DOOR_JOB_QUERY_H

#include "base/base.h"

struct buffer;
struct unpack;

#define JOB_QUERY_ANY_STATE (-1)

/* A page that is streamed on may be larger than one that is shown. */
#define JOB_QUERY_LIMIT_MAX 500
#define JOB_QUERY_ERROR_MAX 1024

/* A position in a list, as browse writes it: so many digits, for browse alone to read. */
#define JOB_QUERY_AFTER_LENGTH 64

enum job_query_order {
    JOB_QUERY_NEWEST_FIRST,
    JOB_QUERY_OLDEST_FIRST,
};

enum job_query_form {
    JOB_QUERY_PAGE,  /* {"jobs": [...], "next": ...} */
    JOB_QUERY_LINES, /* a job a line, in full */
    JOB_QUERY_CSV,   /* the same; before the first one the names of the columns */
    JOB_QUERY_FORMS,
};

/* What is to be done to jobs, as client/bulk.h has it. */
enum job_mend {
    JOB_CANCEL,
    JOB_RETRY_AGAIN,
    JOB_RUN_NOW,
    JOB_DELETE,
    JOB_MENDS,
};

#define JOB_IDS_MAX 1000 /* of one call */

struct job_query {
    int state; /* enum job_state, or JOB_QUERY_ANY_STATE */
    const char *queue, *type, *tag, *key, *error;
    usec_t since, until; /* 0: unbounded */

    /* Of a list. */
    int order; /* enum job_query_order */
    int64_t limit;
    const char *after;
    bool full;
    enum job_query_form form;
};

/* All there is, the newest first. */
#define JOB_QUERY_ALL                                                                              \
    {                                                                                              \
        .state = JOB_QUERY_ANY_STATE, .limit = 50                                                  \
    }

bool job_query_after_is_fine(const char *after);

void job_query_pack(struct buffer *pack, const struct job_query *query);

/* Points into the pack. */
struct job_query job_query_unpack(struct unpack *unpack);

#endif

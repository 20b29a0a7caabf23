/*
 * top_data.h - what `thctl top` shows: one look at the store, and the rates since the one before.
 */
#ifndef THCTL_TOP_DATA_H
#define THCTL_TOP_DATA_H

#include "base/arena.h"
#include "base/base.h"
#include "store/store.h"
#include "thctl/pool_sight.h"

#define TOP_RATE_UNKNOWN (-1.0)

struct top_worker {
    const char *pool; /* its name, without what only tells its runs apart */
    const struct pool_process *process;
};

/* Rates are per second, or TOP_RATE_UNKNOWN. */
struct top_queue {
    const struct queue_stats *stats;
    double done_rate, failed_rate;
};

/* All queues and pools together. */
struct top_totals {
    int64_t jobs[JOB_STATES];
    int64_t no_handler, cannot_start; /* of the ready ones */
    double done_rate, failed_rate;
    size_t busy, workers;
};

/* Zeroed, it is a look that found nothing. The arrays may be sorted in place. */
struct top_data {
    usec_t now;     /* the database's time */
    usec_t seen_at; /* boot time: what rates are measured by */
    struct pool_sight *pools;
    size_t pool_count;
    struct top_worker *workers; /* of pools that are not silent */
    size_t worker_count;
    struct top_queue *queues;
    size_t queue_count;
    struct job_list failures; /* the newest first */
    struct top_totals totals;

    /* What the rest points into. */
    struct arena arena;
    struct pool_list pool_list;
    struct queue_stats_list stats;
};

/* Looks at the store. A look that fails leaves nothing to release. */
bool top_data_read(struct store *store, struct top_data *data_out, struct error *err) MUST_CHECK;

/* Fills in everything but the lists, from the lists. */
bool top_data_arrange(struct top_data *data, struct error *err) MUST_CHECK;

/* Rates since an earlier look. A queue that was not there then had done nothing; a count that went
 * back says that it is another queue, whose rate is not known. */
void top_data_compare(struct top_data *data, const struct top_data *before);

void top_data_done(struct top_data *data);

#endif

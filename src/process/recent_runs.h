/*
 * recent_runs.h - in shared memory: how the runs of one type of the last quarter of an hour went.
 *
 * Five slices of three minutes, each named by the time that it began at: what is newest takes the
 * place of what is oldest. One process writes it. For people: nothing is decided by it.
 */
#ifndef PROCESS_RECENT_RUNS_H
#define PROCESS_RECENT_RUNS_H

#include "base/base.h"
#include "base/log_histogram.h"

#include <stdatomic.h>

#define RECENT_RUNS_SLICE  (3 * USEC_PER_MIN)
#define RECENT_RUNS_SLICES 5
#define RECENT_RUNS_SPAN   (RECENT_RUNS_SLICES * RECENT_RUNS_SLICE)

struct recent_slice {
    _Atomic int64_t number; /* how many slices of time came before it; 0: it is empty */
    _Atomic uint32_t done, failed;
    _Atomic uint32_t run[LOG_HISTOGRAM_BUCKETS], wait[LOG_HISTOGRAM_BUCKETS];
};

/* Zeroed it is empty. */
struct recent_runs {
    struct recent_slice slices[RECENT_RUNS_SLICES];
};

/* All of them together. */
struct recent_sum {
    uint64_t done, failed;
    struct log_histogram run, wait;
};

/* A run that is over at `now`. One that was neither done nor failed has only taken its time. */
struct recent_run {
    usec_t now, wall, wait;
    bool is_done, has_failed;
};
void recent_runs_add(struct recent_runs *runs, const struct recent_run *run);

/* Those since recent_runs_since(now). False: there were none. */
bool recent_runs_read(const struct recent_runs *runs, usec_t now, struct recent_sum *sum_out);
usec_t recent_runs_since(usec_t now);

#endif

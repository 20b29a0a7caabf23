/*
 * reserve.h - what claims get from the store, and what of it their workers may have.
 */
#ifndef GATE_RESERVE_H
#define GATE_RESERVE_H

#include "base/base.h"
#include "job/job.h"

struct claim_call;
struct error;
struct gate;

/* Claims for which the store is asked at once. */
#define RESERVE_MAX 32

/* What one of them gets. */
struct reserved {
    struct job *jobs; /* as long as the turn */
    size_t count;
    bool is_dry;     /* its queues have nothing more for anybody */
    usec_t again_at; /* boot time at which a rate allows more, or 0 */
};

/* For at most RESERVE_MAX of them. What is reserved is added to `jobs`. */
bool reserve_for(struct gate *gate, const struct claim_call *const *calls, size_t count,
                 struct job_list *jobs, struct reserved *reserved_out,
                 struct error *err) MUST_CHECK;

/* Keeps those that are to be run and fit into one answer, with the limits that count, and returns
 * how many; the others are settled. */
size_t reserve_keep(struct gate *gate, const struct claim_call *call, struct job *jobs,
                    size_t count);

#endif

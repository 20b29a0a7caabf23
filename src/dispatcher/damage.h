/*
 * damage.h - jobs whose word in the lease table was overwritten by a worker gone wrong.
 *
 * Such a word does not say any more who has started the job, or whether anybody has. What runs is
 * shown on the scoreboard, so a job that a living worker shows is still that worker's. Tasks are
 * started in the order in which they were handed out: of the others the oldest was that of the
 * worker that crashed, and those after it were waiting and are given back.
 */
#ifndef DISPATCHER_DAMAGE_H
#define DISPATCHER_DAMAGE_H

#include "base/base.h"

struct dispatcher;
struct error;
struct held_job;
struct worker_link;

/* Sets right what was found to be wrong a while ago, and notes what is wrong now. */
bool damage_check(struct dispatcher *dispatcher, struct error *err) MUST_CHECK;

/* What a worker that crashed must have run, though no word says so; NULL: nothing. */
struct held_job *damage_find_culprit(const struct dispatcher *dispatcher,
                                     const struct worker_link *link);

#endif

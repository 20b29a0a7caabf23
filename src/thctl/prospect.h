/*
 * prospect.h - a word to whoever stores a job that nobody would run as things are.
 */
#ifndef THCTL_PROSPECT_H
#define THCTL_PROSPECT_H

#include "thctl/session.h"

/* Whether anybody would read it: a person at a terminal, or somebody who waits. Scripts that only
 * store jobs are not made to ask the pools. */
bool prospect_is_wanted(bool waits);

/* Says that no pool is there, that none serves the queue or handles the type, or that the queue is
 * paused. Nothing where that is not certain. `count`: of how many jobs. */
void prospect_tell(struct session *session, const char *queue, const char *type, uint64_t count);

#endif

/*
 * tally.h - what became of jobs, for the meters (process/meters.h).
 */
#ifndef DISPATCHER_TALLY_H
#define DISPATCHER_TALLY_H

#include <taskharbor/error.h>

struct dispatcher;
struct held_job;
struct settlement;

/* A settlement that the store has answered: made for every job, so it takes nothing that waits. */
void tally_settled(const struct dispatcher *dispatcher, const struct held_job *held,
                   const struct settlement *settlement, enum th_error_code verdict);

#endif

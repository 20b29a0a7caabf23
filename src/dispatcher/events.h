/*
 * events.h - what became of jobs, for the log.
 */
#ifndef DISPATCHER_EVENTS_H
#define DISPATCHER_EVENTS_H

#include <taskharbor/error.h>

struct held_job;
struct settlement;

/* One line per settlement that the store has answered. */
void events_log(const struct held_job *held, const struct settlement *settlement,
                enum th_error_code verdict);

#endif

/*
 * scheduler.h - `thd: scheduler`: scheduled jobs become ready when they are due, and cron entries
 * become jobs.
 */
#ifndef PERIODIC_SCHEDULER_H
#define PERIODIC_SCHEDULER_H

struct process;

int scheduler_main(struct process *process);

#endif

/*
 * reaper.h - `thd: reaper`: expired leases, silent pools, retention.
 */
#ifndef PERIODIC_REAPER_H
#define PERIODIC_REAPER_H

struct process;

int reaper_main(struct process *process);

#endif

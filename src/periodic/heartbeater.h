/*
 * heartbeater.h - `thd: heartbeater`: keeps this pool and its leases alive.
 */
#ifndef PERIODIC_HEARTBEATER_H
#define PERIODIC_HEARTBEATER_H

struct process;

int heartbeater_main(struct process *process);

#endif

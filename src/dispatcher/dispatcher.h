/*
 * dispatcher.h - `thd: dispatcher`, the only process that reserves and settles for this pool.
 */
#ifndef DISPATCHER_DISPATCHER_H
#define DISPATCHER_DISPATCHER_H

struct process;

int dispatcher_main(struct process *process);

#endif

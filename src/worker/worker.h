/*
 * worker.h - `thd: worker N`: takes a job, runs its handler, reports how it ended.
 */
#ifndef WORKER_WORKER_H
#define WORKER_WORKER_H

struct process;

int worker_main(struct process *process);

#endif

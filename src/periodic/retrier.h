/*
 * retrier.h - `thd: retrier`: failed jobs become ready again when they are due.
 */
#ifndef PERIODIC_RETRIER_H
#define PERIODIC_RETRIER_H

struct process;

int retrier_main(struct process *process);

#endif

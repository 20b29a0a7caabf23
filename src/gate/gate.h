/*
 * gate.h - `thd: gate`: the doors' way to the store for what must not wait: enqueue, claim, settle,
 * heartbeat.
 */
#ifndef GATE_GATE_H
#define GATE_GATE_H

struct process;

int gate_main(struct process *process);

#endif

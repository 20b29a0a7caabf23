/*
 * desk.h - a process that has a handle of the store and answers the doors: the gate, browse.
 *
 * It opens the store as the periodic processes do, and goes on trying while it is away. Calls that
 * come meanwhile are refused at once, with TH_E_UNAVAILABLE.
 */
#ifndef DESK_DESK_H
#define DESK_DESK_H

struct process;

/* Until the master asks to exit, or it makes no sense to go on. Returns the exit code. */
int desk_run(struct process *process);

#endif

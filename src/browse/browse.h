/*
 * browse.h - `thd: browse`: the doors' way to the store for what people read; it may be slow.
 */
#ifndef BROWSE_BROWSE_H
#define BROWSE_BROWSE_H

struct process;

int browse_main(struct process *process);

#endif

/*
 * greeting.h - what a person at a terminal reads when the pool is ready, and when it is to end.
 */
#ifndef MASTER_GREETING_H
#define MASTER_GREETING_H

struct master;

/* Only where the log is one for people. */
void greeting_print(const struct master *master);

/* Before a drain: what it waits for, if for anything, and how not to. */
void greeting_print_drain(const struct master *master);

#endif

/*
 * dump.h - USR1: what every process does right now, into the log.
 */
#ifndef MASTER_DUMP_H
#define MASTER_DUMP_H

struct children;

/* One line per process, as the scoreboard shows it. */
void dump_log(const struct children *children);

#endif

/*
 * doors.h - what doors and the processes that answer them hear of each other and of the pool.
 *
 * When one of them is started, a fresh pair of sockets is made for each of its counterparts that
 * lives, and both get their end. No pair survives one of its two processes, so an end that closes
 * says that the other has died.
 */
#ifndef MASTER_DOORS_H
#define MASTER_DOORS_H

#include "base/base.h"

struct seat;

/* After its start; nothing for processes of other kinds. */
void doors_introduce(struct seat *seats, size_t count, struct seat *newborn);

/* Whether the pool runs, or is about to end: to all doors. */
void doors_tell_state(struct seat *seats, size_t count);

/* That door sends nonsense, or reads nothing: the next one starts anew. */
void doors_end(struct seat *seats, size_t count, uint32_t serial);

#endif

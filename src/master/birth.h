/*
 * birth.h - forks one process of the pool, and gives it exactly what it may have.
 */
#ifndef MASTER_BIRTH_H
#define MASTER_BIRTH_H

#include "base/base.h"

struct child_seat;
struct error;

/* Fills the seat with a new process: pid, serial, control. Does not return in that process. */
bool birth_fork(struct child_seat *seat, struct error *err) MUST_CHECK;

#endif

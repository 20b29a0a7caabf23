/*
 * birth.h - forks one process of the pool, and gives it exactly what it may have.
 */
#ifndef MASTER_BIRTH_H
#define MASTER_BIRTH_H

#include "base/base.h"

struct error;
struct ledger;
struct seat;

/* Fills the seat with a new process: pid, serial, control; a worker is in the ledger from then on.
 * Does not return in that process. */
bool birth_fork(struct seat *seat, uint32_t serial, struct ledger *ledger,
                struct error *err) MUST_CHECK;

#endif

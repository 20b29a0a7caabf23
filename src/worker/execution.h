/*
 * execution.h - runs one program to its end, and everything that it started.
 *
 * When a run has ended no process of it is left, and all that it printed has been received, except
 * what it may have handed to somebody outside. There is one run at a time.
 *
 *   what happens                seen by                              the job
 *   a step before exec fails    spawn.c: a pipe that closes on exec  released: could_not_start
 *   it ends                     program.c: its pidfd                 as command.h says
 *   the deadline passes         a timer on the boot-time clock       failed, whatever it said
 *   somebody wants it stopped   execution_stop(), from the loop      cancelled or released
 *   it left children behind     orphans.c: we are their subreaper    waits until they are gone
 *
 * A pid is signalled only before it has been waited for: afterwards it may be somebody else's.
 */
#ifndef WORKER_EXECUTION_H
#define WORKER_EXECUTION_H

#include "base/base.h"
#include "job/stop_reason.h"
#include "process/orphans.h"
#include "process/spawn.h"
#include "worker/program.h"

struct error;
struct loop;

struct execution_plan {
    struct spawn spawn; /* its descriptors are filled in here */
    struct bytes input; /* for stdin; need not be read */
    usec_t timeout;     /* 0: none */
    usec_t kill_grace;  /* between TERM and KILL */
    void (*received)(void *context, enum program_stream stream, struct bytes data);
    void *context;
};

struct execution_end {
    enum stop_reason stop;
    int exit_code; /* or -1 */
    int signal;    /* or 0 */
    usec_t wall;
    struct usage usage; /* of all that was waited for, what was left behind included */
};

struct execution;

bool execution_open(struct loop *loop, struct execution **execution_out,
                    struct error *err) MUST_CHECK;
void execution_close(struct execution **execution);

/* Those that a run is one of; for others that stay. */
struct programs *execution_programs(const struct execution *execution);

/* Steps the loop until the run has ended. False with TH_E_INTERNAL or TH_E_NO_MEMORY when this
 * process cannot go on; with any other code the program could not be started, and nothing ran. */
bool execution_run(struct execution *execution, const struct execution_plan *plan,
                   struct execution_end *end_out, struct error *err) MUST_CHECK;

/* Called from the loop while it runs: TERM to its group now, KILL after `grace`; 0 is KILL at once.
 * The first reason is kept; a further call can only bring the KILL forward. */
void execution_stop(struct execution *execution, enum stop_reason why, usec_t grace);

#endif

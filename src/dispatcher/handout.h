/*
 * handout.h - jobs to the workers, and back from those that nobody started.
 */
#ifndef DISPATCHER_HANDOUT_H
#define DISPATCHER_HANDOUT_H

#include "base/base.h"

struct dispatcher;
struct error;
struct held_job;
struct uuid;

/* A reserved job to whoever is idle. `stop_at`, on clock_boot(): when its lease has to be given
 * up unless it is confirmed before. */
bool handout_give(struct dispatcher *dispatcher, struct held_job *held, struct bytes payload,
                  usec_t stop_at, struct error *err) MUST_CHECK;

/* Wakes as many workers as there is something to do for. */
bool handout_ring(struct dispatcher *dispatcher, struct error *err) MUST_CHECK;

/* What did not fit into the socket before. */
bool handout_send_rest(struct dispatcher *dispatcher, struct error *err) MUST_CHECK;

/* Gives every job that nobody has started back to the store. */
bool handout_take_back(struct dispatcher *dispatcher, struct error *err) MUST_CHECK;

#define HANDOUT_CHECK_INTERVAL (100 * USEC_PER_MSEC)

/* The same for those that have waited too long, or were lost on the way. */
bool handout_check(struct dispatcher *dispatcher, struct error *err) MUST_CHECK;
bool handout_is_waited_for(const struct dispatcher *dispatcher);

/* Heeds what the heartbeater has found out: leases that are lost, jobs that are to be cancelled. */
bool handout_heed_flags(struct dispatcher *dispatcher, struct error *err) MUST_CHECK;

/* A job came anew whose last run is not over here: its lease ran out without our knowing, as when a
 * clock jumps, or we were stopped. That run is killed; true while there is one: then the job waits
 * here for its end, under its new lease. To give it back would be to get it again. */
bool handout_lose(struct dispatcher *dispatcher, const struct uuid *job);

/* Asks for every run to be stopped: the pool goes down. */
void handout_halt_all(struct dispatcher *dispatcher);

/* Tells the workers of all runs that shall be stopped, if any. */
bool handout_tell_halts(struct dispatcher *dispatcher, struct error *err) MUST_CHECK;

#endif

/*
 * state.h - where a job stands.
 *
 *   from        event     to                       by
 *   -           enqueue   ready scheduled blocked  client/enqueue.c
 *   scheduled   due       ready                    the scheduler
 *   retry       due       ready                    the retrier
 *   ready       reserve   running                  the dispatcher
 *   running     ack       done                     the dispatcher
 *   running     retry     retry                    the dispatcher
 *   running     fail      dead                     the dispatcher
 *   running     release   ready                    the dispatcher
 *   running     snooze    scheduled                the dispatcher
 *   running     aside     ready                    the dispatcher, when nobody can run it now
 *   running     cancel    cancelled                the dispatcher, on request
 *   running     expire    ready                    the reaper, or whoever reserves next
 *   blocked     unblock   ready scheduled          with the settlement of its twin
 *   blocked     merge     cancelled                when its twin returns to waiting
 *   waiting     update    waiting                  an enqueue with its key; blocked stays blocked
 *   waiting     cancel    cancelled                thctl cancel
 *   scheduled   run       ready                    thctl run
 *   retry       run       ready                    thctl run
 *   dead        revive    ready scheduled blocked  thctl retry
 *   cancelled   revive    ready scheduled blocked  thctl retry
 *   ended       remove    -                        thctl rm, retention
 *
 * A ready job that was set aside (aside.h) is reserved by nobody until it is brought back, and dead
 * after a day. waiting is scheduled, ready, blocked or retry; ended is done, dead or cancelled. A
 * running job that was asked to cancel ends as cancelled by any return but ack. Any other pair
 * leaves the job as it was. tests/contract/test_states.c walks all pairs on every backend.
 */
#ifndef JOB_STATE_H
#define JOB_STATE_H

#include "base/base.h"

/* The numbers are stored: never change them, add at the end. */
enum job_state {
    JOB_SCHEDULED = 0,
    JOB_READY = 1,
    JOB_BLOCKED = 2,
    JOB_RUNNING = 3,
    JOB_RETRY = 4,
    JOB_DONE = 5,
    JOB_DEAD = 6,
    JOB_CANCELLED = 7,
};

#define JOB_STATES 8

/* What can happen to a stored job. */
enum job_event {
    EVENT_DUE,
    EVENT_RESERVE,
    EVENT_ACK,
    EVENT_RETRY,
    EVENT_FAIL,
    EVENT_RELEASE,
    EVENT_SNOOZE,
    EVENT_ASIDE,
    EVENT_CANCEL,
    EVENT_EXPIRE,
    EVENT_UNBLOCK,
    EVENT_MERGE,
    EVENT_UPDATE,
    EVENT_RUN,
    EVENT_REVIVE,
    EVENT_REMOVE,
};

#define JOB_EVENTS 16

/* Whether the table above has a line for the pair. */
bool job_state_allows(enum job_state from, enum job_event event);

bool job_state_is_waiting(enum job_state state);
bool job_state_has_ended(enum job_state state);

/* Ready now, or scheduled for later. */
enum job_state job_state_when_due(usec_t due, usec_t now);

/* A job that waits for its time is made ready by processes that look at least each second. One that
 * is due before they would have looked is told to whoever sleeps, as if it were ready. */
#define JOB_SOON (2 * USEC_PER_SEC)
bool job_state_is_due_soon(usec_t due, usec_t now);

const char *job_state_name(enum job_state state);
bool job_state_parse(const char *name, enum job_state *state_out) MUST_CHECK;

#endif

/*
 * state.c - where a job stands: the table of state.h as data.
 *
 * Invariants:
 *   - A line of the table above enum job_state is a bit here, and nothing else is.
 *   - The names are stored, logged and shown: they never change.
 */
#include "job/state.h"

#include "base/text.h"

#include <assert.h>

#define IN(state) (1U << (state))
#define WAITING   (IN(JOB_SCHEDULED) | IN(JOB_READY) | IN(JOB_BLOCKED) | IN(JOB_RETRY))
#define ENDED     (IN(JOB_DONE) | IN(JOB_DEAD) | IN(JOB_CANCELLED))

/* The states in which an event may happen. */
/* clang-format off */
static const unsigned allowed_in[] = {
    [EVENT_DUE]     = IN(JOB_SCHEDULED) | IN(JOB_RETRY),
    [EVENT_RESERVE] = IN(JOB_READY),
    [EVENT_ACK]     = IN(JOB_RUNNING),
    [EVENT_RETRY]   = IN(JOB_RUNNING),
    [EVENT_FAIL]    = IN(JOB_RUNNING),
    [EVENT_RELEASE] = IN(JOB_RUNNING),
    [EVENT_SNOOZE]  = IN(JOB_RUNNING),
    [EVENT_ASIDE]   = IN(JOB_RUNNING),
    [EVENT_CANCEL]  = IN(JOB_RUNNING) | WAITING,
    [EVENT_EXPIRE]  = IN(JOB_RUNNING),
    [EVENT_UNBLOCK] = IN(JOB_BLOCKED),
    [EVENT_MERGE]   = IN(JOB_BLOCKED),
    [EVENT_UPDATE]  = WAITING,
    [EVENT_RUN]     = IN(JOB_SCHEDULED) | IN(JOB_RETRY),
    [EVENT_REVIVE]  = IN(JOB_DEAD) | IN(JOB_CANCELLED),
    [EVENT_REMOVE]  = ENDED,
};

static const char *const names[] = {
    [JOB_SCHEDULED] = "scheduled",
    [JOB_READY]     = "ready",
    [JOB_BLOCKED]   = "blocked",
    [JOB_RUNNING]   = "running",
    [JOB_RETRY]     = "retry",
    [JOB_DONE]      = "done",
    [JOB_DEAD]      = "dead",
    [JOB_CANCELLED] = "cancelled",
};
/* clang-format on */

static_assert(COUNT_OF(allowed_in) == JOB_EVENTS, "every event has its states");
static_assert(COUNT_OF(names) == JOB_STATES, "every state has its name");

bool job_state_allows(enum job_state from, enum job_event event)
{
    assert((unsigned)from < JOB_STATES && (unsigned)event < JOB_EVENTS);
    return (allowed_in[event] & IN(from)) != 0;
}

bool job_state_is_waiting(enum job_state state)
{
    assert((unsigned)state < JOB_STATES);
    return (WAITING & IN(state)) != 0;
}

bool job_state_has_ended(enum job_state state)
{
    assert((unsigned)state < JOB_STATES);
    return (ENDED & IN(state)) != 0;
}

bool job_state_is_due_soon(usec_t due, usec_t now)
{
    return due <= now + JOB_SOON;
}

enum job_state job_state_when_due(usec_t due, usec_t now)
{
    return due > now ? JOB_SCHEDULED : JOB_READY;
}

const char *job_state_name(enum job_state state)
{
    assert((unsigned)state < JOB_STATES);
    return names[state];
}

bool job_state_parse(const char *name, enum job_state *state_out)
{
    for (unsigned i = 0; i < JOB_STATES; i++) {
        if (text_equal(name, names[i])) {
            *state_out = (enum job_state)i;
            return true;
        }
    }
    return false;
}

/*
 * lease_calls.h - CALL_SETTLE and CALL_BEAT: what a remote worker says of a job that it runs.
 */
#ifndef DOOR_LEASE_CALLS_H
#define DOOR_LEASE_CALLS_H

#include "base/base.h"
#include "door/claim_call.h"
#include "door/remote_lease.h"
#include "job/outcome.h"
#include "job/state.h"

struct buffer;
struct error;

/* Of these kinds: OUTCOME_DONE, OUTCOME_FAILED, OUTCOME_PERMANENT, OUTCOME_RELEASED. */
struct settle_call {
    struct remote_lease lease;
    enum outcome_kind kind;
    const char *error;   /* of a failure; NULL: none was told */
    usec_t retry_in;     /* of a failure, instead of what the policy says; -1: not told */
    struct bytes result; /* absent: none */
};

void settle_call_pack(struct buffer *pack, const struct settle_call *call);
bool settle_call_unpack(struct bytes pack, struct settle_call *call_out,
                        struct error *err) MUST_CHECK;

/* It is answered with the state that the job is in now. */
void settle_answer_pack(struct buffer *pack, enum job_state state);
bool settle_answer_unpack(struct bytes pack, enum job_state *state_out,
                          struct error *err) MUST_CHECK;

struct beat_call {
    struct remote_lease lease;
    int64_t progress_percent; /* -1: no news */
    const char *progress_text;
    struct bytes output; /* the end of it so far; absent: no news */
};

void beat_call_pack(struct buffer *pack, const struct beat_call *call);
bool beat_call_unpack(struct bytes pack, struct beat_call *call_out, struct error *err) MUST_CHECK;

struct beat_answer {
    usec_t expires_at;
    bool cancel_requested;
    enum remote_state state;
};

void beat_answer_pack(struct buffer *pack, const struct beat_answer *answer);
bool beat_answer_unpack(struct bytes pack, struct beat_answer *answer_out,
                        struct error *err) MUST_CHECK;

#endif

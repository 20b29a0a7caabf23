/*
 * lease.h - who holds a running job, and until when.
 *
 * A lease is a token and an expiry. It is valid while now < expiry; at the expiry it has ended.
 * The token is the proof: 128 random bits that the one who reserves makes for a whole batch, and
 * the job's index in that batch. So an answer that was lost can be asked for again.
 */
#ifndef JOB_LEASE_H
#define JOB_LEASE_H

#include "base/base.h"
#include "job/state.h"

#include <taskharbor/error.h>

struct batch_token {
    unsigned char bytes[16];
};

#define LEASE_TOKEN_SIZE 20

/* The batch token, then the index, most significant byte first. */
struct lease_token {
    unsigned char bytes[LEASE_TOKEN_SIZE];
};

#define LEASE_TOKEN_TEXT_SIZE 41

struct lease_token lease_token_make(const struct batch_token *batch, uint32_t index);
uint32_t lease_token_index(const struct lease_token *token);

/* In the order of their batches; 0: they were given by one reserve. */
int lease_token_compare_batches(const struct lease_token *a, const struct lease_token *b);
bool lease_token_equal(const struct lease_token *a, const struct lease_token *b);
const char *lease_token_format(const struct lease_token *token, char text[LEASE_TOKEN_TEXT_SIZE]);

/* How long a lease is that was asked to be so long; 0: as long as the job may run, which is given
 * as 0, too, if it may for ever. */
usec_t lease_length(usec_t lease_for, usec_t timeout, usec_t lease_default);

bool lease_has_expired(usec_t expires_at, usec_t now);

/* The order in which every store checks a call that needs a lease: is it running, has the lease
 * expired, is the token ours. TH_OK when the call may go on. */
enum th_error_code lease_check(enum job_state state, usec_t expires_at,
                               const struct lease_token *held, const struct lease_token *given,
                               usec_t now);

/* When a run has to be given up whose lease ends then, unless it is extended before: a third of the
 * lease earlier. And when a lease ends whose run has to be given up then. */
usec_t lease_stop_at(usec_t ends_at, usec_t lease_for);
usec_t lease_ends_at(usec_t stop_at, usec_t lease_for);

/* Whether a lease need not be extended before `next_look`: it will still have at least two thirds
 * of its time, which leaves a third of it for further tries before its run has to be given up. */
bool lease_can_wait(usec_t stop_at, usec_t lease_for, usec_t next_look);

/* Of a lease that was not extended yet: whether so little is left that the job is better given back
 * than started. */
bool lease_is_half_over(usec_t stop_at, usec_t lease_for, usec_t now);

/* How long a run may take to end by itself once its lease was not confirmed by `stop_at`: up to
 * `kill_grace`, and no time at all if this comes so late, as after a sleep, that the lease could
 * end within a sixth of it. */
usec_t lease_grace(usec_t stop_at, usec_t lease_for, usec_t kill_grace, usec_t now);

/* How long a call to the store that reserves or extends may take: a sixth of the lease. So its
 * answer comes long before the lease ends, and there is time to ask again. */
usec_t lease_deadline(usec_t lease_for);

/* How often a lease of this length is extended: min(heartbeat_interval, lease / 3). */
usec_t lease_renewal_interval(usec_t heartbeat_interval, usec_t lease_for);

#endif

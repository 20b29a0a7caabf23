/*
 * claim_call.h - CALL_CLAIM: a remote worker wants jobs; CALL_UNCLAIM: nobody has got them.
 *
 *   claim -- jobs, or none --> the client has them: CALL_CONFIRM
 *                          `-> it has left, or nobody knows: CALL_UNCLAIM, and they are given back
 *
 * The token of the lease is made in the door. So whichever gate hears of the same claim again finds
 * what the one before it has reserved, to hand it out or to give it back.
 */
#ifndef DOOR_CLAIM_CALL_H
#define DOOR_CLAIM_CALL_H

#include "base/base.h"
#include "job/job.h"
#include "job/lease.h"

struct arena;
struct buffer;
struct error;

#define CLAIM_QUEUES_MAX 64
#define CLAIM_TYPES_MAX  64
#define CLAIM_JOBS_MAX   100
#define CLAIM_BYTES_MAX  ((size_t)16 << 20) /* of payloads, unless one job alone has more */
#define CLAIM_WAIT_MAX   (30 * USEC_PER_SEC)

struct claim_call {
    const char *pool; /* "http.NAME": pool of that worker alone */
    const char *host; /* where it is, for people */
    struct batch_token batch;
    const char *const *queues; /* asked in this order */
    size_t queue_count;
    const char *const *types; /* of none: any */
    size_t type_count;
    size_t max;
    usec_t lease_for; /* 0: as long as the job may run */
    usec_t wait;
};

void claim_call_pack(struct buffer *pack, const struct claim_call *call);
bool claim_call_unpack(struct bytes pack, struct arena *arena, struct claim_call *call_out,
                       struct error *err) MUST_CHECK;

/* What somebody wants a worker to do. */
enum remote_state {
    REMOTE_RUNNING,
    REMOTE_QUIET,     /* claim nothing more */
    REMOTE_TERMINATE, /* and end, once what it runs has ended */
};

#define REMOTE_STATES 3

const char *remote_state_name(enum remote_state state);

/* Their limits are those that count: of the job, else of its handler, else the defaults. */
struct claim_answer {
    struct job *jobs;
    size_t count;
    enum remote_state state;
};

void claim_answer_pack(struct buffer *pack, const struct claim_answer *answer);
bool claim_answer_unpack(struct bytes pack, struct arena *arena, struct claim_answer *answer_out,
                         struct error *err) MUST_CHECK;

void unclaim_call_pack(struct buffer *pack, const char *pool, const struct batch_token *batch);
bool unclaim_call_unpack(struct bytes pack, const char **pool_out, struct batch_token *batch_out,
                         struct error *err) MUST_CHECK;

#endif

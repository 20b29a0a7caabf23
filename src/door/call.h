/*
 * call.h - what a door asks of the gate and of browse, and what they answer.
 *
 *   door         -> gate, browse   struct call     a kind, a serial and a pack
 *   gate, browse -> door           struct answer   the serial of the call; a pack, or an error
 *
 * Serials are made by the door and count for its one socket. Answers come in any order, and not at
 * all for words that need none.
 */
#ifndef DOOR_CALL_H
#define DOOR_CALL_H

#include "base/base.h"
#include "process/message.h"

struct arena;
struct error;
struct parcel;

enum call_kind {
    /* Words about an earlier call, with its serial, without a pack; nobody answers them. */
    CALL_CONFIRM, /* what it was answered with is about to reach the client */
    CALL_FORGET,  /* nobody waits for it any more, and nobody will have what it is answered with */

    CALL_PING, /* whether the store is there; answered at once, with an empty pack if it is */

    /* Of browse; each is answered with a page (page.h). */
    CALL_BULK_BEGIN, /* a mend, a flag: dry run; a query (job_query.h), or a count of ids above 0 */
    CALL_BULK_LOOK,  /* the id of a bulk repair */
    CALL_CRON,       /* nothing */
    CALL_CRON_PAUSE, /* entry, by whom */
    CALL_CRON_RESUME,  /* entry */
    CALL_CRON_RUN,     /* entry, the id of its job */
    CALL_DEAD_GROUPS,  /* nothing */
    CALL_GAUGES,       /* nothing; as Prometheus reads it */
    CALL_GLANCE,       /* job, whether somebody goes on looking; the page's body is a pack: state,
                        * the tail of its output, its record as JSON without that */
    CALL_JOB_LOOK,     /* an id */
    CALL_JOB_MEND,     /* an id, a mend (job/mend.h), a flag: only if the job is dead */
    CALL_JOBS_LIST,    /* a query; `next` of the page is where the list goes on */
    CALL_POOL_WANT,    /* pool as a person calls it, a want (job/pool_want.h), by whom */
    CALL_QUEUES,       /* nothing */
    CALL_QUEUE_HIDE,   /* queue */
    CALL_QUEUE_PAUSE,  /* queue, by whom, whether it may be one that nobody uses */
    CALL_QUEUE_RESUME, /* queue */
    CALL_STATS,        /* nothing */
    CALL_TYPES,        /* nothing: what ran lately in all pools */
    CALL_WORKERS,      /* nothing */

    /* What must not wait, of the gate. */
    CALL_ENQUEUE, /* jobs to be stored: enqueue_call.h */
    CALL_CLAIM,   /* jobs for a remote worker: claim_call.h */
    CALL_UNCLAIM, /* which nobody has got; answered at once, store or not: claim_call.h */
    CALL_SETTLE,  /* how one of them has ended: lease_calls.h */
    CALL_BEAT,    /* one of them still runs: lease_calls.h */
    CALL_KINDS,
};

struct call {
    uint64_t serial;
    enum call_kind kind;
    struct bytes pack; /* empty: {"", 0} */
};

struct answer {
    uint64_t serial;
    bool worked;
    struct bytes pack; /* of one that did not work: an error, as pack_error() has it */
};

enum delivery call_send(int socket, uint64_t serial, enum call_kind kind,
                        const struct parcel *parcel, struct error *err);
/* The pack lies in the arena. */
enum delivery call_receive(int socket, struct arena *arena, struct call *call_out,
                           struct error *err);

enum delivery answer_send(int socket, uint64_t serial, bool worked, const struct parcel *parcel,
                          struct error *err);
enum delivery answer_receive(int socket, struct arena *arena, struct answer *answer_out,
                             struct error *err);

#endif

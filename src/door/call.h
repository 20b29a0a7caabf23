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
    CALL_CONFIRM, /* what it was answered with has reached the client */
    CALL_FORGET,  /* nobody waits for it any more, and nobody will have what it is answered with */

    CALL_PING,   /* whether the store is there; answered at once, with an empty pack if it is */
    CALL_GAUGES, /* nothing; answered with a page, as Prometheus reads it */
    CALL_TYPES,  /* nothing; a page: what ran lately in all pools */

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

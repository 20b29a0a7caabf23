/*
 * calls.h - in a door: its open calls to one other process, the gate or browse.
 *
 *     calls_send()         peer         calls_connect()
 *         |                 |               |
 *      waiting -- sent --> open             |  the peer died: what may be repeated waits again, in
 * its ^                 |   \           |  order, for the next one; the rest is answered with | |
 * `answered  |  TH_E_UNCERTAIN
 *         `-----------------'
 *
 * Every call gets one answer, from the peer or from here: after its patience it is
 * TH_E_UNAVAILABLE if nobody has seen it, and else TH_E_UNCERTAIN. The peer is told to forget it
 * then, so that nothing is kept for somebody who has gone.
 */
#ifndef DOOR_CALLS_H
#define DOOR_CALLS_H

#include "base/base.h"
#include "door/call.h"

struct calls;
struct error;
struct loop;

#define CALLS_PATIENCE (10 * USEC_PER_SEC)
#define CALLS_MAX      ((size_t)4096) /* open ones */
#define CALLS_BYTES    ((size_t)64 << 20)

struct call_wish {
    enum call_kind kind;
    struct bytes pack;    /* copied */
    bool may_be_repeated; /* by the next peer, if this one dies before it has answered */
    usec_t patience;      /* 0: CALLS_PATIENCE */

    /* Once, and never within calls_send(). err is NULL and the pack is what it was answered with,
     * as long as this call takes; or err says why not. */
    void (*answered)(void *context, struct bytes pack, const struct error *err);
    void *context;
};

/* `name` of the peer, for errors and the log: it stays the caller's. */
bool calls_open(struct loop *loop, const char *name, struct calls **calls_out,
                struct error *err) MUST_CHECK;

/* Nobody is answered any more. */
void calls_close(struct calls **calls);

/* The next peer; the socket is taken over. The one before has died, or is given up. */
bool calls_connect(struct calls *calls, int socket, struct error *err) MUST_CHECK;

/* False with TH_E_UNAVAILABLE when too many are open already, or too large ones. *serial_out is for
 * the words below. */
bool calls_send(struct calls *calls, const struct call_wish *wish, uint64_t *serial_out,
                struct error *err) MUST_CHECK;

/* Nobody waits for it any more: it is not answered, and the peer hears of it. */
void calls_forget(struct calls *calls, uint64_t serial);

/* What a call was answered with is about to reach the client. A peer that has died since knows
 * nothing of it. */
bool calls_confirm(struct calls *calls, uint64_t serial, struct error *err) MUST_CHECK;

/* Whether there is a peer, and how many calls are open. */
bool calls_are_connected(const struct calls *calls);
size_t calls_count(const struct calls *calls);

#endif

/*
 * desk.h - a process that has a handle of the store and answers the doors: the gate, browse.
 *
 * It opens the store as the periodic processes do, and goes on trying while it is away. Calls that
 * come meanwhile are refused at once, with TH_E_UNAVAILABLE.
 */
#ifndef DESK_DESK_H
#define DESK_DESK_H

#include "base/base.h"
#include "door/call.h"
#include "door/peers.h"

struct desk;
struct error;
struct process;
struct store;

/* What a process does beside the answers to CALL_PING. */
struct desk_service {
    /* A call while the store is there, or a word about an earlier one. It is answered now or
     * later, by desk_answer() or desk_refuse(). */
    void (*called)(void *context, struct peer *peer, const struct call *call);

    /* That door has died, with all that it was not answered yet. May be NULL. */
    void (*gone)(void *context, struct peer *peer);

    /* Once after all calls that came together, if desk_rally() was called: the place to do them in
     * one go. May be NULL. */
    void (*turn)(void *context);

    /* The handle of the store is about to be closed: what waits for it is to be refused. And: there
     * is a fresh one. May be NULL. */
    void (*lost)(void *context, const struct error *err);
    void (*found)(void *context);

    /* The process ends; doors and the store are still there, and are not to be called. May be NULL.
     */
    void (*ending)(void *context);

    void *context;
};

/* Until the master asks to exit, or it makes no sense to go on. Returns the exit code. */
int desk_run(struct process *process, const struct desk_service *service, struct desk **desk_out);

struct process *desk_process(struct desk *desk);
struct store *desk_store(struct desk *desk); /* NULL while it is away */

/* The service's turn comes. */
void desk_rally(struct desk *desk);

/* After a call of the store that failed: a store that is away is given up until it is back. */
void desk_note_failure(struct desk *desk, const struct error *err);

#endif

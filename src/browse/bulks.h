/*
 * bulks.h - bulk repairs: counted, answered, and then done, a page for each turn of the loop, so
 * that other calls are answered in between.
 *
 *     begin --> counting -- a page a turn --> counted: the call is answered
 *                                                | a dry run ends here
 *                                                `-- running -- a page a turn --> done, or failed
 *
 * Nothing outlives the process. But an id says when the process was born that made it: the next
 * one knows that an id is not its own, and that its repair was interrupted.
 */
#ifndef BROWSE_BULKS_H
#define BROWSE_BULKS_H

#include "base/base.h"
#include "door/call.h"

struct bulks;
struct buffer;
struct desk;
struct error;
struct peer;

/* So many are remembered, running ones and the newest of the others. */
#define BULKS_MAX 64

#define BULK_ID_MAX 64

bool bulks_open(usec_t born, struct bulks **bulks_out, struct error *err) MUST_CHECK;
void bulks_close(struct bulks **bulks);

/* A CALL_BULK_BEGIN. It is answered later. */
bool bulks_begin(struct bulks *bulks, struct desk *desk, struct peer *peer, const struct call *call,
                 struct error *err) MUST_CHECK;

/* Nobody waits for the answer any more: what was not begun yet is not begun. Serial 0: of no call
 * of that door. */
void bulks_forget(struct bulks *bulks, const struct peer *peer, uint64_t serial);

/* The store is away: who waits is told so. What runs goes on when it is back. */
void bulks_suspend(struct bulks *bulks, const struct error *err);

/* A page of one of them, in turns. */
void bulks_turn(struct bulks *bulks, struct desk *desk);

/* Whether there is something to do, once the store is there. */
bool bulks_are_busy(const struct bulks *bulks);

/* How far one of them is, as JSON. TH_E_NOT_FOUND: there was none of this id. */
bool bulks_look(const struct bulks *bulks, const char *id, struct buffer *body,
                struct error *err) MUST_CHECK;

#endif

/*
 * protocol.h - numbers by which the driver and the scripts understand each other. Lua knows them by
 * these names: scripts/embed-lua.
 */
#ifndef REDIS_PROTOCOL_H
#define REDIS_PROTOCOL_H

/* Widths in the members of sorted sets: scripts/parts/place.lua. */
#define REDIS_ID_WIDTH    36 /* an id as text */
#define REDIS_READY_WIDTH 71 /* a member of `ready` */
#define REDIS_READY_ID    35 /* where its id begins */

/* Whoever wants jobs of certain types looks at so many in one go. */
#define REDIS_LOOK_MOST 2000

/* Neighbours in one record (scripts/parts/pages.lua), and after how many new jobs those that came
 * one by one get such records. */
#define REDIS_PAGE      14
#define REDIS_PAGE_SPAN (4 * REDIS_PAGE)

/* Verdicts, as the scripts answer them: one character for each settlement or lease. */
#define REDIS_SAYS_OK          "o"
#define REDIS_SAYS_NOT_FOUND   "f"
#define REDIS_SAYS_NOT_RUNNING "r"
#define REDIS_SAYS_EXPIRED     "x"
#define REDIS_SAYS_MISMATCH    "m"
#define REDIS_SAYS_CONFLICT    "c"
#define REDIS_SAYS_CANCELLING  "k" /* of a beat: extended, and asked to cancel */
#define REDIS_SAYS_WATCHED     "w" /* extended, and somebody watches */
#define REDIS_SAYS_BOTH        "b" /* both */

#endif

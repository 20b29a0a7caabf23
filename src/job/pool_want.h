/*
 * pool_want.h - what somebody wants a pool to do.
 */
#ifndef JOB_POOL_WANT_H
#define JOB_POOL_WANT_H

enum pool_want {
    POOL_WANT_NOTHING,
    POOL_WANT_QUIET,     /* reserve nothing more */
    POOL_WANT_TERMINATE, /* and end, once what it runs has ended */
};

#define POOL_WANTS (POOL_WANT_TERMINATE + 1)

const char *pool_want_name(enum pool_want want); /* "nothing", "quiet", "terminate" */

#endif

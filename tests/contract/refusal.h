/*
 * refusal.h - the calls that need a lease and do not have it.
 *
 * The same situations for every kind of settlement and for the heartbeat. Each answers its own
 * verdict, and the whole record stays as it was.
 */
#ifndef TESTS_CONTRACT_REFUSAL_H
#define TESTS_CONTRACT_REFUSAL_H

#include "scene.h"

enum situation {
    UNKNOWN_ID,
    NOT_INFLIGHT, /* ready again, after a release */
    EXPIRED,      /* at the very microsecond */
    WRONG_TOKEN,
    EXPIRED_AND_WRONG_TOKEN,
    AFTER_DONE,
    AFTER_DEAD,
};

#define SITUATIONS 7

enum th_error_code refusal_expected(enum situation situation);

/* Makes a job of its own for the situation and sets *now to the moment of the call. */
struct claim refusal_stage(struct scene *scene, enum situation situation, usec_t *now);

/* The whole of such a case. */
void assert_refused(enum settlement_kind kind, enum situation situation);

#endif

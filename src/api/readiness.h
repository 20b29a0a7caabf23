/*
 * readiness.h - GET /ready: whether this pool can do what it is for, and if not, why.
 *
 * It runs, and the gate and browse say that the store is there. All who ask at the same time share
 * one round of asking them: strangers may ask, and must not keep them busy.
 */
#ifndef API_READINESS_H
#define API_READINESS_H

#include "base/base.h"

struct calls;
struct readiness;
struct visit;

/* What the master says of the pool. */
enum pool_phase {
    PHASE_OF_START,
    PHASE_OF_WORK,
    PHASE_OF_END,
};

#define READINESS_PEERS 2

struct error;

/* The calls are those to the gate and to browse; they outlive this. */
bool readiness_open(struct calls *const peers[READINESS_PEERS], struct readiness **readiness_out,
                    struct error *err) MUST_CHECK;
void readiness_close(struct readiness **readiness);

void readiness_enter(struct readiness *readiness, enum pool_phase phase);

/* Answers it, soon. */
void readiness_ask(struct readiness *readiness, struct visit *visit);

#endif

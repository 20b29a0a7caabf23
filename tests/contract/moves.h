/*
 * moves.h - everything that an actor may do to a store, by chance.
 */
#ifndef TESTS_CONTRACT_MOVES_H
#define TESTS_CONTRACT_MOVES_H

#include "actor.h"

/* So many, each a little later than the last one, or earlier. A process that is not alone ends when
 * its store does not answer in time. */
void moves_make(struct actor *actor, size_t count);

/* One that is no trade. */
bool moves_make_other(struct actor *actor, struct error *err) MUST_CHECK;

#endif

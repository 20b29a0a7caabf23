/*
 * trade.h - what an actor does with the leases that it holds: it gives some back and asks for
 * others, in one exchange or in two that are out at once.
 */
#ifndef TESTS_CONTRACT_TRADE_H
#define TESTS_CONTRACT_TRADE_H

#include "actor.h"

/* False: the store could not do it. An answer that is wrong ends the process. */
bool trade_some(struct actor *actor, struct error *err) MUST_CHECK;

#endif

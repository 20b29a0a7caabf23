/*
 * accept.h - what a client would like to have, as its Accept header says.
 */
#ifndef API_ACCEPT_H
#define API_ACCEPT_H

#include "base/base.h"

/* Which of the types: the one with the highest q, of equal ones the one that is named more exactly,
 * then the first. That is also the answer to a header that is absent, or that allows none of them:
 * a client that cannot use it is no better off with a refusal. */
size_t accept_choose(const char *header, const char *const *types, size_t count);

#endif

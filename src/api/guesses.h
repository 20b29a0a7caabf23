/*
 * guesses.h - how many wrong tokens come from an address.
 *
 * Only whoever is wrong is slowed down: behind a proxy all come from one address, and a right token
 * is right however many others were wrong. What this keeps does not grow.
 */
#ifndef API_GUESSES_H
#define API_GUESSES_H

#include "base/base.h"

struct sockaddr;

#define GUESSES_A_SECOND 10
#define GUESSES_BITS     10 /* of the number of a place */

struct guess_place {
    usec_t since;
    unsigned count;
};

struct guesses {
    struct guess_place places[1 << GUESSES_BITS];
};

/* One more at `now`. True if there were too many in this second. */
bool guesses_add(struct guesses *guesses, const struct sockaddr *peer, usec_t now);

#endif

/*
 * known_clocks.h - shared memory: what each service has learnt of the database's clock.
 *
 * Whoever sees the clock set goes by the old and the new one for a while (timekeeper.h). A service
 * that takes the place of one that was killed has to do so too: it begins with what that one knew.
 * Otherwise the clock of today would be the only one it has ever seen, and it would take leases of
 * other pools for over that hold by the old one. Workers do not have it.
 */
#ifndef PROCESS_KNOWN_CLOCKS_H
#define PROCESS_KNOWN_CLOCKS_H

#include "base/base.h"

struct error;
struct known_clock; /* of one service */
struct known_clocks;
struct timekeeper;

/* Before the processes are forked. */
bool known_clocks_open(size_t services, struct known_clocks **clocks_out,
                       struct error *err) MUST_CHECK;
void known_clocks_close(struct known_clocks **clocks);
struct known_clock *known_clocks_of(struct known_clocks *clocks, size_t service);

/* In a worker, first thing: unmaps them. */
bool known_clocks_restrict(struct known_clocks *clocks, struct error *err) MUST_CHECK;

/* Of one service only its one process writes. It may be killed while it does. */
void known_clock_keep(struct known_clock *clock, const struct timekeeper *keeper);

/* Into a keeper that knows nothing yet; it still does when nobody did. */
void known_clock_recall(const struct known_clock *clock, struct timekeeper *keeper);

#endif

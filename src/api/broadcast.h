/*
 * broadcast.h - what all who listen to GET /api/events hear.
 *
 *     snapshot      once, first: as GET /api/stats has it
 *     stats         the same each second
 *     job           what becomes of a job of this pool, or one that came by its doors
 *     dropped       so many of those there were too many of
 *     unavailable   the store is away; the next stats say that it is back
 *     end           the last one: this process ends, and the next one is there already
 *
 * While nobody listens nothing is asked and nothing is written. What many hear is asked, written
 * and kept once.
 */
#ifndef API_BROADCAST_H
#define API_BROADCAST_H

#include "base/base.h"

struct api;
struct broadcast;
struct error;
struct visit;

bool broadcast_open(struct api *api, struct broadcast **broadcast_out,
                    struct error *err) MUST_CHECK;
void broadcast_close(struct broadcast **broadcast);

/* The client of the visit listens from now on. */
void broadcast_join(struct broadcast *broadcast, struct visit *visit);

/* A last event to everybody; whoever comes from now on is refused. */
void broadcast_end(struct broadcast *broadcast);

#endif

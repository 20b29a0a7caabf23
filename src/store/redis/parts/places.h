/*
 * places.h - where jobs stand in the order of a list, over all queues.
 *
 * A place is a text that sorts, as scripts/list.lua has it.
 */
#ifndef REDIS_PLACES_H
#define REDIS_PLACES_H

#include "base/base.h"
#include "base/error.h"
#include "store/redis/net/connection.h"
#include "store/store.h"

#define REDIS_PLACE_SIZE 71 /* time, sequence, id; with the zero after them */

struct redis_place {
    char text[REDIS_PLACE_SIZE];
    size_t queue; /* its number in redis->queues */
};

struct redis_places {
    struct redis_place *items; /* owned; in the order of the list */
    size_t count, capacity;
    char go_on[REDIS_PLACE_SIZE]; /* the place to go on after; "" when that was all */
};

/* A page of them: at most filter->limit. */
bool redis_places_find(struct redis *redis, const struct job_filter *filter,
                       struct redis_places *places_out, struct error *err) MUST_CHECK;
void redis_places_done(struct redis_places *places);

const char *redis_place_id(const struct redis_place *place);
struct job_cursor redis_place_cursor(const char *text);

#endif

/*
 * room.c - how many jobs to ask the store for.
 *
 * No statistics and nothing to tune: a pool that finishes many jobs during one exchange fetches
 * many ahead, a pool of slow jobs fetches one for each worker that is idle.
 */
#include "dispatcher/room.h"

#define BYTES_AHEAD ((size_t)16 << 20)

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t room_to_join(size_t running, size_t limit)
{
    return running < limit ? smaller(running, limit - running) : 0;
}

size_t room_for(const struct room_facts *facts)
{
    const size_t quick = facts->quick > facts->last_quick ? facts->quick : facts->last_quick;
    const size_t wanted = facts->idle + facts->spare + 2 * quick;
    const size_t room = wanted > facts->waiting ? wanted - facts->waiting : 0;

    return smaller(room, smaller(facts->capacity - facts->held, facts->capacity / 2));
}

size_t room_by_size(size_t room, size_t last_count, size_t last_bytes)
{
    if (last_count == 0 || last_bytes / last_count == 0)
        return room;
    const size_t fitting = BYTES_AHEAD / (last_bytes / last_count);

    return smaller(room, fitting == 0 ? 1 : fitting);
}

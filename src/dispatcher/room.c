/*
 * room.c - how many jobs to ask the store for.
 *
 * No statistics and nothing to tune: a pool that finishes many jobs during one exchange fetches
 * many ahead, a pool of slow jobs fetches one for each worker that is idle.
 */
#include "dispatcher/room.h"

#define BYTES_AHEAD ((size_t)16 << 20)

size_t room_for(size_t idle, size_t quick, size_t waiting, size_t free)
{
    const size_t wanted = idle + 2 * quick;
    const size_t room = wanted > waiting ? wanted - waiting : 0;

    return room < free ? room : free;
}

size_t room_by_size(size_t room, size_t last_count, size_t last_bytes)
{
    if (last_count == 0 || last_bytes / last_count == 0)
        return room;
    const size_t fitting = BYTES_AHEAD / (last_bytes / last_count);

    if (fitting == 0)
        return room < 1 ? room : 1;
    return room < fitting ? room : fitting;
}

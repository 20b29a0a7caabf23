/*
 * doors.c - what doors and the processes that answer them hear of each other and of the pool.
 */
#include "master/doors.h"

#include "base/error.h"
#include "base/log.h"
#include "master/seat.h"
#include "master/this_pool.h"
#include "process/message.h"

#include <unistd.h>

static bool is_door(const struct seat *seat)
{
    return roles_get(seat->role)->is_door;
}

/* A door and one that answers doors. */
static bool are_counterparts(const struct seat *a, const struct seat *b)
{
    return roles_get(a->role)->peer != PEER_NONE && roles_get(b->role)->peer != PEER_NONE &&
           is_door(a) != is_door(b);
}

static void hand_over(struct seat *to, const struct seat *other, int end)
{
    const struct order order = {
        .kind = ORDER_PEER,
        .serial = other->serial,
        .peer = roles_get(other->role)->peer,
    };

    seat_tell(to, &order, end);
}

/* Without a pair neither is of any use to the other: the one that is new is tried again. */
static void connect_pair(struct seat *newborn, struct seat *other)
{
    struct error err;
    int ends[2];

    if (!message_pair(ends, &err)) {
        log_error("process_failed", "name=%s error=%s", newborn->name, err.text);
        seat_kill(newborn);
        return;
    }
    hand_over(newborn, other, ends[0]);
    hand_over(other, newborn, ends[1]);
    close(ends[0]);
    close(ends[1]);
}

static void tell_state(struct seat *door)
{
    const enum pool_state state = door->pool->state;
    const struct order order = {.kind = state > POOL_RUNNING ? ORDER_DRAIN : ORDER_RESUME};

    if (is_door(door) && state != POOL_STARTING)
        seat_tell(door, &order, -1);
}

void doors_introduce(struct seat *seats, size_t count, struct seat *newborn)
{
    for (size_t i = 0; i < count; i++) {
        if (seats[i].pid != 0 && are_counterparts(newborn, &seats[i]))
            connect_pair(newborn, &seats[i]);
    }
    tell_state(newborn);
}

void doors_tell_state(struct seat *seats, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tell_state(&seats[i]);
}

void doors_end(struct seat *seats, size_t count, uint32_t serial)
{
    for (size_t i = 0; i < count; i++) {
        if (seats[i].pid != 0 && seats[i].serial == serial && is_door(&seats[i]))
            seat_kill(&seats[i]);
    }
}

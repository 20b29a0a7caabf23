/*
 * resident_turns.c - the jobs that a resident has, the oldest first.
 */
#include "worker/handler.h"
#include "worker/resident_state.h"

#include <stdlib.h>

static size_t smallest_concurrency(const struct resident *resident)
{
    size_t smallest = SIZE_MAX;

    for (const struct turn *turn = resident->first; turn; turn = turn->next)
        smallest = turn->concurrency < smallest ? turn->concurrency : smallest;
    return smallest;
}

void resident_add_turn(struct resident *resident, struct turn *turn)
{
    struct turn **place = &resident->first;

    while (*place)
        place = &(*place)->next;
    *place = turn;
    if (resident->count == 0 || turn->concurrency < resident->limit)
        resident->limit = turn->concurrency;
    resident->count++;
}

void resident_remove_turn(struct resident *resident, struct turn *turn)
{
    struct turn **place = &resident->first;

    while (*place != turn)
        place = &(*place)->next;
    *place = turn->next;
    resident->count--;
    resident->asked -= turn->stop != STOP_NONE;
    if (turn->concurrency == resident->limit)
        resident->limit = smallest_concurrency(resident);
    loop_clear_timer(resident->loop, &turn->timer);
    turn->run->own = NULL;
    turn_done(turn);
    free(turn);
}

void resident_forget_turns(struct resident *resident)
{
    while (resident->first)
        resident_remove_turn(resident, resident->first);
}

void turn_set_stop(struct turn *turn, enum stop_reason why)
{
    if (turn->stop != STOP_NONE)
        return;
    turn->stop = why;
    turn->resident->asked++;
}

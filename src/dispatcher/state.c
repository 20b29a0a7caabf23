/*
 * state.c - the states of the dispatcher, and its chores.
 */
#include "dispatcher/state.h"

#include "base/clock.h"
#include "process/known_clocks.h"
#include "process/process.h"
#include "store/store.h"

#include <assert.h>

/* clang-format off */
static const bool legal[DISPATCHER_STATES][DISPATCHER_STATES] = {
    [DISPATCHER_SERVING]  = {[DISPATCHER_PAUSED] = true, [DISPATCHER_DRAINING] = true,
                             [DISPATCHER_STOPPING] = true, [DISPATCHER_ENDED] = true},
    [DISPATCHER_PAUSED]   = {[DISPATCHER_SERVING] = true, [DISPATCHER_DRAINING] = true,
                             [DISPATCHER_STOPPING] = true, [DISPATCHER_ENDED] = true},
    [DISPATCHER_DRAINING] = {[DISPATCHER_STOPPING] = true, [DISPATCHER_ENDED] = true},
    [DISPATCHER_STOPPING] = {[DISPATCHER_ENDED] = true},
};

static const bool legal_for_store[STORE_STATES][STORE_STATES] = {
    [STORE_UNSEEN]  = {[STORE_ANSWERS] = true},
    [STORE_ANSWERS] = {[STORE_AWAY] = true},
    [STORE_AWAY]    = {[STORE_ANSWERS] = true},
};
/* clang-format on */

bool dispatcher_state_may_change(enum dispatcher_state from, enum dispatcher_state to)
{
    return legal[from][to];
}

void dispatcher_enter(struct dispatcher *dispatcher, enum dispatcher_state to)
{
    assert(dispatcher_state_may_change(dispatcher->state, to));
    dispatcher->state = to;
}

bool store_state_may_change(enum store_state from, enum store_state to)
{
    return legal_for_store[from][to];
}

void dispatcher_note_store(struct dispatcher *dispatcher, enum store_state to)
{
    assert(store_state_may_change(dispatcher->store_state, to));
    dispatcher->store_state = to;
}

void dispatcher_end(struct dispatcher *dispatcher, int exit_code)
{
    if (dispatcher->state == DISPATCHER_ENDED)
        return;
    dispatcher_enter(dispatcher, DISPATCHER_ENDED);
    dispatcher->exit_code = exit_code;
}

void dispatcher_add(struct dispatcher *dispatcher, enum chore what)
{
    dispatcher->chores |= what;
}

bool dispatcher_take(struct dispatcher *dispatcher, enum chore what)
{
    const bool is_there = dispatcher->chores & what;

    dispatcher->chores &= ~(unsigned)what;
    return is_there;
}

void dispatcher_read_clocks(struct dispatcher *dispatcher)
{
    const usec_t store = store_now(dispatcher->store);

    dispatcher->now = (struct moment){
        .boot = clock_boot(),
        .store = store,
        .offset = store - clock_wall(),
    };
    known_clock_keep(dispatcher->process->known_clock, &dispatcher->clock);
}

bool dispatcher_holds_nothing(const struct dispatcher *dispatcher)
{
    struct hold_view view;
    size_t position = 0;

    return dispatcher->held_jobs.count == 0 && dispatcher->outbox.count == 0 &&
           dispatcher->flights.count == 0 &&
           !lease_table_next(dispatcher->process->leases, &position, &view);
}

/*
 * briefing.c - what the dispatcher has to know, and what of it it has been told.
 */
#include "master/briefing.h"

#include "base/error.h"
#include "base/log.h"
#include "master/master.h"

#include <assert.h>

static enum order_kind wanted_order(const struct master *master)
{
    switch (master->state) {
    case POOL_STARTING:
    case POOL_RUNNING:
        return master->is_paused ? ORDER_PAUSE : ORDER_RESUME;
    case POOL_DRAINING:
        return ORDER_DRAIN;
    case POOL_STOPPING:
        return ORDER_STOP;
    }
    assert(!"a pool in no known state");
    return ORDER_STOP;
}

static enum delivery tell_order(struct master *master, int socket, struct error *err)
{
    const struct order order = {.kind = wanted_order(master)};

    if (order.kind == master->briefing.told)
        return DELIVERY_DONE;
    const enum delivery delivery = order_send(socket, &order, -1, err);
    if (delivery == DELIVERY_DONE)
        master->briefing.told = order.kind;
    return delivery;
}

static enum delivery tell_all(struct master *master, int socket, struct error *err)
{
    const enum delivery delivery = ledger_tell(&master->ledger, socket, err);

    return delivery == DELIVERY_DONE ? tell_order(master, socket, err) : delivery;
}

/* A dispatcher that cannot be told what it must know is of no use; the next one may be luckier. */
static void give_up(struct child_seat *dispatcher, const struct error *err)
{
    log_error("process_failed", "name=%s error=%s", dispatcher->name, err->text);
    children_kill(dispatcher);
}

void briefing_reset(struct master *master)
{
    master->briefing.told = ORDER_RESUME;
    ledger_forget_told(&master->ledger);
}

void briefing_continue(struct master *master)
{
    struct child_seat *dispatcher = children_seat(master, ROLE_DISPATCHER);
    unsigned events = LOOP_READ;
    struct error err;

    if (!dispatcher->control_watch.is_on)
        return;
    switch (tell_all(master, dispatcher->control, &err)) {
    case DELIVERY_DONE:
    case DELIVERY_CLOSED: /* its end is about to be seen */
        break;
    case DELIVERY_NONE:
        events |= LOOP_WRITE;
        break;
    case DELIVERY_FAILED:
        give_up(dispatcher, &err);
        return;
    }
    if (!loop_watch(master->loop, &dispatcher->control_watch, events, &err))
        give_up(dispatcher, &err);
}

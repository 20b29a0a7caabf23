/*
 * seat.c - one place in the process tree, which one process after the other fills.
 */
#include "master/seat.h"

#include "base/error.h"
#include "base/log.h"
#include "master/this_pool.h"
#include "process/message.h"

#include <signal.h>

bool seat_is_wanted(const struct seat *seat)
{
    const int place = seat->number > 0 ? seat->number : 1;
    const struct role *role = roles_get(seat->role);

    if (role->is_door &&
        listeners_find(seat->pool->options->listeners, role->door, seat->pool->config) < 0)
        return false; /* the next thd has its socket */
    return place <= roles_instances(seat->role, seat->pool->config);
}

bool seat_is_current(const struct seat *seat)
{
    return seat->generation == seat->pool->generation;
}

/* One that has not listened for long hangs. */
void seat_tell(struct seat *seat, const struct order *order, int fd)
{
    struct error err;

    if (seat->pid == 0)
        return;
    switch (order_send(seat->control, order, fd, &err)) {
    case DELIVERY_DONE:
    case DELIVERY_CLOSED: /* it is ending already */
        return;
    case DELIVERY_NONE:
        seat_kill(seat);
        return;
    case DELIVERY_FAILED:
        log_error("process_failed", "name=%s error=%s", seat->name, err.text);
        seat_kill(seat);
        return;
    }
}

static void tell(struct seat *seat, enum order_kind kind)
{
    const struct order order = {.kind = kind};

    seat_tell(seat, &order, -1);
}

void seat_retire(struct seat *seat)
{
    if (seat->pid == 0 || seat->is_retiring)
        return;
    seat->is_retiring = true;
    tell(seat, ORDER_RETIRE);
}

void seat_ask(struct seat *seat)
{
    tell(seat, ORDER_PULSE);
}

void seat_dismiss(struct seat *seat)
{
    tell(seat, ORDER_EXIT);
}

void seat_kill(struct seat *seat)
{
    if (seat->pid != 0)
        kill(seat->pid, SIGKILL);
}

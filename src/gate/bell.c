/*
 * bell.c - hears that something may be ready, while claims wait.
 */
#include "gate/bell.h"

#include "base/clock.h"
#include "base/error.h"
#include "gate/inside.h"
#include "process/process.h"
#include "store/store.h"

#define PROVE_INTERVAL (5 * USEC_PER_SEC)

static struct loop *loop_of(const struct gate *gate)
{
    return desk_process(gate->desk)->loop;
}

static void hear(void *context, unsigned events)
{
    struct gate *gate = context;

    (void)events;
    gate->bell.has_rung = true;
    desk_rally(gate->desk);
}

/* A bell that does not work any more cannot say so, and a lease that runs out rings none. */
static void prove(void *context)
{
    struct gate *gate = context;
    struct error err;

    if (!gate->bell.watch.is_on || !gate->claims.first)
        return;
    if (!store_check_bell(desk_store(gate->desk), &err)) {
        gate_note_failure(gate, &err);
        return;
    }
    gate->bell.rings++;
    desk_rally(gate->desk);
    loop_set_timer(loop_of(gate), &gate->bell.timer, clock_boot() + PROVE_INTERVAL);
}

void bell_init(struct gate *gate)
{
    gate->bell = (struct bell){
        .watch = {.fd = -1, .call = hear, .context = gate},
        .timer = {.call = prove, .context = gate},
    };
}

bool bell_listen(struct gate *gate, struct error *err)
{
    struct bell *bell = &gate->bell;

    if (!bell->timer.is_on)
        loop_set_timer(loop_of(gate), &bell->timer, clock_boot() + PROVE_INTERVAL);
    if (bell->watch.is_on)
        return true;
    return store_wait_fd(desk_store(gate->desk), &bell->watch.fd, err) &&
           loop_watch(loop_of(gate), &bell->watch, LOOP_READ, err);
}

bool bell_answer(struct gate *gate, struct error *err)
{
    bool rang = false;

    if (!gate->bell.has_rung)
        return true;
    gate->bell.has_rung = false;
    if (!store_wait(desk_store(gate->desk), 0, &rang, err))
        return error_prefix(err, "hear the bell");
    gate->bell.rings += rang;
    return true;
}

void bell_leave(struct gate *gate)
{
    loop_unwatch(loop_of(gate), &gate->bell.watch);
    loop_clear_timer(loop_of(gate), &gate->bell.timer);
    gate->bell.has_rung = false;
}

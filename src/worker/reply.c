/*
 * reply.c - a result on its way back to the dispatcher: into this worker's ring, or its socket.
 */
#include "worker/reply.h"

#include "base/error.h"
#include "process/loop.h"
#include "process/message.h"
#include "process/process.h"
#include "process/result_ring.h"
#include "process/task_ring.h"

#include <errno.h>
#include <unistd.h>

/* A dispatcher that is away or busy leaves its end full: nothing else is to be done until it has
 * room, for the result must not be lost. */
static bool send(const struct process *process, struct loop_watch *socket,
                 const struct result *result, struct error *err)
{
    struct loop *loop = process->loop;
    enum delivery delivery = result_send(process->results, result, err);

    while (delivery == DELIVERY_NONE) {
        if (!loop_watch(loop, socket, LOOP_READ | LOOP_WRITE, err) || !loop_step(loop, err) ||
            !loop_watch(loop, socket, LOOP_READ, err))
            return false;
        delivery = result_send(process->results, result, err);
    }
    if (delivery == DELIVERY_CLOSED)
        return error_set(err, TH_E_INTERNAL, "nobody is there to take results");
    return delivery == DELIVERY_DONE;
}

static bool nudge(const struct process *process, struct error *err)
{
    const uint64_t one = 1;

    if (write(process->nudge, &one, sizeof one) < 0 && errno != EAGAIN)
        return error_errno(err, TH_E_INTERNAL, errno, "wake the dispatcher");
    return true;
}

/* Wakes the dispatcher if it wants to be. */
static bool tell_news(const struct process *process, struct error *err)
{
    switch (result_rings_call(process->result_rings)) {
    case RESULT_CALL_AWAKE:
        return true;
    case RESULT_CALL_PACING:
        if (task_ring_has_more(process->task_ring))
            return true;
        break;
    case RESULT_CALL_ASLEEP:
        break;
    }
    return nudge(process, err);
}

bool reply_give(const struct process *process, struct loop_watch *socket,
                const struct result *result, struct error *err)
{
    if (result_ring_put(process->result_rings, process->result_ring, result))
        return tell_news(process, err);
    return send(process, socket, result, err);
}

/* Also one that is awake: it may have counted our room a moment ago. */
bool reply_ask_for_more(const struct process *process, struct error *err)
{
    return nudge(process, err);
}

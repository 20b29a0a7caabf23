/*
 * gate.c - `thd: gate`: the doors' way to the store for what must not wait: enqueue, claim, settle,
 * heartbeat.
 *
 * What came in during the last call of the store is done in the next one: that is the group commit.
 */
#include "gate/gate.h"

#include "base/error.h"
#include "desk/desk.h"

static void note_call(void *context, struct peer *peer, const struct call *call)
{
    struct error err;

    (void)context;
    if (call->kind == CALL_CONFIRM || call->kind == CALL_FORGET)
        return;
    error_set(&err, TH_E_INTERNAL, "the gate knows no call of the kind %d", (int)call->kind);
    peer_refuse(peer, call->serial, &err);
}

int gate_main(struct process *process)
{
    struct desk *desk;
    const struct desk_service service = {.called = note_call};

    return desk_run(process, &service, &desk);
}

/*
 * gate.c - `thd: gate`: the doors' way to the store for what must not wait: enqueue, claim, settle,
 * heartbeat.
 *
 * What came in during the last call of the store is done in the next one: that is the group commit.
 */
#include "gate/gate.h"

#include "base/buffer.h"
#include "base/error.h"
#include "gate/inside.h"
#include "process/process.h"

typedef void (*taker)(struct gate *gate, struct peer *peer, const struct call *call);

static const struct {
    enum call_kind kind;
    taker take;
} takers[] = {
    {CALL_ENQUEUE, enqueues_take},
};

static taker find_taker(enum call_kind kind)
{
    for (size_t i = 0; i < COUNT_OF(takers); i++) {
        if (takers[i].kind == kind)
            return takers[i].take;
    }
    return NULL;
}

static void note_call(void *context, struct peer *peer, const struct call *call)
{
    const taker take = find_taker(call->kind);
    struct error err;

    if (take) {
        take(context, peer, call);
        return;
    }
    if (call->kind == CALL_CONFIRM || call->kind == CALL_FORGET)
        return;
    error_set(&err, TH_E_INTERNAL, "the gate knows no call of the kind %d", (int)call->kind);
    peer_refuse(peer, call->serial, &err);
}

static void note_gone(void *context, struct peer *peer)
{
    enqueues_forget_peer(context, peer);
}

static void take_turn(void *context)
{
    enqueues_run(context);
}

static void note_lost(void *context, const struct error *err)
{
    enqueues_refuse_all(context, err);
}

void gate_answer(struct peer *peer, uint64_t serial, const struct buffer *pack)
{
    peer_answer(peer, serial,
                (struct bytes){(const unsigned char *)buffer_str(pack), pack->length});
}

void gate_note_failure(struct gate *gate, const struct error *err)
{
    desk_note_failure(gate->desk, err);
}

int gate_main(struct process *process)
{
    struct gate gate = {.config = process->config};
    const struct desk_service service = {
        .called = note_call,
        .gone = note_gone,
        .turn = take_turn,
        .lost = note_lost,
        .context = &gate,
    };

    gate.enqueues.last = &gate.enqueues.first;
    return desk_run(process, &service, &gate.desk);
}

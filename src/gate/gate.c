/*
 * gate.c - `thd: gate`: the doors' way to the store for what must not wait: enqueue, claim, settle,
 * heartbeat.
 *
 * Calls are taken as they come, and done in a turn: what came in during the last call of the store
 * is done in the next one. That is the group commit.
 *
 *     doors --enqueues, settles, beats, claims--> a turn --> store
 *           <---------------answers-------------'
 */
#include "gate/gate.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "gate/inside.h"
#include "process/meters.h"
#include "process/process.h"
#include "store/store.h"

typedef void (*taker)(struct gate *gate, struct peer *peer, const struct call *call);

static void note_confirmed(struct gate *gate, struct peer *peer, const struct call *call)
{
    deliveries_confirm(gate, peer, call->serial);
}

static void note_forgotten(struct gate *gate, struct peer *peer, const struct call *call)
{
    claims_forget(gate, peer, call->serial);
    deliveries_take_back_call(gate, peer, call->serial);
}

static const struct {
    enum call_kind kind;
    taker take;
} takers[] = {
    {CALL_BEAT, beats_take},          {CALL_CLAIM, claims_take},     {CALL_CONFIRM, note_confirmed},
    {CALL_ENQUEUE, enqueues_take},    {CALL_FORGET, note_forgotten}, {CALL_SETTLE, settles_take},
    {CALL_UNCLAIM, claims_take_back},
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
    error_set(&err, TH_E_INTERNAL, "the gate knows no call of the kind %d", (int)call->kind);
    peer_refuse(peer, call->serial, &err);
}

/* What was on its way to its clients has reached nobody. */
static void note_gone(void *context, struct peer *peer)
{
    struct gate *gate = context;

    enqueues_forget_peer(gate, peer);
    settles_forget_peer(gate, peer);
    beats_forget_peer(gate, peer);
    claims_forget_peer(gate, peer);
    deliveries_take_back_peer(gate, peer);
}

/* ---- turns ---- */

static void refuse_all(struct gate *gate, const struct error *why)
{
    enqueues_refuse_all(gate, why);
    settles_refuse_all(gate, why);
    beats_refuse_all(gate, why);
    claims_refuse_all(gate, why);
}

/* What is there goes before what is wanted, so that it makes room. */
static bool serve(struct gate *gate, struct error *err)
{
    return claims_touch(gate, err) && beats_run(gate, err) && settles_run(gate, err) &&
           returns_run(gate, err) && claims_run(gate, err);
}

static void take_turn(void *context)
{
    struct gate *gate = context;
    struct error err;

    if (!desk_store(gate->desk))
        return;
    enqueues_run(gate);
    if (desk_store(gate->desk) && !serve(gate, &err)) {
        refuse_all(gate, &err);
        gate_note_failure(gate, &err);
    }
    arena_done(&gate->turn);
}

static void note_lost(void *context, const struct error *err)
{
    struct gate *gate = context;

    bell_leave(gate);
    refuse_all(gate, err);
}

/* What was to be given back has waited for it. */
static void note_found(void *context)
{
    desk_rally(((struct gate *)context)->desk);
}

/* ---- what its files use ---- */

void gate_answer(struct peer *peer, uint64_t serial, const struct buffer *pack)
{
    peer_answer(peer, serial,
                (struct bytes){(const unsigned char *)buffer_str(pack), pack->length});
}

void gate_refuse_lease(struct peer *peer, uint64_t serial, const struct uuid *job,
                       enum th_error_code verdict, struct error *why_out)
{
    static const struct {
        enum th_error_code code;
        const char *words;
    } reasons[] = {
        {TH_E_NOT_FOUND, "there is no such job"},
        {TH_E_NOT_RUNNING, "it is not running"},
        {TH_E_LEASE_EXPIRED, "its lease has run out"},
        {TH_E_LEASE_MISMATCH, "its lease is held by somebody else"},
        {TH_E_UNAVAILABLE, "its part of the store does not answer"},
    };
    const char *words = error_code_name(verdict);
    char id[UUID_TEXT_SIZE];

    for (size_t i = 0; i < COUNT_OF(reasons); i++) {
        if (reasons[i].code == verdict)
            words = reasons[i].words;
    }
    error_set(why_out, verdict, "job %s: %s", uuid_format(job, id), words);
    peer_refuse(peer, serial, why_out);
}

bool gate_refuse_stranger(struct gate *gate, struct peer *peer, uint64_t serial,
                          const struct uuid *job, struct error *err)
{
    CLEANUP(job_list_done) struct job_list found = {0};
    enum th_error_code verdict = TH_E_NOT_FOUND;
    struct error why;

    if (store_get(desk_store(gate->desk), job, &found, err))
        verdict = found.items[0].state == JOB_RUNNING ? TH_E_LEASE_MISMATCH : TH_E_NOT_RUNNING;
    else if (err->code != TH_E_NOT_FOUND)
        return false;
    gate_refuse_lease(peer, serial, job, verdict, &why);
    return true;
}

void gate_note_failure(struct gate *gate, const struct error *err)
{
    meters_add_store_error(desk_process(gate->desk)->meters, err->code);
    desk_note_failure(gate->desk, err);
}

/* ---- its life ---- */

static void rally(void *context)
{
    desk_rally(((struct gate *)context)->desk);
}

static void open_gate(struct gate *gate, const struct process *process)
{
    *gate = (struct gate){
        .config = process->config,
        .born_at = clock_boot(),
        .doubt_timer = {.call = rally, .context = gate},
    };
    gate->enqueues.last = &gate->enqueues.first;
    gate->settles.last = &gate->settles.first;
    gate->beats.last = &gate->beats.first;
    claims_init(gate);
    bell_init(gate);
}

/* Doors ask the next gate again. */
static void close_gate(void *context)
{
    struct gate *gate = context;
    struct loop *loop = desk_process(gate->desk)->loop;

    bell_leave(gate);
    loop_clear_timer(loop, &gate->doubt_timer);
    loop_clear_timer(loop, &gate->claims.timer);
    enqueues_forget_peer(gate, NULL);
    settles_forget_peer(gate, NULL);
    beats_forget_peer(gate, NULL);
    claims_forget_peer(gate, NULL);
    deliveries_done(gate);
    returns_done(gate);
    remotes_done(gate);
}

int gate_main(struct process *process)
{
    struct gate gate;
    const struct desk_service service = {
        .called = note_call,
        .gone = note_gone,
        .turn = take_turn,
        .lost = note_lost,
        .found = note_found,
        .ending = close_gate,
        .context = &gate,
    };

    open_gate(&gate, process);
    return desk_run(process, &service, &gate.desk);
}

/*
 * enqueues.c - jobs that doors want to be stored, until the gate's turn comes.
 *
 * A turn stores all that has come in since the last one. So the more comes in, the more is stored
 * with one commit, and nobody waits for the sake of it.
 */
#include "gate/enqueues.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "client/enqueue.h"
#include "config/config.h"
#include "door/enqueue_call.h"
#include "door/pack.h"
#include "gate/inside.h"
#include "store/store.h"

#include <stdlib.h>

struct enqueue_request {
    struct enqueue_request *next;
    struct peer *peer;
    uint64_t serial;
    struct arena arena; /* owns all of the call */
    struct enqueue_call call;
};

static void free_request(struct enqueue_request *request)
{
    arena_done(&request->arena);
    free(request);
}

/* ---- taking ---- */

static bool read_call(struct enqueue_request *request, const struct call *call, struct error *err)
{
    const struct bytes pack = arena_bytes(&request->arena, call->pack);

    if (request->arena.failed)
        return error_no_memory(err);
    return enqueue_call_unpack(pack, &request->arena, &request->call, err);
}

void enqueues_take(struct gate *gate, struct peer *peer, const struct call *call)
{
    struct enqueue_request *request = calloc(1, sizeof *request);
    struct error err;

    if (!request) {
        error_no_memory(&err);
        peer_refuse(peer, call->serial, &err);
        return;
    }
    request->peer = peer;
    request->serial = call->serial;
    if (!read_call(request, call, &err)) {
        peer_refuse(peer, call->serial, &err);
        free_request(request);
        return;
    }
    *gate->enqueues.last = request;
    gate->enqueues.last = &request->next;
    desk_rally(gate->desk);
}

static struct enqueue_request *take_first(struct enqueues *enqueues)
{
    struct enqueue_request *first = enqueues->first;

    if (!first)
        return NULL;
    enqueues->first = first->next;
    if (!enqueues->first)
        enqueues->last = &enqueues->first;
    return first;
}

void enqueues_forget_peer(struct gate *gate, const struct peer *peer)
{
    struct enqueues *enqueues = &gate->enqueues;
    struct enqueue_request **place = &enqueues->first;

    while (*place) {
        struct enqueue_request *request = *place;

        if (request->peer == peer) {
            *place = request->next;
            free_request(request);
        } else {
            place = &request->next;
        }
    }
    enqueues->last = place;
}

void enqueues_refuse_all(struct gate *gate, const struct error *why)
{
    struct enqueue_request *request;

    while ((request = take_first(&gate->enqueues))) {
        peer_refuse(request->peer, request->serial, why);
        free_request(request);
    }
}

/* ---- a turn ---- */

/* The door has made the id; what depends on the database's time is filled in here. */
static void complete(struct gate *gate, struct enqueue_call *call, usec_t now)
{
    struct enqueue producer = {.idempotency_window = gate->config->idempotency_window};

    for (size_t i = 0; i < call->count; i++) {
        struct job *job = &call->jobs[i];
        const bool id_is_given = job->id_is_given;

        if (call->delays[i] >= 0)
            job->run_at =
                call->delays[i] > TIMESTAMP_MAX - now ? TIMESTAMP_MAX : now + call->delays[i];
        enqueue_complete(&producer, job, now);
        job->id_is_given = id_is_given;
    }
}

static void answer(const struct enqueue_request *request, const struct enqueued *enqueued)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_MAX);
    CLEANUP(arena_done) struct arena arena = {0};
    const size_t count = request->call.count;
    struct enqueue_verdict *verdicts = arena_alloc(&arena, count * sizeof *verdicts);
    const struct enqueue_answer said = {verdicts, count};
    struct error err;

    for (size_t i = 0; verdicts && i < count; i++)
        verdicts[i] = (struct enqueue_verdict){enqueued[i].id, enqueued[i].state,
                                               enqueued[i].existed, enqueued[i].updated};
    if (verdicts)
        enqueue_answer_pack(&pack, &said);
    if (verdicts && buffer_ok(&pack, &err)) {
        gate_answer(request->peer, request->serial, &pack);
        return;
    }
    /* They are stored: whoever asks again hears so. */
    error_set(&err, TH_E_UNCERTAIN, "out of memory");
    peer_refuse(request->peer, request->serial, &err);
}

static bool store_one(struct gate *gate, struct enqueue_request *request, struct error *err)
{
    struct store *store = desk_store(gate->desk);
    AUTO_FREE struct enqueued *enqueued = calloc(request->call.count, sizeof *enqueued);
    const usec_t now = store_now(store);

    if (!enqueued)
        return error_no_memory(err);
    complete(gate, &request->call, now);
    if (!store_enqueue(store, request->call.jobs, request->call.count, now, enqueued, err))
        return false;
    answer(request, enqueued);
    return true;
}

void enqueues_run(struct gate *gate)
{
    struct enqueue_request *request;
    struct error err;

    while (desk_store(gate->desk) && (request = take_first(&gate->enqueues))) {
        if (!store_one(gate, request, &err)) {
            peer_refuse(request->peer, request->serial, &err);
            gate_note_failure(gate, &err);
        }
        free_request(request);
    }
}

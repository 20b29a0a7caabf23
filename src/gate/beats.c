/*
 * beats.c - heartbeats of remote workers for what they run, until the gate's turn comes.
 */
#include "gate/beats.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "config/config.h"
#include "config/handler_match.h"
#include "door/lease_calls.h"
#include "door/pack.h"
#include "gate/inside.h"
#include "store/store.h"

#include <stdlib.h>

#define OUTPUT_DEFAULT                                                                             \
    4096 /* of the end of what a job prints, where its type has no handler here */

struct beat_request {
    struct beat_request *next;
    struct peer *peer;
    uint64_t serial;
    struct arena arena;
    struct beat_call call;
};

static void free_request(struct beat_request *request)
{
    arena_done(&request->arena);
    free(request);
}

/* ---- taking ---- */

static bool read_call(struct beat_request *request, const struct call *call, struct error *err)
{
    const struct bytes pack = arena_bytes(&request->arena, call->pack);

    if (request->arena.failed)
        return error_no_memory(err);
    return beat_call_unpack(pack, &request->call, err);
}

void beats_take(struct gate *gate, struct peer *peer, const struct call *call)
{
    struct beat_request *request = calloc(1, sizeof *request);
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
    *gate->beats.last = request;
    gate->beats.last = &request->next;
    desk_rally(gate->desk);
}

static void drop(struct gate *gate, struct beat_request **place)
{
    struct beat_request *request = *place;

    *place = request->next;
    if (!request->next)
        gate->beats.last = place;
    free_request(request);
}

void beats_forget_peer(struct gate *gate, const struct peer *peer)
{
    struct beat_request **place = &gate->beats.first;

    while (*place) {
        if (!peer || (*place)->peer == peer)
            drop(gate, place);
        else
            place = &(*place)->next;
    }
}

void beats_refuse_all(struct gate *gate, const struct error *why)
{
    while (gate->beats.first) {
        peer_refuse(gate->beats.first->peer, gate->beats.first->serial, why);
        drop(gate, &gate->beats.first);
    }
}

/* ---- a turn ---- */

/* As much of its end as is kept of jobs that run here. */
static struct bytes end_of(const struct gate *gate, const struct beat_call *call)
{
    const struct handler_config *handler = handler_match(gate->config, call->lease.type);
    const size_t most = handler ? (size_t)handler->output : OUTPUT_DEFAULT;
    struct bytes output = call->output;

    if (output.length <= most)
        return output;
    output.data += output.length - most;
    output.length = most;
    return output;
}

static void answer(const struct beat_request *request, const struct beat_answer *said)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_MAX);

    beat_answer_pack(&pack, said);
    gate_answer(request->peer, request->serial, &pack);
}

static void conclude(const struct beat_request *request, struct remote *remote,
                     const struct lease_answer *told, usec_t now)
{
    const struct beat_answer said = {
        .expires_at = now + request->call.lease.lease_for,
        .cancel_requested = told->cancel_requested,
        .state = remote->state,
    };
    struct error why;

    if (told->verdict == TH_OK) {
        remote_note_job(remote, &request->call.lease);
        answer(request, &said);
        return;
    }
    if (told->verdict != TH_E_UNAVAILABLE)
        remote_note_end(remote, &request->call.lease.job);
    gate_refuse_lease(request->peer, request->serial, &request->call.lease.job, told->verdict,
                      &why);
}

static bool add(struct gate *gate, const struct beat_request *request, struct remote_beat *beat,
                struct error *err)
{
    const struct beat_call *call = &request->call;

    *beat = (struct remote_beat){
        .remote = remotes_get(gate, call->lease.pool),
        .lease =
            {
                .job = call->lease.job,
                .queue = call->lease.queue,
                .token = call->lease.token,
                .ref = call->lease.ref,
                .worker = 1,
                .progress_percent = (int)call->progress_percent,
                .progress_text = call->progress_text,
                .output = end_of(gate, call),
                .lease_for = call->lease.lease_for,
            },
    };
    if (!beat->remote)
        return error_no_memory(err);
    remote_touch(gate, beat->remote);
    return true;
}

static bool refuse_strangers(struct gate *gate, struct error *err)
{
    struct beat_request **place = &gate->beats.first;

    while (*place) {
        const struct beat_request *request = *place;
        const struct remote_lease *lease = &request->call.lease;

        if (!lease->is_foreign) {
            place = &(*place)->next;
            continue;
        }
        if (!gate_refuse_stranger(gate, request->peer, request->serial, &lease->job, err))
            return false;
        drop(gate, place);
    }
    return true;
}

static size_t count_requests(const struct beats *beats)
{
    size_t count = 0;

    for (const struct beat_request *request = beats->first; request; request = request->next)
        count++;
    return count;
}

bool beats_run(struct gate *gate, struct error *err)
{
    if (!refuse_strangers(gate, err))
        return false;
    const size_t count = count_requests(&gate->beats);
    struct remote_beat *beats = arena_alloc(&gate->turn, (count + 1) * sizeof *beats);
    const usec_t now = store_now(desk_store(gate->desk));
    size_t added = 0;

    if (!beats)
        return error_no_memory(err);
    for (struct beat_request *request = gate->beats.first; request; request = request->next) {
        if (!add(gate, request, &beats[added++], err))
            return false;
    }
    if (!remotes_run(gate, beats, count, err))
        return false;
    for (size_t i = 0; gate->beats.first; i++) {
        conclude(gate->beats.first, beats[i].remote, &beats[i].answer, now);
        drop(gate, &gate->beats.first);
    }
    return true;
}

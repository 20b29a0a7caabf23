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
#include "process/meters.h"
#include "process/process.h"
#include "store/store.h"

#include <stdlib.h>

#define TURN_JOBS 5000 /* then others have their turn: a commit does not grow without end */

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

        if (!peer || request->peer == peer) {
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

static void count_new(const struct gate *gate, const struct enqueue_request *request,
                      const struct enqueued *enqueued)
{
    struct meters *meters = desk_process(gate->desk)->meters;

    for (size_t i = 0; i < request->call.count; i++) {
        if (!enqueued[i].existed && !enqueued[i].updated)
            meters_add_enqueued(meters, request->call.jobs[i].queue, 1);
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

/* What one turn stores. */
struct harvest {
    struct arena arena;
    struct enqueue_request **requests;
    struct enqueue_group *groups;
    struct error *errors;
    size_t count;
};

static void harvest_done(struct harvest *harvest)
{
    for (size_t i = 0; i < harvest->count; i++)
        free_request(harvest->requests[i]);
    arena_done(&harvest->arena);
}

static size_t count_requests(const struct enqueues *enqueues)
{
    const struct enqueue_request *request = enqueues->first;
    size_t count = 0;

    for (size_t jobs = 0; request && jobs < TURN_JOBS; request = request->next) {
        jobs += request->call.count;
        count++;
    }
    return count;
}

static void add_group(struct gate *gate, struct harvest *harvest, usec_t now)
{
    struct enqueue_request *request = take_first(&gate->enqueues);
    const size_t i = harvest->count++;

    complete(gate, &request->call, now);
    harvest->requests[i] = request;
    harvest->groups[i] = (struct enqueue_group){
        .jobs = request->call.jobs,
        .count = request->call.count,
        .enqueued_out = arena_alloc(&harvest->arena, request->call.count * sizeof(struct enqueued)),
        .err = &harvest->errors[i],
    };
}

static bool gather(struct gate *gate, struct harvest *harvest, usec_t now, struct error *err)
{
    const size_t count = count_requests(&gate->enqueues);

    harvest->requests = arena_alloc(&harvest->arena, count * sizeof(struct enqueue_request *));
    harvest->groups = arena_alloc(&harvest->arena, count * sizeof *harvest->groups);
    harvest->errors = arena_alloc(&harvest->arena, count * sizeof *harvest->errors);
    if (harvest->arena.failed)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        add_group(gate, harvest, now);
    return !harvest->arena.failed || error_no_memory(err);
}

static void refuse_group(const struct enqueue_request *request, const struct enqueue_group *group)
{
    if (group->count > 1 && group->at_fault < group->count)
        error_prefix(group->err, "job %zu", group->at_fault + 1);
    peer_refuse(request->peer, request->serial, group->err);
}

/* What the whole call failed with is what each of them gets. */
static void answer_all(const struct gate *gate, const struct harvest *harvest,
                       const struct error *err)
{
    for (size_t i = 0; i < harvest->count; i++) {
        const struct enqueue_request *request = harvest->requests[i];
        const struct enqueue_group *group = &harvest->groups[i];

        if (err) {
            peer_refuse(request->peer, request->serial, err);
        } else if (group->verdict != TH_OK) {
            refuse_group(request, group);
        } else {
            count_new(gate, request, group->enqueued_out);
            answer(request, group->enqueued_out);
        }
    }
}

void enqueues_run(struct gate *gate)
{
    CLEANUP(harvest_done) struct harvest harvest = {0};
    struct store *store = desk_store(gate->desk);
    struct error err;

    if (!store || !gate->enqueues.first)
        return;
    const usec_t now = store_now(store);
    const bool is_stored = gather(gate, &harvest, now, &err) &&
                           store_enqueue_groups(store, harvest.groups, harvest.count, now, &err);

    answer_all(gate, &harvest, is_stored ? NULL : &err);
    if (!is_stored && harvest.count == 0)
        enqueues_refuse_all(gate, &err);
    if (!is_stored)
        gate_note_failure(gate, &err);
    if (gate->enqueues.first)
        desk_rally(gate->desk);
}

/*
 * settles.c - what remote workers say of jobs that they have run, until the gate's turn comes.
 *
 *     done            the lease says all that is needed
 *     failed          the record is read: its counts and limits decide whether it is tried again
 *     released        it is read as well: somebody may want it cancelled
 *
 * What is decided about a job is decided in job/settlement.c, as for jobs that run here.
 */
#include "gate/settles.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "config/config.h"
#include "config/handler_match.h"
#include "door/lease_calls.h"
#include "door/pack.h"
#include "gate/inside.h"
#include "job/on_dead.h"
#include "job/settlement.h"
#include "store/store.h"

#include <stdlib.h>

#define NO_ERROR "the worker told no error"

struct settle_request {
    struct settle_request *next;
    struct peer *peer;
    uint64_t serial;
    struct arena arena;
    struct settle_call call;
    struct job_list record; /* empty where it is not needed, and where there is none */
    struct settlement settlement;
};

/* ---- taking ---- */

static void free_request(struct settle_request *request)
{
    job_list_done(&request->record);
    arena_done(&request->arena);
    free(request);
}

static bool read_call(struct settle_request *request, const struct call *call, struct error *err)
{
    const struct bytes pack = arena_bytes(&request->arena, call->pack);

    if (request->arena.failed)
        return error_no_memory(err);
    return settle_call_unpack(pack, &request->call, err);
}

void settles_take(struct gate *gate, struct peer *peer, const struct call *call)
{
    struct settle_request *request = calloc(1, sizeof *request);
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
    *gate->settles.last = request;
    gate->settles.last = &request->next;
    gate->settles.count++;
    desk_rally(gate->desk);
}

static void drop(struct gate *gate, struct settle_request **place)
{
    struct settle_request *request = *place;

    *place = request->next;
    if (!request->next)
        gate->settles.last = place;
    gate->settles.count--;
    free_request(request);
}

void settles_forget_peer(struct gate *gate, const struct peer *peer)
{
    struct settle_request **place = &gate->settles.first;

    while (*place) {
        if (!peer || (*place)->peer == peer)
            drop(gate, place);
        else
            place = &(*place)->next;
    }
}

void settles_refuse_all(struct gate *gate, const struct error *why)
{
    while (gate->settles.first) {
        peer_refuse(gate->settles.first->peer, gate->settles.first->serial, why);
        drop(gate, &gate->settles.first);
    }
}

/* ---- deciding ---- */

static const struct handler_config *handler_of(const struct gate *gate, const char *type)
{
    return handler_match(gate->config, type);
}

static struct settlement_rules rules_of(const struct gate *gate, const struct job *job)
{
    const struct config *config = gate->config;
    const struct handler_config *handler = handler_of(gate, job->type);
    const struct job_limits defaults = config_default_limits(config);
    const struct job_limits own = handler ? config_handler_limits(handler) : defaults;

    return (struct settlement_rules){
        .limits = job_limits_resolve(job, &own, &defaults),
        .retry = handler ? handler->retry : config->defaults.retry,
        .forget_done = config->retention.done == 0 || config->retention.done_max == 0,
    };
}

static struct job job_of(const struct settle_request *request)
{
    const struct remote_lease *lease = &request->call.lease;
    struct job job = request->record.count > 0 ? request->record.items[0] : (struct job){0};

    job.id = lease->job;
    job.type = lease->type;
    job.queue = lease->queue;
    job.token = lease->token;
    job.ref = lease->ref;
    job.executions = lease->executions;
    return job;
}

static struct outcome outcome_of(const struct settle_call *call, usec_t now)
{
    const bool has_failed = call->kind == OUTCOME_FAILED || call->kind == OUTCOME_PERMANENT;
    const usec_t started_at =
        call->lease.started_at > 0 && call->lease.started_at < now ? call->lease.started_at : now;

    return (struct outcome){
        .kind = call->kind,
        .error = has_failed && !call->error ? NO_ERROR : call->error,
        .result = call->result,
        .run = {.pool = call->lease.pool,
                .worker = 1,
                .started_at = started_at,
                .wall = now - started_at,
                .exit_code = JOB_NO_EXIT_CODE},
    };
}

/* A job whose on_dead job cannot be made is dead all the same. */
static void add_on_dead(struct gate *gate, struct settle_request *request, const struct job *job,
                        usec_t now)
{
    const struct handler_config *handler = handler_of(gate, job->type);
    struct error ignored;

    if (request->settlement.kind != SETTLE_FAIL || !handler || !handler->on_dead.type)
        return;
    if (!on_dead_make(&handler->on_dead, job, request->settlement.error,
                      (size_t)gate->config->max_payload, &gate->ids, now, &request->arena,
                      &request->settlement.on_dead, &ignored))
        request->settlement.on_dead = NULL;
}

static void decide(struct gate *gate, struct settle_request *request, usec_t now)
{
    const struct job job = job_of(request);
    const struct settlement_rules rules = rules_of(gate, &job);
    const struct outcome outcome = outcome_of(&request->call, now);
    struct settlement *settlement = &request->settlement;
    const usec_t retry_in = request->call.retry_in;

    *settlement =
        settlement_decide(&job, &outcome, &rules, now, rules.retry.jitter > 0 ? random_unit() : 0);
    settlement->run.pool = request->call.lease.pool;
    if (settlement->kind == SETTLE_RETRY && retry_in >= 0)
        settlement->run_at = retry_in > TIMESTAMP_MAX - now ? TIMESTAMP_MAX : now + retry_in;
    add_on_dead(gate, request, &job, now);
}

/* ---- answering ---- */

static enum job_state state_after(const struct settle_request *request, usec_t now)
{
    const struct settlement *settlement = &request->settlement;
    const struct job *record = request->record.count > 0 ? request->record.items : NULL;

    if (settlement->kind == SETTLE_ACK)
        return JOB_DONE;
    if (record && record->cancel_requested_at != 0)
        return JOB_CANCELLED;
    if (settlement->kind == SETTLE_FAIL)
        return JOB_DEAD;
    return settlement_place(settlement, 0, 0, now).state;
}

static void answer(struct gate *gate, const struct settle_request *request, enum job_state state)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_MAX);
    struct remote *remote = remotes_get(gate, request->call.lease.pool);

    settle_answer_pack(&pack, state);
    gate_answer(request->peer, request->serial, &pack);
    if (remote)
        remote_note_end(remote, &request->call.lease.job);
}

/* What was decided then may have been something else than now: the failure has been counted. */
static bool is_end_of(enum outcome_kind kind, enum run_outcome outcome)
{
    if (kind == OUTCOME_DONE)
        return outcome == RUN_DONE;
    if (outcome == RUN_CANCELLED)
        return true;
    return kind == OUTCOME_RELEASED ? outcome == RUN_RELEASED
                                    : outcome == RUN_RETRY || outcome == RUN_DEAD;
}

/* Whether this is what the same worker has settled that execution with before. */
static bool is_repeated(const struct settle_request *request, const struct job *job)
{
    const struct remote_lease *lease = &request->call.lease;

    for (size_t i = 0; i < job->run_count; i++) {
        const struct job_run *run = &job->runs[i];

        if (run->execution == lease->executions && text_equal(run->pool, lease->pool))
            return is_end_of(request->call.kind, run->outcome);
    }
    return false;
}

static bool refuse(struct gate *gate, const struct settle_request *request,
                   enum th_error_code verdict, struct error *err)
{
    CLEANUP(job_list_done) struct job_list now = {0};
    const struct settle_call *call = &request->call;
    struct remote *remote = remotes_get(gate, call->lease.pool);
    struct error why;

    if (verdict == TH_E_NOT_RUNNING || verdict == TH_E_LEASE_MISMATCH) {
        if (!store_get(desk_store(gate->desk), &call->lease.job, &now, err) &&
            err->code != TH_E_NOT_FOUND)
            return false;
        if (now.count > 0 && is_repeated(request, now.items)) {
            answer(gate, request, now.items[0].state);
            return true;
        }
    }
    gate_refuse_lease(request->peer, request->serial, &call->lease.job, verdict, &why);
    if (remote && settlement_is_over(verdict))
        remote_note_end(remote, &call->lease.job);
    return true;
}

/* ---- a turn ---- */

static bool read_record(struct gate *gate, struct settle_request *request, struct error *err)
{
    if (request->call.kind == OUTCOME_DONE)
        return true;
    return store_get(desk_store(gate->desk), &request->call.lease.job, &request->record, err) ||
           err->code == TH_E_NOT_FOUND; /* which the settlement will be told as well */
}

static bool refuse_strangers(struct gate *gate, struct error *err)
{
    struct settle_request **place = &gate->settles.first;

    while (*place) {
        const struct settle_request *request = *place;
        const struct uuid *job = &request->call.lease.job;

        if (!request->call.lease.is_foreign) {
            place = &(*place)->next;
            continue;
        }
        if (!gate_refuse_stranger(gate, request->peer, request->serial, job, err))
            return false;
        drop(gate, place);
    }
    return true;
}

static bool prepare(struct gate *gate, struct settlement *settlements, usec_t now,
                    struct error *err)
{
    size_t i = 0;

    for (struct settle_request *request = gate->settles.first; request; request = request->next) {
        if (!read_record(gate, request, err))
            return false;
        decide(gate, request, now);
        settlements[i++] = request->settlement;
    }
    return true;
}

static bool conclude(struct gate *gate, const enum th_error_code *verdicts, usec_t now,
                     struct error *err)
{
    for (size_t i = 0; gate->settles.first; i++) {
        const struct settle_request *request = gate->settles.first;

        if (verdicts[i] == TH_OK)
            answer(gate, request, state_after(request, now));
        else if (!refuse(gate, request, verdicts[i], err))
            return false;
        drop(gate, &gate->settles.first);
    }
    return true;
}

bool settles_run(struct gate *gate, struct error *err)
{
    if (!refuse_strangers(gate, err))
        return false;
    if (gate->settles.count == 0)
        return true;
    const size_t count = gate->settles.count;
    struct store *store = desk_store(gate->desk);
    const usec_t now = store_now(store);
    struct settlement *settlements = arena_alloc(&gate->turn, count * sizeof *settlements);
    enum th_error_code *verdicts = arena_alloc(&gate->turn, count * sizeof *verdicts);
    const struct settlement_list finished = {settlements, count};

    if (gate->turn.failed)
        return error_no_memory(err);
    if (!prepare(gate, settlements, now, err))
        return false;
    return (store_settle(store, &finished, now, verdicts, err) ||
            error_prefix(err, "settle %zu jobs", count)) &&
           conclude(gate, verdicts, now, err);
}

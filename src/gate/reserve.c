/*
 * reserve.c - what claims get from the store, and what of it their workers may have.
 */
#include "gate/reserve.h"

#include "base/clock.h"
#include "base/error.h"
#include "config/config.h"
#include "config/handler_match.h"
#include "door/claim_call.h"
#include "gate/inside.h"
#include "job/settlement.h"
#include "process/meters.h"
#include "process/process.h"
#include "store/store.h"

#include <assert.h>

/* So much may be read at once: of large payloads fewer jobs. */
#define READ_MAX ((size_t)64 << 20)

/* ---- asking ---- */

static size_t most_of(const struct gate *gate, const struct claim_call *call)
{
    const size_t fitting = READ_MAX / (size_t)gate->config->max_payload;

    return call->max < fitting ? call->max : fitting > 0 ? fitting : 1;
}

static struct queue_share share_of(const struct gate *gate, const char *name, size_t most)
{
    const struct queue_config *queue = config_find_queue(gate->config, name);
    struct queue_share share = {.queue = name, .max = most};

    if (queue) {
        share.max_running = (size_t)queue->max_running;
        share.rate = queue->rate;
    }
    return share;
}

static bool make_wish(struct gate *gate, const struct claim_call *call, struct error *away,
                      struct reservation *wanted, struct error *err)
{
    const size_t most = most_of(gate, call);
    struct queue_share *shares = arena_alloc(&gate->turn, call->queue_count * sizeof *shares);
    struct share_limit *limits = arena_alloc(&gate->turn, call->queue_count * sizeof *limits);

    if (gate->turn.failed)
        return error_no_memory(err);
    for (size_t i = 0; i < call->queue_count; i++)
        shares[i] = share_of(gate, call->queues[i], most);
    *wanted = (struct reservation){
        .queues = shares,
        .queue_count = call->queue_count,
        .max_total = most,
        .limits_out = limits,
        .away_out = away,
        .types = call->type_count > 0 ? call->types : NULL,
        .type_count = call->type_count,
        .pool = call->pool,
        .batch = call->batch,
        .lease_for = call->lease_for,
        .lease_default = gate->config->defaults.timeout,
    };
    return true;
}

/* Of the limits that kept something back. */
static void conclude(const struct reservation *wanted, usec_t now, struct reserved *reserved)
{
    reserved->is_dry = reserved->count < wanted->max_total;
    for (size_t i = 0; reserved->is_dry && i < wanted->queue_count; i++) {
        const struct share_limit *limit = &wanted->limits_out[i];

        if (limit->limited_until == 0)
            continue;
        const usec_t at = clock_boot() + limit->limited_until - now;

        if (reserved->again_at == 0 || at < reserved->again_at)
            reserved->again_at = at;
    }
}

/* Those of one reservation stand together. */
static bool split(struct gate *gate, const struct job_list *jobs, struct reserved *reserved,
                  size_t count, struct error *err)
{
    struct job *copies = arena_alloc(&gate->turn, (jobs->count + 1) * sizeof *copies);

    if (!copies)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++) {
        reserved[i].jobs = copies;
        for (size_t k = 0; k < jobs->count; k++) {
            if (jobs->items[k].reservation == i)
                *copies++ = jobs->items[k];
        }
        reserved[i].count = (size_t)(copies - reserved[i].jobs);
    }
    return true;
}

bool reserve_for(struct gate *gate, const struct claim_call *const *calls, size_t count,
                 struct job_list *jobs, struct reserved *reserved_out, struct error *err)
{
    struct store *store = desk_store(gate->desk);
    const struct settlement_list nothing = {0};
    struct reservation wanted[RESERVE_MAX];
    struct error away = {.code = TH_OK};

    assert(count <= RESERVE_MAX);
    for (size_t i = 0; i < count; i++) {
        reserved_out[i] = (struct reserved){.count = 0};
        if (!make_wish(gate, calls[i], &away, &wanted[i], err))
            return false;
    }
    const usec_t now = store_now(store), begun_at = clock_boot();

    if (!store_exchange(store, &nothing, wanted, count, now, NULL, jobs, err))
        return error_prefix(err, "reserve for %zu claims", count);
    meters_add_store_work(desk_process(gate->desk)->meters, STORE_EXCHANGE, begun_at);
    if (!split(gate, jobs, reserved_out, count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        conclude(&wanted[i], now, &reserved_out[i]);
    return true;
}

/* ---- keeping ---- */

static struct job_limits limits_of(const struct config *config, const struct job *job)
{
    const struct handler_config *handler = handler_match(config, job->type);
    const struct job_limits defaults = config_default_limits(config);
    const struct job_limits own = handler ? config_handler_limits(handler) : defaults;

    return job_limits_resolve(job, &own, &defaults);
}

size_t reserve_keep(struct gate *gate, const struct claim_call *call, struct job *jobs,
                    size_t count)
{
    const usec_t now = store_now(desk_store(gate->desk));
    size_t kept = 0, bytes = 0;

    for (size_t i = 0; i < count; i++) {
        struct job *job = &jobs[i];
        const struct job_limits limits = limits_of(gate->config, job);
        struct settlement settlement;

        bytes += job->payload.length;
        if (settlement_instead_of_run(job, &limits, &settlement)) {
            returns_add(gate, &settlement);
        } else if (kept == call->max || (kept > 0 && bytes > CLAIM_BYTES_MAX)) {
            returns_add_job(gate, job);
        } else {
            job->pool = call->pool;
            job->state = JOB_RUNNING;
            job->started_at = job->started_at > 0 ? job->started_at : now;
            job->timeout = limits.timeout;
            job->max_attempts = limits.max_attempts;
            job->max_stalls = limits.max_stalls;
            jobs[kept++] = *job;
        }
    }
    return kept;
}

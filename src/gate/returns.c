/*
 * returns.c - what the gate gives back by itself: jobs that were claimed and have reached nobody.
 */
#include "gate/returns.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "gate/inside.h"
#include "job/job.h"
#include "job/settlement.h"
#include "process/process.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an uncertain call has done may be seen later than its end: a second look finds it. */
#define LOOKS      2
#define LOOK_AGAIN (10 * USEC_PER_SEC)
#define DOUBTS_MAX 10000 /* beyond, leases have to run out */

struct doubt {
    struct doubt *next;
    char pool[JOB_NAME_MAX + 1];
    struct batch_token batch;
    usec_t look_at; /* boot time */
    int looks;
};

/* ---- settlements ---- */

static bool make_room(struct returns *returns)
{
    const size_t capacity = returns->capacity == 0 ? 16 : 2 * returns->capacity;

    if (returns->count < returns->capacity)
        return true;
    struct settlement *items = reallocarray(returns->items, capacity, sizeof *items);

    if (!items)
        return false;
    returns->items = items;
    returns->capacity = capacity;
    return true;
}

/* Without memory it is left to the end of its lease. */
void returns_add(struct gate *gate, const struct settlement *settlement)
{
    struct returns *returns = &gate->returns;

    if (!make_room(returns))
        return;
    struct settlement copy = *settlement;

    copy.queue = arena_text(&returns->arena, settlement->queue);
    copy.error = arena_text(&returns->arena, settlement->error);
    copy.run.error = NULL;
    copy.run.pool = NULL;
    if (!returns->arena.failed)
        returns->items[returns->count++] = copy;
    desk_rally(gate->desk);
}

void returns_add_job(struct gate *gate, const struct job *job)
{
    const struct settlement settlement = {
        .job = job->id,
        .queue = job->queue,
        .token = job->token,
        .ref = job->ref,
        .kind = SETTLE_RELEASE,
        .run = {.exit_code = JOB_NO_EXIT_CODE},
    };

    returns_add(gate, &settlement);
}

static void keep_unsettled(struct returns *returns, const enum th_error_code *verdicts,
                           size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (!settlement_is_over(verdicts[i]))
            returns->items[kept++] = returns->items[i];
    }
    returns->count = kept;
    if (kept == 0)
        arena_done(&returns->arena);
}

static bool settle(struct gate *gate, struct error *err)
{
    struct returns *returns = &gate->returns;
    struct store *store = desk_store(gate->desk);
    const struct settlement_list finished = {returns->items, returns->count};

    if (returns->count == 0)
        return true;
    AUTO_FREE enum th_error_code *verdicts = calloc(returns->count, sizeof *verdicts);

    if (!verdicts)
        return error_no_memory(err);
    if (!store_settle(store, &finished, store_now(store), verdicts, err))
        return error_prefix(err, "give back %zu jobs", returns->count);
    log_info("claims_returned", "jobs=%zu", returns->count);
    keep_unsettled(returns, verdicts, returns->count);
    return true;
}

/* ---- doubts ---- */

static void look_in(struct gate *gate, usec_t at)
{
    if (!gate->doubt_timer.is_on || gate->doubt_timer.at > at)
        loop_set_timer(desk_process(gate->desk)->loop, &gate->doubt_timer, at);
}

void returns_doubt(struct gate *gate, const char *pool, const struct batch_token *batch)
{
    struct returns *returns = &gate->returns;
    struct doubt *doubt = returns->doubt_count < DOUBTS_MAX ? calloc(1, sizeof *doubt) : NULL;

    if (!doubt)
        return;
    snprintf(doubt->pool, sizeof doubt->pool, "%s", pool);
    doubt->batch = *batch;
    doubt->look_at = clock_boot();
    doubt->next = returns->doubts;
    returns->doubts = doubt;
    returns->doubt_count++;
    look_in(gate, doubt->look_at);
}

static bool is_of_batch(const struct job *job, const struct batch_token *batch)
{
    return memcmp(job->token.bytes, batch->bytes, sizeof batch->bytes) == 0;
}

static void take_back(struct gate *gate, const struct doubt *doubt, const struct job_list *held)
{
    for (size_t i = 0; i < held->count; i++) {
        if (is_of_batch(&held->items[i], &doubt->batch))
            returns_add_job(gate, &held->items[i]);
    }
}

/* All that is doubted of one pool is looked for at once. */
static void conclude(struct gate *gate, const char *pool, const struct job_list *held, usec_t now)
{
    struct doubt **place = &gate->returns.doubts;

    while (*place) {
        struct doubt *doubt = *place;

        if (doubt->look_at > now || !text_equal(doubt->pool, pool)) {
            place = &doubt->next;
            continue;
        }
        take_back(gate, doubt, held);
        doubt->look_at = now + LOOK_AGAIN;
        if (++doubt->looks < LOOKS) {
            place = &doubt->next;
            continue;
        }
        *place = doubt->next;
        free(doubt);
        gate->returns.doubt_count--;
    }
}

static const struct doubt *find_due(const struct gate *gate, usec_t now)
{
    const struct doubt *doubt = gate->returns.doubts;

    while (doubt && doubt->look_at > now)
        doubt = doubt->next;
    return doubt;
}

static bool look(struct gate *gate, struct error *err)
{
    const usec_t now = clock_boot();
    const struct doubt *due;

    while ((due = find_due(gate, now))) {
        CLEANUP(job_list_done) struct job_list held = {0};
        char pool[JOB_NAME_MAX + 1];

        snprintf(pool, sizeof pool, "%s", due->pool);
        if (!store_held(desk_store(gate->desk), pool, &held, err))
            return error_prefix(err, "ask what %s holds", pool);
        conclude(gate, pool, &held, now);
    }
    for (const struct doubt *doubt = gate->returns.doubts; doubt; doubt = doubt->next)
        look_in(gate, doubt->look_at);
    return true;
}

bool returns_run(struct gate *gate, struct error *err)
{
    return look(gate, err) && settle(gate, err);
}

void returns_done(struct gate *gate)
{
    struct returns *returns = &gate->returns;

    while (returns->doubts) {
        struct doubt *doubt = returns->doubts;

        returns->doubts = doubt->next;
        free(doubt);
    }
    free(returns->items);
    arena_done(&returns->arena);
}

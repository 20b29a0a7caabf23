/*
 * settle.c - what became of the jobs that were handed out.
 *
 * Most acks are of jobs without key, error or earlier run: they take the short way of
 * plain_acks.c. Everything else loads the job's standing, decides, and only then writes: an item
 * that is refused has changed nothing.
 */
#include "base/cleanup.h"
#include "job/idempotency.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/ops/ops.h"
#include "store/sqlite/ops/plain_acks.h"
#include "store/sqlite/parts/leaving.h"
#include "store/sqlite/parts/twins.h"

#include <stdlib.h>

struct settling {
    struct sqlite *sqlite;
    usec_t now;
};

static enum th_error_code judge(const struct sqlite_standing *standing,
                                const struct settlement *settlement, usec_t now, bool *repeated_out)
{
    *repeated_out = job_state_has_ended(standing->place.state) &&
                    standing->ended_by == (int)settlement->kind && standing->has_token &&
                    lease_token_equal(&standing->token, &settlement->token);
    if (*repeated_out)
        return TH_OK;
    return lease_check(standing->place.state,
                       settlement_is_unstarted(settlement) ? USEC_MAX : standing->expires_at,
                       &standing->token, &settlement->token, now);
}

static bool write_failure(struct settling *settling, const struct sqlite_standing *standing,
                          const struct settlement *settlement, struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(settling->sqlite, SQL_DETAIL_FAILED);

    sqlite_query_int(&query, standing->place.seq);
    sqlite_query_text(&query, settlement->error);
    sqlite_query_int(&query, settling->now);
    sqlite_query_int_or_null(&query, settlement->reason);
    if (settlement->run.exit_code != JOB_NO_EXIT_CODE && settlement->has_run)
        sqlite_query_int(&query, settlement->run.exit_code);
    else
        sqlite_query_null(&query);
    sqlite_query_int_or_null(&query, settlement->has_run ? settlement->run.signal : 0);
    return sqlite_query_run(&query, err);
}

static bool write_told(struct settling *settling, const struct sqlite_standing *standing,
                       const struct settlement *settlement, struct error *err)
{
    if (!settlement_tells(settlement))
        return true;
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(settling->sqlite, SQL_DETAIL_TOLD);
    sqlite_query_int(&query, standing->place.seq);
    if (settlement->has_progress)
        sqlite_query_int(&query, settlement->progress_percent);
    else
        sqlite_query_null(&query);
    sqlite_query_text(&query, settlement->has_progress ? settlement->progress_text : NULL);
    sqlite_query_bytes(&query, settlement->result);
    sqlite_query_bytes(&query, settlement->output);
    return sqlite_query_run(&query, err);
}

/* What is kept of the execution itself. The last run of a done job lies in its `ended` row. */
static bool write_traces(struct settling *settling, const struct sqlite_standing *standing,
                         const struct settlement *settlement, enum run_outcome outcome,
                         struct error *err)
{
    bool failed = settlement->kind == SETTLE_RETRY || settlement->kind == SETTLE_FAIL;
    struct job_run run = settlement->run;

    run.outcome = outcome;
    return (!failed || write_failure(settling, standing, settlement, err)) &&
           write_told(settling, standing, settlement, err) &&
           (!settlement->has_run || settlement->kind == SETTLE_ACK ||
            sqlite_leaving_record_run(settling->sqlite, standing, &run, err));
}

static bool end_job(struct settling *settling, const struct sqlite_standing *standing,
                    const struct settlement *settlement, enum job_state state, struct error *err)
{
    struct sqlite_ending ending = {
        .state = state,
        .settled = true,
        .ended_by = settlement->kind,
        .run = settlement->has_run && state == JOB_DONE ? &settlement->run : NULL,
    };

    if (!sqlite_leaving_end(settling->sqlite, standing, &ending, settling->now, err))
        return false;
    if (state == JOB_DONE && settlement->forget) {
        const struct sqlite_place place = {
            .seq = standing->place.seq, .queue_id = standing->place.queue_id, .state = state};
        return sqlite_ending_forget(settling->sqlite, &place, true, err);
    }
    return write_traces(
        settling, standing, settlement,
        state == JOB_CANCELLED ? RUN_CANCELLED : settlement_run_outcome(settlement->kind), err);
}

/* Asked to cancel: whatever it was settled as, it is not dead and has no reason for it. */
static bool stop_job(struct settling *settling, const struct sqlite_standing *standing,
                     const struct settlement *settlement, struct error *err)
{
    struct settlement stopped = *settlement;

    stopped.reason = REASON_NONE;
    return end_job(settling, standing, &stopped, JOB_CANCELLED, err);
}

static bool fail_job(struct settling *settling, const struct sqlite_standing *standing,
                     const struct settlement *settlement, struct error *err)
{
    struct enqueued enqueued;

    if (!end_job(settling, standing, settlement, JOB_DEAD, err))
        return false;
    if (!settlement->on_dead)
        return true;
    struct job on_dead = *settlement->on_dead;
    if (!idempotency_key_counts(on_dead.idempotency_key))
        on_dead.idempotency_key = NULL; /* as store_enqueue() does with what it is handed */
    return sqlite_enqueue_one(settling->sqlite, &on_dead, settling->now, &enqueued, err);
}

static bool return_job(struct settling *settling, struct sqlite_standing *standing,
                       const struct settlement *settlement, struct error *err)
{
    const struct settlement_place place =
        settlement_place(settlement, standing->run_at, standing->place.due, settling->now);

    if (!write_traces(settling, standing, settlement, settlement_run_outcome(settlement->kind),
                      err))
        return false;
    if (settlement->kind == SETTLE_ASIDE) {
        standing->place.aside = settlement->aside;
        standing->place.aside_since = settlement->aside_since;
        standing->place.aside_error = settlement->error;
    }
    standing->run_at = place.run_at;
    standing->place.due = place.due;
    return sqlite_leaving_return(settling->sqlite, standing, place.state, settling->now, err);
}

static bool carry_out(struct settling *settling, struct sqlite_standing *standing,
                      const struct settlement *settlement, struct error *err)
{
    if (standing->cancel_requested_at != 0 && settlement->kind != SETTLE_ACK)
        return stop_job(settling, standing, settlement, err);
    switch (settlement->kind) {
    case SETTLE_ACK:
        return end_job(settling, standing, settlement, JOB_DONE, err);
    case SETTLE_FAIL:
        return fail_job(settling, standing, settlement, err);
    case SETTLE_CANCEL:
        return end_job(settling, standing, settlement, JOB_CANCELLED, err);
    case SETTLE_RETRY:
    case SETTLE_RELEASE:
    case SETTLE_ASIDE:
    case SETTLE_SNOOZE:
        return return_job(settling, standing, settlement, err);
    }
    return error_set(err, TH_E_INTERNAL, "settlement of kind %d", (int)settlement->kind);
}

/* The execution itself knows better than the lease who ran it and from when on. */
static void take_run(struct sqlite_standing *standing, const struct settlement *settlement)
{
    if (settlement->counts)
        standing->attempts++;
    if (!settlement->has_run)
        return;
    if (settlement->run.worker != 0)
        standing->worker = settlement->run.worker;
    if (settlement->run.started_at != 0)
        standing->started_at = settlement->run.started_at;
}

static bool settle_one(struct settling *settling, const struct settlement *settlement,
                       enum th_error_code *verdict_out, struct error *err)
{
    struct sqlite_standing standing;
    bool found, settled, repeated;

    if (!sqlite_plain_acks_one(settling->sqlite, settlement, settling->now, &settled, err))
        return false;
    if (settled)
        return true;
    if (!sqlite_standing_load_by_ref(settling->sqlite, settlement->ref, &settlement->job, &standing,
                                     &found, err))
        return false;
    *verdict_out = found ? judge(&standing, settlement, settling->now, &repeated) : TH_E_NOT_FOUND;
    if (*verdict_out != TH_OK || repeated)
        return true;
    take_run(&standing, settlement);
    return sqlite_tally_executions(settling->sqlite, standing.place.queue_id,
                                   settlement->kind == SETTLE_ACK, settlement->counts, err) &&
           carry_out(settling, &standing, settlement, err);
}

bool sqlite_settle_all(struct sqlite *sqlite, const struct settlement_list *finished, usec_t now,
                       enum th_error_code *verdicts_out, struct error *err)
{
    struct settling settling = {.sqlite = sqlite, .now = now};
    AUTO_FREE bool *settled = calloc(finished->count + 1, sizeof *settled);

    if (!settled)
        return error_no_memory(err);
    if (!sqlite_plain_acks_batches(sqlite, finished, now, settled, err))
        return false;
    for (size_t i = 0; i < finished->count; i++) {
        verdicts_out[i] = TH_OK;
        if (!settled[i] && !settle_one(&settling, &finished->items[i], &verdicts_out[i], err))
            return false;
    }
    return true;
}

/*
 * cron.c - the job of a schedule's next slot, its last slot, and its pause.
 */
#include "base/cleanup.h"
#include "job/cron_due.h"
#include "store/postgres/codec/spec.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/net/statement.h"
#include "store/postgres/ops/ops.h"

#include <stdio.h>

bool pg_cron_enqueue(struct store *store, const char *name, usec_t slot, const struct job *job,
                     usec_t now, bool *stored_out, struct error *err)
{
    CLEANUP(buffer_done) struct buffer specs = BUFFER(PG_SPEC_MAX);
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_CRON_ENQUEUE);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    if (!pg_spec_write_jobs(job, 1, &specs, err))
        return false;
    call.writes = call.rings = true;
    pg_statement_text(&call, name);
    pg_statement_int(&call, slot);
    pg_statement_int(&call, cron_horizon(now));
    pg_statement_text(&call, buffer_str(&specs));
    pg_statement_int(&call, now);
    if (!pg_statement_run(&call, &answer, err))
        return false;
    *stored_out = pg_answer_next(&answer) && pg_answer_int(&answer) != 0;
    return true;
}

static bool read_past(struct pg_answer *answer, usec_t now, struct cron_past *past_out,
                      struct error *err)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const usec_t slot = pg_answer_int(answer);

    past_out->last = slot <= cron_horizon(now) ? slot : 0;
    past_out->doubted = slot - past_out->last;
    past_out->paused_at = pg_answer_int(answer);
    const char *by = pg_answer_text(answer, &arena);
    snprintf(past_out->paused_by, sizeof past_out->paused_by, "%s", by ? by : "");
    return !arena.failed || error_no_memory(err);
}

bool pg_cron_last(struct store *store, const char *name, usec_t now, struct cron_past *past_out,
                  struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_CRON_LAST);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    pg_statement_text(&call, name);
    if (!pg_statement_run(&call, &answer, err))
        return false;
    return !pg_answer_next(&answer) || read_past(&answer, now, past_out, err);
}

bool pg_cron_mark(struct store *store, const char *name, usec_t slot, usec_t now, struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_CRON_MARK);

    call.writes = true;
    pg_statement_text(&call, name);
    pg_statement_int(&call, slot);
    pg_statement_int(&call, cron_horizon(now));
    return pg_statement_run(&call, NULL, err);
}

bool pg_cron_pause(struct store *store, const char *name, const char *by, usec_t mark, usec_t now,
                   struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_CRON_PAUSE);

    call.writes = true;
    pg_statement_text(&call, name);
    pg_statement_int(&call, mark);
    pg_statement_int(&call, now);
    pg_statement_text(&call, by);
    return pg_statement_run(&call, NULL, err);
}

bool pg_cron_resume(struct store *store, const char *name, usec_t mark, usec_t now,
                    struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_CRON_RESUME);

    call.writes = true;
    pg_statement_text(&call, name);
    pg_statement_int(&call, mark);
    pg_statement_int(&call, cron_horizon(now));
    return pg_statement_run(&call, NULL, err);
}

/*
 * cron.c - the last slot of each schedule, and its pause. enqueue.c stores the job of the
 * next.
 */
#include "base/cleanup.h"
#include "job/cron_due.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/ops/ops.h"
#include "store/postgres/net/statement.h"

#include <stdio.h>

static bool read_past(struct answer *answer, usec_t now, struct cron_past *past_out,
                      struct error *err)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const usec_t slot = answer_int(answer);

    past_out->last = slot <= cron_horizon(now) ? slot : 0;
    past_out->doubted = slot - past_out->last;
    past_out->paused_at = answer_int(answer);
    const char *by = answer_text(answer, &arena);
    snprintf(past_out->paused_by, sizeof past_out->paused_by, "%s", by != NULL ? by : "");
    return !arena.failed || error_no_memory(err);
}

bool postgres_cron_last(struct store *store, const char *name, usec_t now,
                        struct cron_past *past_out, struct error *err)
{
    CLEANUP(statement_done)
    struct statement call = statement_start(postgres_of(store), SQL_CRON_LAST);
    CLEANUP(answer_done) struct answer answer = {0};

    statement_text(&call, name);
    if (!statement_run(&call, &answer, err))
        return false;
    return !answer_next(&answer) || read_past(&answer, now, past_out, err);
}

bool postgres_cron_mark(struct store *store, const char *name, usec_t slot, usec_t now,
                        struct error *err)
{
    CLEANUP(statement_done)
    struct statement call = statement_start(postgres_of(store), SQL_CRON_MARK);

    call.writes = true;
    statement_text(&call, name);
    statement_int(&call, slot);
    statement_int(&call, cron_horizon(now));
    return statement_run(&call, NULL, err);
}

bool postgres_cron_pause(struct store *store, const char *name, const char *by, usec_t mark,
                         usec_t now, struct error *err)
{
    CLEANUP(statement_done)
    struct statement call = statement_start(postgres_of(store), SQL_CRON_PAUSE);

    call.writes = true;
    statement_text(&call, name);
    statement_int(&call, mark);
    statement_int(&call, now);
    statement_text(&call, by);
    return statement_run(&call, NULL, err);
}

bool postgres_cron_resume(struct store *store, const char *name, usec_t mark, usec_t now,
                          struct error *err)
{
    CLEANUP(statement_done)
    struct statement call = statement_start(postgres_of(store), SQL_CRON_RESUME);

    call.writes = true;
    statement_text(&call, name);
    statement_int(&call, mark);
    statement_int(&call, cron_horizon(now));
    return statement_run(&call, NULL, err);
}

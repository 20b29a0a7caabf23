/*
 * repair.c - what people do to jobs: cancel, run now, run again, delete; pause a queue, hide it.
 */
#include "base/cleanup.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/net/statement.h"
#include "store/postgres/ops/ops.h"

static struct pg_statement start_repair(struct store *store, enum sql_statement which,
                                        const struct uuid *ids, size_t count)
{
    struct postgres *postgres = pg_of(store);
    struct pg_statement call = pg_statement_start(postgres, which);

    pg_scan_starts_forget(&postgres->scan_starts);
    call.writes = true;
    pg_statement_array(&call, ARRAY_UUID);
    for (size_t i = 0; i < count; i++)
        pg_element_uuid(&call, &ids[i]);
    return call;
}

static bool run_repair(struct pg_statement *call, size_t count, enum th_error_code *verdicts_out,
                       struct error *err)
{
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    if (!pg_statement_run(call, &answer, err))
        return false;
    for (size_t i = 0; i < count && pg_answer_next(&answer); i++)
        verdicts_out[i] = (enum th_error_code)pg_answer_int(&answer);
    return true;
}

bool pg_cancel(struct store *store, const struct uuid *ids, size_t count, usec_t now,
               enum th_error_code *verdicts_out, struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = start_repair(store, SQL_CANCEL, ids, count);

    pg_statement_int(&call, now);
    return run_repair(&call, count, verdicts_out, err);
}

bool pg_run_now(struct store *store, const struct uuid *ids, size_t count, usec_t now,
                enum th_error_code *verdicts_out, struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = start_repair(store, SQL_RUN_NOW, ids, count);

    call.rings = true;
    pg_statement_int(&call, now);
    return run_repair(&call, count, verdicts_out, err);
}

bool pg_requeue(struct store *store, const struct uuid *ids, size_t count, usec_t run_at,
                usec_t now, enum th_error_code *verdicts_out, struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = start_repair(store, SQL_REQUEUE, ids, count);

    call.rings = true;
    pg_statement_int_or_null(&call, run_at);
    pg_statement_int(&call, now);
    return run_repair(&call, count, verdicts_out, err);
}

bool pg_remove(struct store *store, const struct uuid *ids, size_t count,
               enum th_error_code *verdicts_out, struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = start_repair(store, SQL_REMOVE, ids, count);

    return run_repair(&call, count, verdicts_out, err);
}

bool pg_set_paused(struct store *store, const char *queue, usec_t paused_at, const char *by,
                   struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_SET_PAUSED);

    call.writes = true;
    call.rings = paused_at == 0; /* its jobs may be reserved again */
    pg_statement_text(&call, queue);
    pg_statement_int_or_null(&call, paused_at);
    pg_statement_text(&call, by);
    return pg_statement_run(&call, NULL, err);
}

bool pg_hide_queue(struct store *store, const char *queue, enum th_error_code *verdict_out,
                   struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_HIDE_QUEUE);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    call.writes = true;
    pg_statement_text(&call, queue);
    if (!pg_statement_run(&call, &answer, err))
        return false;
    *verdict_out =
        pg_answer_next(&answer) ? (enum th_error_code)pg_answer_int(&answer) : TH_E_NOT_FOUND;
    return true;
}

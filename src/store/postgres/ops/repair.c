/*
 * repair.c - what people do to jobs: cancel, run now, run again, delete; pause a queue,
 * hide it.
 */
#include "base/cleanup.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/ops/ops.h"
#include "store/postgres/net/statement.h"

static struct statement start_repair(struct store *store, enum sql_statement which,
                                     const struct uuid *ids, size_t count)
{
    struct postgres *postgres = postgres_of(store);
    struct statement call = statement_start(postgres, which);

    heads_forget(&postgres->heads);
    call.writes = true;
    statement_array(&call, ARRAY_UUID);
    for (size_t i = 0; i < count; i++)
        element_uuid(&call, &ids[i]);
    return call;
}

static bool run_repair(struct statement *call, size_t count, enum th_error_code *verdicts_out,
                       struct error *err)
{
    CLEANUP(answer_done) struct answer answer = {0};

    if (!statement_run(call, &answer, err))
        return false;
    for (size_t i = 0; i < count && answer_next(&answer); i++)
        verdicts_out[i] = (enum th_error_code)answer_int(&answer);
    return true;
}

bool postgres_cancel(struct store *store, const struct uuid *ids, size_t count, usec_t now,
                     enum th_error_code *verdicts_out, struct error *err)
{
    CLEANUP(statement_done)
    struct statement call = start_repair(store, SQL_CANCEL, ids, count);

    statement_int(&call, now);
    return run_repair(&call, count, verdicts_out, err);
}

bool postgres_run_now(struct store *store, const struct uuid *ids, size_t count, usec_t now,
                      enum th_error_code *verdicts_out, struct error *err)
{
    CLEANUP(statement_done)
    struct statement call = start_repair(store, SQL_RUN_NOW, ids, count);

    call.rings = true;
    statement_int(&call, now);
    return run_repair(&call, count, verdicts_out, err);
}

bool postgres_requeue(struct store *store, const struct uuid *ids, size_t count, usec_t run_at,
                      usec_t now, enum th_error_code *verdicts_out, struct error *err)
{
    CLEANUP(statement_done)
    struct statement call = start_repair(store, SQL_REQUEUE, ids, count);

    call.rings = true;
    statement_int_or_null(&call, run_at);
    statement_int(&call, now);
    return run_repair(&call, count, verdicts_out, err);
}

bool postgres_remove(struct store *store, const struct uuid *ids, size_t count,
                     enum th_error_code *verdicts_out, struct error *err)
{
    CLEANUP(statement_done)
    struct statement call = start_repair(store, SQL_REMOVE, ids, count);

    return run_repair(&call, count, verdicts_out, err);
}

bool postgres_set_paused(struct store *store, const char *queue, usec_t paused_at, const char *by,
                         struct error *err)
{
    CLEANUP(statement_done)
    struct statement call = statement_start(postgres_of(store), SQL_SET_PAUSED);

    call.writes = true;
    call.rings = paused_at == 0; /* its jobs may be reserved again */
    statement_text(&call, queue);
    statement_int_or_null(&call, paused_at);
    statement_text(&call, by);
    return statement_run(&call, NULL, err);
}

bool postgres_hide_queue(struct store *store, const char *queue, enum th_error_code *verdict_out,
                         struct error *err)
{
    CLEANUP(statement_done)
    struct statement call = statement_start(postgres_of(store), SQL_HIDE_QUEUE);
    CLEANUP(answer_done) struct answer answer = {0};

    call.writes = true;
    statement_text(&call, queue);
    if (!statement_run(&call, &answer, err))
        return false;
    *verdict_out = answer_next(&answer) ? (enum th_error_code)answer_int(&answer) : TH_E_NOT_FOUND;
    return true;
}

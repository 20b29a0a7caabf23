/*
 * heartbeat.c - a pool says that it lives, and extends what it holds.
 */
#include "base/cleanup.h"
#include "store/postgres/codec/ref.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/net/statement.h"
#include "store/postgres/ops/ops.h"
#include "store/postgres/ops/queue_names.h"

#include <string.h>

static bool bind_queues(struct pg_statement *call, const struct heartbeat *heartbeat,
                        struct error *err)
{
    CLEANUP(pg_queue_names_done) struct pg_queue_names names = {0};

    for (size_t i = 0; i < heartbeat->lease_count; i++)
        if (pg_queue_names_add(&names, heartbeat->leases[i].queue) == 0)
            return error_no_memory(err);
    pg_queue_names_bind(&names, call);
    return true;
}

static struct bytes bytes_of(const char *text)
{
    struct bytes bytes = {(const unsigned char *)text, 0};

    if (text)
        bytes.length = strlen(text);
    return bytes;
}

static void bind_leases(struct pg_statement *call, const struct lease_beat *leases, size_t count)
{
    pg_statement_array(call, ARRAY_UUID);
    for (size_t i = 0; i < count; i++)
        pg_element_uuid(call, &leases[i].job);
    pg_statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < count; i++)
        pg_element_int(call, pg_ref_seq(leases[i].ref));
    pg_statement_array(call, ARRAY_BYTEA);
    for (size_t i = 0; i < count; i++)
        pg_element_token(call, &leases[i].token);
    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++)
        pg_element_int4_or_null(call, leases[i].worker);
}

/* What the executions have to tell. */
static void bind_news(struct pg_statement *call, const struct lease_beat *leases, size_t count)
{
    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++) {
        if (leases[i].progress_percent >= 0)
            pg_element_int4(call, leases[i].progress_percent);
        else
            pg_element_null(call);
    }
    pg_statement_array(call, ARRAY_BYTEA);
    for (size_t i = 0; i < count; i++)
        pg_element_bytes(call, bytes_of(leases[i].progress_text));
    pg_statement_array(call, ARRAY_BYTEA);
    for (size_t i = 0; i < count; i++)
        pg_element_bytes(call, leases[i].output);
}

/* The row of number 0 is about the pool itself. */
static void read_answers(struct pg_answer *answer, const struct heartbeat *heartbeat,
                         struct lease_answer *answers_out, bool *registered_out)
{
    const size_t count = heartbeat->lease_count;

    for (size_t i = 0; i < count; i++)
        answers_out[i] = (struct lease_answer){.verdict = TH_OK};
    *registered_out = false;
    while (pg_answer_next(answer)) {
        size_t n = (size_t)pg_answer_int(answer);
        enum th_error_code verdict = (enum th_error_code)pg_answer_int(answer);
        const bool cancels = pg_answer_int(answer) != 0, watched = pg_answer_int(answer) != 0;
        if (n == 0)
            *registered_out = verdict == TH_OK;
        if (n == 0 && heartbeat->watched_out)
            *heartbeat->watched_out = watched;
        else if (n > 0 && n <= count)
            answers_out[n - 1] = (struct lease_answer){verdict, cancels, watched};
    }
}

bool pg_heartbeat(struct store *store, const struct heartbeat *heartbeat, usec_t now,
                  struct lease_answer *answers_out, bool *registered_out, struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_HEARTBEAT);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    call.writes = true;
    pg_statement_text(&call, heartbeat->pool);
    pg_statement_bytes(&call, heartbeat->status);
    pg_statement_int(&call, now);
    pg_statement_int(&call, heartbeat->lease_for);
    if (!bind_queues(&call, heartbeat, err))
        return false;
    bind_leases(&call, heartbeat->leases, heartbeat->lease_count);
    bind_news(&call, heartbeat->leases, heartbeat->lease_count);
    pg_statement_bool(&call, store->is_clocked);
    if (!pg_statement_run(&call, &answer, err))
        return false;
    read_answers(&answer, heartbeat, answers_out, registered_out);
    return true;
}

/*
 * heartbeat.c - a pool says that it lives, and extends what it holds; who watches says so.
 */
#include "base/cleanup.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/ops/ops.h"
#include "store/postgres/ops/queue_names.h"
#include "store/postgres/net/statement.h"

#include <string.h>

static bool bind_queues(struct statement *call, const struct heartbeat *heartbeat,
                        struct error *err)
{
    CLEANUP(queue_names_done) struct queue_names names = {0};

    for (size_t i = 0; i < heartbeat->lease_count; i++)
        if (queue_names_add(&names, heartbeat->leases[i].queue) == 0)
            return error_no_memory(err);
    queue_names_bind(&names, call);
    return true;
}

static struct bytes bytes_of(const char *text)
{
    struct bytes bytes = {(const unsigned char *)text, 0};

    if (text != NULL)
        bytes.length = strlen(text);
    return bytes;
}

static void bind_leases(struct statement *call, const struct lease_beat *leases, size_t count)
{
    statement_array(call, ARRAY_UUID);
    for (size_t i = 0; i < count; i++)
        element_uuid(call, &leases[i].job);
    statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < count; i++)
        element_int(call, leases[i].ref);
    statement_array(call, ARRAY_BYTEA);
    for (size_t i = 0; i < count; i++)
        element_token(call, &leases[i].token);
    statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++)
        element_int4_or_null(call, leases[i].worker);
}

/* What the executions have to tell. */
static void bind_news(struct statement *call, const struct lease_beat *leases, size_t count)
{
    statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++) {
        if (leases[i].progress_percent >= 0)
            element_int4(call, leases[i].progress_percent);
        else
            element_null(call);
    }
    statement_array(call, ARRAY_BYTEA);
    for (size_t i = 0; i < count; i++)
        element_bytes(call, bytes_of(leases[i].progress_text));
    statement_array(call, ARRAY_BYTEA);
    for (size_t i = 0; i < count; i++)
        element_bytes(call, leases[i].output);
}

/* The row of number 0 is about the pool itself. */
static void read_answers(struct answer *answer, const struct heartbeat *heartbeat,
                         struct lease_answer *answers_out, bool *registered_out)
{
    const size_t count = heartbeat->lease_count;

    for (size_t i = 0; i < count; i++)
        answers_out[i] = (struct lease_answer){.verdict = TH_OK};
    *registered_out = false;
    while (answer_next(answer)) {
        size_t n = (size_t)answer_int(answer);
        enum th_error_code verdict = (enum th_error_code)answer_int(answer);
        const bool cancels = answer_int(answer) != 0, watched = answer_int(answer) != 0;
        if (n == 0)
            *registered_out = verdict == TH_OK;
        if (n == 0 && heartbeat->watched_out != NULL)
            *heartbeat->watched_out = watched;
        else if (n > 0 && n <= count)
            answers_out[n - 1] = (struct lease_answer){verdict, cancels, watched};
    }
}

bool postgres_heartbeat(struct store *store, const struct heartbeat *heartbeat, usec_t now,
                        struct lease_answer *answers_out, bool *registered_out, struct error *err)
{
    CLEANUP(statement_done)
    struct statement call = statement_start(postgres_of(store), SQL_HEARTBEAT);
    CLEANUP(answer_done) struct answer answer = {0};

    call.writes = true;
    statement_text(&call, heartbeat->pool);
    statement_bytes(&call, heartbeat->status);
    statement_int(&call, now);
    statement_int(&call, heartbeat->lease_for);
    if (!bind_queues(&call, heartbeat, err))
        return false;
    bind_leases(&call, heartbeat->leases, heartbeat->lease_count);
    bind_news(&call, heartbeat->leases, heartbeat->lease_count);
    statement_bool(&call, store->is_clocked);
    if (!statement_run(&call, &answer, err))
        return false;
    read_answers(&answer, heartbeat, answers_out, registered_out);
    return true;
}

bool postgres_watch(struct store *store, const struct watch *watch, usec_t until, usec_t now,
                    struct error *err)
{
    CLEANUP(statement_done) struct statement call = statement_start(postgres_of(store), SQL_WATCH);
    static const struct uuid pools;

    call.writes = true;
    statement_array(&call, ARRAY_UUID);
    if (watch->pools)
        element_uuid(&call, &pools);
    for (size_t i = 0; i < watch->count; i++)
        element_uuid(&call, &watch->jobs[i].id);
    statement_int(&call, until);
    statement_int(&call, now);
    return statement_run(&call, NULL, err);
}

/*
 * enqueue.c - jobs come in: plain ones as arrays, those with a key of either kind one by one.
 *
 * A batch goes one way or the other as a whole, so that its jobs stay in order. A user who may only
 * enqueue goes by a function that checks everything again.
 */
#include "base/cleanup.h"
#include "job/cron_due.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/ops/ops.h"
#include "store/postgres/ops/queue_names.h"
#include "store/postgres/codec/spec.h"
#include "store/postgres/net/statement.h"

#define SPECS_MAX ((size_t)1 << 30)

/* ---- one by one ---- */

static bool write_specs(const struct job *jobs, size_t count, struct buffer *specs,
                        struct error *err)
{
    struct json_writer json = {.out = specs};

    json_write_open(&json, NULL, '[');
    for (size_t i = 0; i < count; i++)
        spec_add_job(&json, NULL, &jobs[i]);
    json_write_close(&json, ']');
    return buffer_ok(specs, err);
}

static bool enqueue_items(struct postgres *postgres, const struct job *jobs, size_t count,
                          usec_t now, struct enqueued *enqueued_out, struct error *err)
{
    const bool checked = postgres->only_offers;
    CLEANUP(buffer_done) struct buffer specs = BUFFER(SPECS_MAX);
    CLEANUP(statement_done)
    struct statement call =
        statement_start(postgres, checked ? SQL_ENQUEUE_CHECKED : SQL_ENQUEUE_ITEMS);
    CLEANUP(answer_done) struct answer answer = {0};

    if (!write_specs(jobs, count, &specs, err))
        return false;
    call.writes = true;
    call.rings = !checked; /* which has its own clock and bell */
    statement_text(&call, buffer_str(&specs));
    if (!checked)
        statement_int(&call, now);
    if (!statement_run(&call, &answer, err))
        return false;
    for (size_t i = 0; i < count && answer_next(&answer); i++) {
        enqueued_out[i].id = answer_uuid(&answer);
        enqueued_out[i].state = (enum job_state)answer_int(&answer);
        enqueued_out[i].existed = answer_int(&answer) != 0;
        enqueued_out[i].updated = answer_int(&answer) != 0;
    }
    return true;
}

/* ---- as arrays ---- */

static bool bind_queues(struct statement *call, const struct job *jobs, size_t count, int *numbers,
                        struct error *err)
{
    CLEANUP(queue_names_done) struct queue_names names = {0};

    for (size_t i = 0; i < count; i++) {
        numbers[i] = queue_names_add(&names, jobs[i].queue);
        if (numbers[i] == 0)
            return error_no_memory(err);
    }
    queue_names_bind(&names, call);
    return true;
}

static void bind_what_it_is(struct statement *call, const struct job *jobs, size_t count,
                            const int *numbers)
{
    statement_array(call, ARRAY_UUID);
    for (size_t i = 0; i < count; i++)
        element_uuid(call, &jobs[i].id);
    statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++)
        element_int4(call, numbers[i]);
    statement_array(call, ARRAY_TEXT);
    for (size_t i = 0; i < count; i++)
        element_text(call, jobs[i].type);
    statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++)
        element_int4(call, (int)jobs[i].encoding);
    statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++)
        element_int4(call, jobs[i].priority);
}

static void bind_limits(struct statement *call, const struct job *jobs, size_t count)
{
    statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < count; i++)
        element_int_or_null(call, jobs[i].run_at);
    statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < count; i++)
        element_int_or_null(call, jobs[i].timeout);
    statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++)
        element_int4_or_null(call, jobs[i].max_attempts);
    statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++)
        element_int4_or_null(call, jobs[i].max_stalls);
    statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++)
        element_int4(call, jobs[i].attempts);
    statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++)
        element_int4(call, jobs[i].stalls);
}

/* No bytes are bytes too: without an address they would be NULL, which the table refuses. */
static void bind_payloads(struct statement *call, const struct job *jobs, size_t count)
{
    static const unsigned char nothing[1];

    statement_array(call, ARRAY_BYTEA);
    for (size_t i = 0; i < count; i++)
        element_bytes(call,
                      jobs[i].payload.data != NULL ? jobs[i].payload : (struct bytes){nothing, 0});
}

static bool bind_jobs(struct statement *call, const struct job *jobs, size_t count,
                      struct error *err)
{
    AUTO_FREE int *numbers = calloc(count, sizeof(*numbers));

    if (numbers == NULL)
        return error_no_memory(err);
    if (!bind_queues(call, jobs, count, numbers, err))
        return false;
    bind_what_it_is(call, jobs, count, numbers);
    bind_limits(call, jobs, count);
    bind_payloads(call, jobs, count);
    return true;
}

static bool any_is_due(const struct job *jobs, size_t count, usec_t now)
{
    for (size_t i = 0; i < count; i++)
        if (jobs[i].run_at <= now)
            return true;
    return false;
}

static bool enqueue_plain(struct postgres *postgres, const struct job *jobs, size_t count,
                          usec_t now, struct enqueued *enqueued_out, struct error *err)
{
    CLEANUP(statement_done) struct statement call = statement_start(postgres, SQL_ENQUEUE_PLAIN);
    CLEANUP(answer_done) struct answer answer = {0};

    call.writes = true;
    call.rings = any_is_due(jobs, count, now);
    statement_int(&call, now);
    if (!bind_jobs(&call, jobs, count, err) || !statement_run(&call, &answer, err))
        return false;
    for (size_t i = 0; i < count; i++)
        enqueued_out[i] = (struct enqueued){
            .id = jobs[i].id,
            .state = job_state_when_due(jobs[i].run_at != 0 ? jobs[i].run_at : now, now),
        };
    while (answer_next(&answer)) {
        size_t n = (size_t)answer_int(&answer) - 1;
        if (n >= count)
            continue;
        enqueued_out[n].existed = true;
        enqueued_out[n].state = (enum job_state)answer_int(&answer);
    }
    return true;
}

static bool all_are_plain(const struct job *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!spec_is_plain_job(&jobs[i]))
            return false;
    return true;
}

bool postgres_enqueue(struct store *store, const struct job *jobs, size_t count, usec_t now,
                      struct enqueued *enqueued_out, struct error *err)
{
    struct postgres *postgres = postgres_of(store);

    heads_forget(&postgres->heads);
    return !postgres->only_offers && all_are_plain(jobs, count)
               ? enqueue_plain(postgres, jobs, count, now, enqueued_out, err)
               : enqueue_items(postgres, jobs, count, now, enqueued_out, err);
}

bool postgres_cron_enqueue(struct store *store, const char *name, usec_t slot,
                           const struct job *job, usec_t now, bool *stored_out, struct error *err)
{
    CLEANUP(buffer_done) struct buffer specs = BUFFER(SPECS_MAX);
    CLEANUP(statement_done)
    struct statement call = statement_start(postgres_of(store), SQL_CRON_ENQUEUE);
    CLEANUP(answer_done) struct answer answer = {0};

    if (!write_specs(job, 1, &specs, err))
        return false;
    call.writes = call.rings = true;
    statement_text(&call, name);
    statement_int(&call, slot);
    statement_int(&call, cron_horizon(now));
    statement_text(&call, buffer_str(&specs));
    statement_int(&call, now);
    if (!statement_run(&call, &answer, err))
        return false;
    *stored_out = answer_next(&answer) && answer_int(&answer) != 0;
    return true;
}

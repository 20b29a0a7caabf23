/*
 * enqueue.c - jobs come in: plain ones as arrays, those with a key of either kind one by one.
 *
 * A batch goes one way or the other as a whole, so that its jobs stay in order. A user who may only
 * enqueue goes by a function that checks everything again.
 */
#include "base/cleanup.h"
#include "store/postgres/codec/spec.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/net/statement.h"
#include "store/postgres/ops/ops.h"
#include "store/postgres/ops/queue_names.h"

/* ---- one by one ---- */

static bool enqueue_items(struct postgres *postgres, const struct job *jobs, size_t count,
                          usec_t now, struct enqueued *enqueued_out, struct error *err)
{
    const bool checked = postgres->only_offers;
    CLEANUP(buffer_done) struct buffer specs = BUFFER(PG_SPEC_MAX);
    CLEANUP(pg_statement_done)
    struct pg_statement call =
        pg_statement_start(postgres, checked ? SQL_ENQUEUE_CHECKED : SQL_ENQUEUE_ITEMS);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    if (!pg_spec_write_jobs(jobs, count, &specs, err))
        return false;
    call.writes = true;
    call.rings = !checked; /* which has its own clock and bell */
    pg_statement_text(&call, buffer_str(&specs));
    if (!checked)
        pg_statement_int(&call, now);
    if (!pg_statement_run(&call, &answer, err))
        return false;
    for (size_t i = 0; i < count && pg_answer_next(&answer); i++) {
        enqueued_out[i].id = pg_answer_uuid(&answer);
        enqueued_out[i].state = (enum job_state)pg_answer_int(&answer);
        enqueued_out[i].existed = pg_answer_int(&answer) != 0;
        enqueued_out[i].updated = pg_answer_int(&answer) != 0;
    }
    return true;
}

/* ---- as arrays ---- */

static bool bind_queues(struct pg_statement *call, const struct job *jobs, size_t count,
                        int *numbers, struct error *err)
{
    CLEANUP(pg_queue_names_done) struct pg_queue_names names = {0};

    for (size_t i = 0; i < count; i++) {
        numbers[i] = pg_queue_names_add(&names, jobs[i].queue);
        if (numbers[i] == 0)
            return error_no_memory(err);
    }
    pg_queue_names_bind(&names, call);
    return true;
}

static void bind_what_it_is(struct pg_statement *call, const struct job *jobs, size_t count,
                            const int *numbers)
{
    pg_statement_array(call, ARRAY_UUID);
    for (size_t i = 0; i < count; i++)
        pg_element_uuid(call, &jobs[i].id);
    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++)
        pg_element_int4(call, numbers[i]);
    pg_statement_array(call, ARRAY_TEXT);
    for (size_t i = 0; i < count; i++)
        pg_element_text(call, jobs[i].type);
    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++)
        pg_element_int4(call, (int)jobs[i].encoding);
    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++)
        pg_element_int4(call, jobs[i].priority);
}

static void bind_limits(struct pg_statement *call, const struct job *jobs, size_t count)
{
    pg_statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < count; i++)
        pg_element_int_or_null(call, jobs[i].run_at);
    pg_statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < count; i++)
        pg_element_int_or_null(call, jobs[i].timeout);
    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++)
        pg_element_int4_or_null(call, jobs[i].max_attempts);
    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++)
        pg_element_int4_or_null(call, jobs[i].max_stalls);
    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++)
        pg_element_int4(call, jobs[i].attempts);
    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++)
        pg_element_int4(call, jobs[i].stalls);
}

/* No bytes are bytes too: without an address they would be NULL, which the table refuses. */
static void bind_payloads(struct pg_statement *call, const struct job *jobs, size_t count)
{
    static const unsigned char nothing[1];

    pg_statement_array(call, ARRAY_BYTEA);
    for (size_t i = 0; i < count; i++)
        pg_element_bytes(call, jobs[i].payload.data ? jobs[i].payload : (struct bytes){nothing, 0});
}

static bool bind_jobs(struct pg_statement *call, const struct job *jobs, size_t count,
                      struct error *err)
{
    AUTO_FREE int *numbers = calloc(count, sizeof *numbers);

    if (!numbers)
        return error_no_memory(err);
    if (!bind_queues(call, jobs, count, numbers, err))
        return false;
    bind_what_it_is(call, jobs, count, numbers);
    bind_limits(call, jobs, count);
    bind_payloads(call, jobs, count);
    return true;
}

static bool any_is_due_soon(const struct job *jobs, size_t count, usec_t now)
{
    for (size_t i = 0; i < count; i++)
        if (job_state_is_due_soon(jobs[i].run_at, now))
            return true;
    return false;
}

static bool enqueue_plain(struct postgres *postgres, const struct job *jobs, size_t count,
                          usec_t now, struct enqueued *enqueued_out, struct error *err)
{
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(postgres, SQL_ENQUEUE_PLAIN);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    call.writes = true;
    call.rings = any_is_due_soon(jobs, count, now);
    pg_statement_int(&call, now);
    if (!bind_jobs(&call, jobs, count, err) || !pg_statement_run(&call, &answer, err))
        return false;
    for (size_t i = 0; i < count; i++)
        enqueued_out[i] = (struct enqueued){
            .id = jobs[i].id,
            .state = job_state_when_due(jobs[i].run_at != 0 ? jobs[i].run_at : now, now),
        };
    while (pg_answer_next(&answer)) {
        size_t n = (size_t)pg_answer_int(&answer) - 1;
        if (n >= count)
            continue;
        enqueued_out[n].existed = true;
        enqueued_out[n].state = (enum job_state)pg_answer_int(&answer);
    }
    return true;
}

static bool all_are_plain(const struct job *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!pg_spec_is_plain_job(&jobs[i]))
            return false;
    return true;
}

bool pg_enqueue(struct store *store, const struct job *jobs, size_t count, usec_t now,
                struct enqueued *enqueued_out, struct error *err)
{
    struct postgres *postgres = pg_of(store);

    pg_scan_starts_forget(&postgres->scan_starts);
    return !postgres->only_offers && all_are_plain(jobs, count)
               ? enqueue_plain(postgres, jobs, count, now, enqueued_out, err)
               : enqueue_items(postgres, jobs, count, now, enqueued_out, err);
}

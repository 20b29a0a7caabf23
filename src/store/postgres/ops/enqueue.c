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

#include <assert.h>
#include <stddef.h>
#include <string.h>

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

/* A number that most jobs have as usual, and where it is in a job: an int, or a usec_t for int8. */
struct column {
    size_t member;
    enum array_type type;
    int usual;
};

/* In the order of the parameters. */
static const struct column columns[] = {
    {offsetof(struct job, encoding), ARRAY_INT4, JOB_JSON},
    {offsetof(struct job, priority), ARRAY_INT4, JOB_PRIORITY_DEFAULT},
    {offsetof(struct job, max_attempts), ARRAY_INT4, 0},
    {offsetof(struct job, max_stalls), ARRAY_INT4, 0},
    {offsetof(struct job, attempts), ARRAY_INT4, 0},
    {offsetof(struct job, stalls), ARRAY_INT4, 0},
    {offsetof(struct job, run_at), ARRAY_INT8, 0},
    {offsetof(struct job, timeout), ARRAY_INT8, 0},
};

static_assert(sizeof(enum job_encoding) == sizeof(int), "it is read as one");

static int64_t number_of(const struct job *job, const struct column *column)
{
    const char *place = (const char *)job + column->member;
    usec_t wide;
    int narrow;

    if (column->type == ARRAY_INT8) {
        memcpy(&wide, place, sizeof wide);
        return wide;
    }
    memcpy(&narrow, place, sizeof narrow);
    return narrow;
}

static bool are_usual(const struct job *jobs, size_t count, const struct column *column)
{
    for (size_t i = 0; i < count; i++)
        if (number_of(&jobs[i], column) != column->usual)
            return false;
    return true;
}

/* What is as usual is left out: the element, and with none left the whole array. */
static void bind_column(struct pg_statement *call, const struct job *jobs, size_t count,
                        const struct column *column)
{
    if (are_usual(jobs, count, column)) {
        pg_statement_null(call);
        return;
    }
    pg_statement_array(call, column->type);
    for (size_t i = 0; i < count; i++) {
        const int64_t number = number_of(&jobs[i], column);

        if (number == column->usual)
            pg_element_null(call);
        else if (column->type == ARRAY_INT8)
            pg_element_int(call, number);
        else
            pg_element_int4(call, (int)number);
    }
}

/* The queues by name, and of each job the number of its own unless there is but one. */
static bool bind_queues(struct pg_statement *call, const struct job *jobs, size_t count,
                        struct error *err)
{
    CLEANUP(pg_queue_names_done) struct pg_queue_names names = {0};

    for (size_t i = 0; i < count; i++)
        if (pg_queue_names_add(&names, jobs[i].queue) == 0)
            return error_no_memory(err);
    pg_queue_names_bind(&names, call);
    if (names.count == 1) {
        pg_statement_null(call);
        return true;
    }
    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++)
        pg_element_int4(call, pg_queue_names_add(&names, jobs[i].queue));
    return true;
}

/* No bytes are bytes too: without an address they would be NULL, which the table refuses. */
static void bind_payloads(struct pg_statement *call, const struct job *jobs, size_t count)
{
    static const unsigned char nothing[1];

    pg_statement_array(call, ARRAY_BYTEA);
    for (size_t i = 0; i < count; i++)
        pg_element_bytes(call, jobs[i].payload.data ? jobs[i].payload : (struct bytes){nothing, 0});
}

static bool any_has_headers(const struct job *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (jobs[i].headers)
            return true;
    return false;
}

static void bind_headers(struct pg_statement *call, const struct job *jobs, size_t count)
{
    if (!any_has_headers(jobs, count)) {
        pg_statement_null(call);
        return;
    }
    pg_statement_array(call, ARRAY_BYTEA);
    for (size_t i = 0; i < count; i++) {
        const char *headers = jobs[i].headers;

        if (headers)
            pg_element_bytes(call, (struct bytes){(const unsigned char *)headers, strlen(headers)});
        else
            pg_element_null(call);
    }
}

static bool bind_jobs(struct pg_statement *call, const struct job *jobs, size_t count,
                      struct error *err)
{
    if (!bind_queues(call, jobs, count, err))
        return false;
    pg_statement_array(call, ARRAY_UUID);
    for (size_t i = 0; i < count; i++)
        pg_element_uuid(call, &jobs[i].id);
    pg_statement_array(call, ARRAY_TEXT);
    for (size_t i = 0; i < count; i++)
        pg_element_text(call, jobs[i].type);
    bind_payloads(call, jobs, count);
    for (size_t i = 0; i < COUNT_OF(columns); i++)
        bind_column(call, jobs, count, &columns[i]);
    bind_headers(call, jobs, count);
    return true;
}

static bool any_id_is_given(const struct job *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (jobs[i].id_is_given)
            return true;
    return false;
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
    pg_statement_bool(&call, any_id_is_given(jobs, count));
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

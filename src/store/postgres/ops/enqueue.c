/*
 * enqueue.c - jobs come in: plain ones as arrays, those with a key of either kind one by one.
 *
 * What comes together goes one way or the other as a whole, so that its jobs stay in order: plain
 * groups as one, because nothing can refuse one of them. A user who may only enqueue goes by a
 * function that checks everything again, and takes one group.
 */
#include "base/cleanup.h"
#include "store/postgres/codec/spec.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/net/statement.h"
#include "store/postgres/ops/ops.h"
#include "store/postgres/ops/queue_names.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- one by one ---- */

static void read_enqueued(struct pg_answer *answer, struct enqueued *enqueued_out)
{
    enqueued_out->id = pg_answer_uuid(answer);
    enqueued_out->state = (enum job_state)pg_answer_int(answer);
    enqueued_out->existed = pg_answer_int(answer) != 0;
    enqueued_out->updated = pg_answer_int(answer) != 0;
}

static void bind_specs(struct pg_statement *call, struct enqueue_group *const *groups, size_t count,
                       struct buffer *specs)
{
    struct json_writer json = {.out = specs};

    json_write_open(&json, NULL, '[');
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < groups[i]->count; j++)
            pg_spec_add_job(&json, NULL, &groups[i]->jobs[j]);
    json_write_close(&json, ']');
    pg_statement_text(call, buffer_str(specs));
}

/* The words of what is refused are its last column. */
static bool read_group(struct pg_answer *answer, struct enqueue_group *group, struct error *err)
{
    CLEANUP(arena_done) struct arena arena = {0};

    for (size_t i = 0; i < group->count; i++) {
        if (!pg_answer_next(answer))
            return error_set(err, TH_E_INTERNAL, "postgres: enqueue answered too little");
        const int64_t refused = pg_answer_int(answer);
        read_enqueued(answer, &group->enqueued_out[i]);
        if (refused == 0)
            continue;
        const char *words = pg_answer_text(answer, &arena);
        error_set(group->err, TH_E_CONFLICT, "%s", words ? words : "its key is taken");
        enqueue_group_refuse(group, (size_t)refused - 1);
        return true;
    }
    return true;
}

static bool enqueue_items(struct postgres *postgres, struct enqueue_group *const *groups,
                          size_t count, usec_t now, struct error *err)
{
    CLEANUP(buffer_done) struct buffer specs = BUFFER(PG_SPEC_MAX);
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(postgres, SQL_ENQUEUE_GROUPS);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    call.writes = call.rings = true;
    bind_specs(&call, groups, count, &specs);
    pg_statement_array(&call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++)
        pg_element_int4(&call, (int)groups[i]->count);
    pg_statement_int(&call, now);
    if (!buffer_ok(&specs, err) || !pg_statement_run(&call, &answer, err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!read_group(&answer, groups[i], err))
            return false;
    return true;
}

/* The server has its own clock and bell, and its words say which job they are about. */
static bool enqueue_checked(struct store *store, struct enqueue_group *group, usec_t now,
                            size_t *at_fault_out, struct error *err)
{
    CLEANUP(buffer_done) struct buffer specs = BUFFER(PG_SPEC_MAX);
    CLEANUP(pg_statement_done)
    struct pg_statement call = pg_statement_start(pg_of(store), SQL_ENQUEUE_CHECKED);
    CLEANUP(pg_answer_done) struct pg_answer answer = {0};

    (void)now;
    *at_fault_out = group->count;
    call.writes = true;
    bind_specs(&call, &group, 1, &specs);
    if (!buffer_ok(&specs, err) || !pg_statement_run(&call, &answer, err))
        return false;
    for (size_t i = 0; i < group->count && pg_answer_next(&answer); i++)
        read_enqueued(&answer, &group->enqueued_out[i]);
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

static size_t count_jobs(struct enqueue_group *const *groups, size_t count)
{
    size_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += groups[i]->count;
    return sum;
}

/* All of them as one. */
static bool enqueue_joined(struct postgres *postgres, struct enqueue_group *const *groups,
                           size_t count, usec_t now, struct error *err)
{
    const size_t sum = count_jobs(groups, count);
    AUTO_FREE struct job *jobs = calloc(sum, sizeof *jobs);
    AUTO_FREE struct enqueued *enqueued = calloc(sum, sizeof *enqueued);
    size_t at = 0;

    if (!jobs || !enqueued)
        return error_no_memory(err);
    for (size_t i = 0; i < count; at += groups[i++]->count)
        memcpy(jobs + at, groups[i]->jobs, groups[i]->count * sizeof *jobs);
    if (!enqueue_plain(postgres, jobs, sum, now, enqueued, err))
        return false;
    at = 0;
    for (size_t i = 0; i < count; at += groups[i++]->count)
        memcpy(groups[i]->enqueued_out, enqueued + at, groups[i]->count * sizeof *enqueued);
    return true;
}

static bool all_are_plain(struct enqueue_group *const *groups, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < groups[i]->count; j++)
            if (!pg_spec_is_plain_job(&groups[i]->jobs[j]))
                return false;
    return true;
}

bool pg_enqueue(struct store *store, struct enqueue_group *const *groups, size_t count, usec_t now,
                struct error *err)
{
    struct postgres *postgres = pg_of(store);

    pg_scan_starts_forget(&postgres->scan_starts);
    if (postgres->only_offers) {
        enqueue_groups_singly(store, groups, count, now, enqueue_checked);
        return true;
    }
    if (!all_are_plain(groups, count))
        return enqueue_items(postgres, groups, count, now, err);
    if (count > 1)
        return enqueue_joined(postgres, groups, count, now, err);
    return enqueue_plain(postgres, groups[0]->jobs, groups[0]->count, now, groups[0]->enqueued_out,
                         err);
}

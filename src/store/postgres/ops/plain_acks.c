/*
 * plain_acks.c - the acks of an exchange that are settled together.
 */
#include "store/postgres/ops/plain_acks.h"

#include <stdlib.h>
#include <string.h>

static bool is_plain(const struct settlement *settlement)
{
    return settlement->kind == SETTLE_ACK && settlement->ref != 0 && !settlement->counts &&
           !settlement_tells(settlement);
}

static bool same_group(const struct settlement *a, const struct settlement *b)
{
    return a->forget == b->forget && (a->queue == b->queue || strcmp(a->queue, b->queue) == 0);
}

/* Within a group by ref: everybody locks leases in that order. */
static int compare(const void *a, const void *b)
{
    const struct settlement *first = *(const struct settlement *const *)a;
    const struct settlement *second = *(const struct settlement *const *)b;

    if (!same_group(first, second)) {
        int order = strcmp(first->queue, second->queue);
        return order != 0 ? order : first->forget - second->forget;
    }
    return (first->ref > second->ref) - (first->ref < second->ref);
}

static bool has_twice(const struct pg_plain_acks *acks)
{
    for (size_t i = 1; i < acks->count; i++)
        if (acks->items[i]->ref == acks->items[i - 1]->ref)
            return true;
    return false;
}

bool pg_plain_acks_take(struct pg_plain_acks *acks, const struct settlement_list *finished,
                        struct error *err)
{
    acks->first = finished->items;
    acks->items = calloc(finished->count + 1, sizeof(struct settlement *));
    if (acks->items == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < finished->count; i++)
        if (is_plain(&finished->items[i]))
            acks->items[acks->count++] = &finished->items[i];
    qsort(acks->items, acks->count, sizeof(struct settlement *), compare);
    if (has_twice(acks))
        acks->count = 0;
    return true;
}

bool pg_plain_acks_have(const struct pg_plain_acks *acks, const struct settlement *settlement)
{
    return acks->count > 0 && is_plain(settlement);
}

/* Where each group begins, and what its members have in common. */
static bool bind_groups(const struct pg_plain_acks *acks, struct pg_queue_names *queues,
                        struct pg_statement *call, struct error *err)
{
    const struct settlement **items = acks->items;

    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < acks->count; i++)
        if (i == 0 || !same_group(items[i - 1], items[i]))
            pg_element_int4(call, (int)i + 1);
    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < acks->count; i++) {
        if (i > 0 && same_group(items[i - 1], items[i]))
            continue;
        int number = pg_queue_names_add(queues, items[i]->queue);
        if (number == 0)
            return error_no_memory(err);
        pg_element_int4(call, number);
    }
    pg_statement_array(call, ARRAY_BOOL);
    for (size_t i = 0; i < acks->count; i++)
        if (i == 0 || !same_group(items[i - 1], items[i]))
            pg_element_bool(call, items[i]->forget);
    return true;
}

static void bind_leases(const struct pg_plain_acks *acks, struct pg_statement *call)
{
    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < acks->count; i++)
        pg_element_int4(call, (int)(acks->items[i] - acks->first) + 1);
    pg_statement_array(call, ARRAY_UUID);
    for (size_t i = 0; i < acks->count; i++)
        pg_element_uuid(call, &acks->items[i]->job);
    pg_statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < acks->count; i++)
        pg_element_int(call, acks->items[i]->ref);
    pg_statement_array(call, ARRAY_BYTEA);
    for (size_t i = 0; i < acks->count; i++)
        pg_element_token(call, &acks->items[i]->token);
}

/* A number of the run, or nothing when the execution never happened. */
static void bind_usage(const struct pg_plain_acks *acks, struct pg_statement *call, size_t member)
{
    pg_statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < acks->count; i++) {
        int64_t value;
        memcpy(&value, (const char *)&acks->items[i]->run + member, sizeof(value));
        if (acks->items[i]->has_run)
            pg_element_int(call, value);
        else
            pg_element_null(call);
    }
}

static void bind_exit_codes(const struct pg_plain_acks *acks, struct pg_statement *call)
{
    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < acks->count; i++) {
        const struct settlement *ack = acks->items[i];
        if (ack->has_run && ack->run.exit_code != JOB_NO_EXIT_CODE)
            pg_element_int4(call, ack->run.exit_code);
        else
            pg_element_null(call);
    }
}

static void bind_runs(const struct pg_plain_acks *acks, struct pg_statement *call)
{
    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < acks->count; i++)
        pg_element_int4_or_null(call, acks->items[i]->has_run ? acks->items[i]->run.worker : 0);
    pg_statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < acks->count; i++)
        pg_element_int_or_null(call, acks->items[i]->has_run ? acks->items[i]->run.started_at : 0);
    bind_usage(acks, call, offsetof(struct job_run, wall));
    bind_usage(acks, call, offsetof(struct job_run, user));
    bind_usage(acks, call, offsetof(struct job_run, system));
    bind_usage(acks, call, offsetof(struct job_run, max_rss_kb));
    bind_exit_codes(acks, call);
}

bool pg_plain_acks_bind(const struct pg_plain_acks *acks, struct pg_queue_names *queues,
                        struct pg_statement *call, struct error *err)
{
    if (!bind_groups(acks, queues, call, err))
        return false;
    bind_leases(acks, call);
    bind_runs(acks, call);
    return true;
}

void pg_plain_acks_done(struct pg_plain_acks *acks)
{
    free(acks->items);
    *acks = (struct pg_plain_acks){0};
}

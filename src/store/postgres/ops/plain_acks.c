/*
 * plain_acks.c - the acks of an exchange that are settled together.
 */
#include "store/postgres/ops/plain_acks.h"

#include "store/postgres/codec/ref.h"
#include "store/postgres/protocol.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of one group of a batch lie no further apart. More than an exchange reserves, but for
 * tokens that somebody made up. */
#define GROUP_SPAN ((size_t)1 << 16)

static_assert(sizeof(struct batch_token) == BATCH_TOKEN_SIZE, "a token begins with its batch's");

static bool is_plain(const struct settlement *settlement)
{
    return settlement->kind == SETTLE_ACK && settlement->ref != 0 && !settlement->counts &&
           !settlement_tells(settlement);
}

static bool is_batched(const struct settlement *ack)
{
    return pg_ref_is_batched(ack->ref) && lease_token_index(&ack->token) <= INT32_MAX;
}

static int64_t seq_of(const struct settlement *ack)
{
    return pg_ref_seq(ack->ref);
}

static int compare_seqs(const void *a, const void *b)
{
    const struct settlement *first = *(const struct settlement *const *)a;
    const struct settlement *second = *(const struct settlement *const *)b;

    return (seq_of(first) > seq_of(second)) - (seq_of(first) < seq_of(second));
}

/* 0: they may be in one group. */
static int compare_groups(const struct settlement *first, const struct settlement *second)
{
    int order = first->queue == second->queue ? 0 : strcmp(first->queue, second->queue);

    if (order == 0)
        order = first->forget - second->forget;
    if (order == 0)
        order = is_batched(first) - is_batched(second);
    if (order == 0 && is_batched(first))
        order = lease_token_compare_batches(&first->token, &second->token);
    return order;
}

/* Within a group by number, or by seq: everybody locks leases in that order. */
static int compare(const void *a, const void *b)
{
    const struct settlement *first = *(const struct settlement *const *)a;
    const struct settlement *second = *(const struct settlement *const *)b;
    const int order = compare_groups(first, second);

    if (order != 0)
        return order;
    if (!is_batched(first))
        return compare_seqs(a, b);
    return (lease_token_index(&first->token) > lease_token_index(&second->token)) -
           (lease_token_index(&first->token) < lease_token_index(&second->token));
}

static bool has_twice(const struct pg_plain_acks *acks)
{
    for (size_t i = 1; i < acks->count; i++)
        if (seq_of(acks->items[i]) == seq_of(acks->items[i - 1]))
            return true;
    return false;
}

static bool belongs(const struct pg_plain_acks *acks, const struct pg_ack_group *group,
                    const struct settlement *ack)
{
    const struct settlement *first = acks->items[group->first];

    return compare_groups(first, ack) == 0 &&
           (!is_batched(ack) ||
            lease_token_index(&ack->token) - lease_token_index(&first->token) < GROUP_SPAN);
}

static void make_groups(struct pg_plain_acks *acks)
{
    struct pg_ack_group *group = NULL;

    for (size_t i = 0; i < acks->count; i++) {
        if (!group || !belongs(acks, group, acks->items[i])) {
            group = &acks->groups[acks->group_count++];
            *group = (struct pg_ack_group){.first = i};
        }
        group->count++;
    }
}

bool pg_plain_acks_take(struct pg_plain_acks *acks, const struct settlement_list *finished,
                        struct error *err)
{
    acks->first = finished->items;
    acks->items = calloc(finished->count + 1, sizeof(struct settlement *));
    acks->groups = calloc(finished->count + 1, sizeof(struct pg_ack_group));
    if (!acks->items || !acks->groups)
        return error_no_memory(err);
    for (size_t i = 0; i < finished->count; i++)
        if (is_plain(&finished->items[i]))
            acks->items[acks->count++] = &finished->items[i];
    qsort(acks->items, acks->count, sizeof(struct settlement *), compare_seqs);
    if (has_twice(acks))
        acks->count = 0;
    qsort(acks->items, acks->count, sizeof(struct settlement *), compare);
    make_groups(acks);
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
    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < acks->group_count; i++)
        pg_element_int4(call, (int)acks->groups[i].first + 1);
    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < acks->group_count; i++) {
        int number = pg_queue_names_add(queues, acks->items[acks->groups[i].first]->queue);
        if (number == 0)
            return error_no_memory(err);
        pg_element_int4(call, number);
    }
    pg_statement_array(call, ARRAY_BOOL);
    for (size_t i = 0; i < acks->group_count; i++)
        pg_element_bool(call, acks->items[acks->groups[i].first]->forget);
    return true;
}

/* A bit for each number from the first one's on. */
static void add_mask(const struct pg_plain_acks *acks, const struct pg_ack_group *group,
                     struct pg_statement *call)
{
    const uint32_t low = lease_token_index(&acks->items[group->first]->token);
    unsigned char bits[GROUP_SPAN / 8] = {0};
    size_t at = 0;

    for (size_t i = 0; i < group->count; i++) {
        at = lease_token_index(&acks->items[group->first + i]->token) - low;
        bits[at / 8] |= (unsigned char)(0x80 >> at % 8);
    }
    pg_element_bits(call, bits, at + 1);
}

/* Of each group its batch, the lowest number, and which ones: nothing for those in no batch. */
static void bind_batches(const struct pg_plain_acks *acks, struct pg_statement *call)
{
    pg_statement_array(call, ARRAY_BYTEA);
    for (size_t i = 0; i < acks->group_count; i++) {
        const struct settlement *first = acks->items[acks->groups[i].first];
        struct bytes batch = {is_batched(first) ? first->token.bytes : NULL, BATCH_TOKEN_SIZE};
        pg_element_bytes(call, batch);
    }
    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < acks->group_count; i++)
        pg_element_int4(call, (int)lease_token_index(&acks->items[acks->groups[i].first]->token));
    pg_statement_array(call, ARRAY_VARBIT);
    for (size_t i = 0; i < acks->group_count; i++) {
        if (is_batched(acks->items[acks->groups[i].first]))
            add_mask(acks, &acks->groups[i], call);
        else
            pg_element_null(call);
    }
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
        pg_element_int(call, seq_of(acks->items[i]));
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
        memcpy(&value, (const char *)&acks->items[i]->run + member, sizeof value);
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
    bind_batches(acks, call);
    bind_leases(acks, call);
    bind_runs(acks, call);
    return true;
}

void pg_plain_acks_done(struct pg_plain_acks *acks)
{
    free(acks->items);
    free(acks->groups);
    *acks = (struct pg_plain_acks){0};
}

/*
 * wanted.c - the part of an exchange that reserves, as parameters.
 */
#include "store/postgres/ops/wanted.h"

#include "base/cleanup.h"

#include <limits.h>

#define WANTED_PARAMETERS 15

struct asking {
    struct postgres *postgres;
    const struct reservation *wanted;
    usec_t now;
    struct queue_names *queues;
};

static int64_t at_most(size_t count)
{
    return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

static bool bind_shares(struct asking *asking, struct statement *call, struct error *err)
{
    const struct queue_share *shares = asking->wanted->queues;
    const size_t count = asking->wanted->queue_count;

    statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++) {
        int number = queue_names_add(asking->queues, shares[i].queue);
        if (number == 0)
            return error_no_memory(err);
        element_int4(call, number);
    }
    statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < count; i++)
        element_int(call, at_most(shares[i].max));
    statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < count; i++)
        element_int(call, at_most(shares[i].max_running));
    statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < count; i++)
        element_int(call, shares[i].rate.count);
    statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < count; i++)
        element_int(call, shares[i].rate.period);
    return true;
}

static void bind_types(const struct asking *asking, struct statement *call)
{
    if (asking->wanted->types == NULL) {
        statement_null(call);
        return;
    }
    statement_array(call, ARRAY_TEXT);
    for (size_t i = 0; i < asking->wanted->type_count; i++)
        element_text(call, asking->wanted->types[i]);
}

/* A stretch of a queue: from behind a place up to the end of a priority. */
struct segment {
    int share; /* from 1 on */
    int priority;
    usec_t due;
    int64_t seq;
    int last_priority;
};

struct segments {
    struct segment *items; /* owned */
    size_t count;
};

static void segments_done(struct segments *segments)
{
    free(segments->items);
}

/* From the head up to the first known place, from there up to the next one, and so on. */
static void add_segments(struct segments *segments, int share, const struct head *head)
{
    struct segment *open = &segments->items[segments->count++];

    *open = (struct segment){.share = share, .priority = -1};
    for (int priority = 0; priority < HEAD_PRIORITIES; priority++) {
        if (!head->behind[priority].known)
            continue;
        open->last_priority = priority - 1;
        open = &segments->items[segments->count++];
        *open = (struct segment){.share = share,
                                 .priority = priority,
                                 .due = head->behind[priority].due,
                                 .seq = head->behind[priority].seq};
    }
    open->last_priority = SHRT_MAX;
}

static bool find_segments(struct asking *asking, struct segments *segments, struct error *err)
{
    const struct reservation *wanted = asking->wanted;

    segments->items =
        calloc(wanted->queue_count + 1, (HEAD_PRIORITIES + 1) * sizeof(struct segment));
    if (segments->items == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < wanted->queue_count; i++) {
        const struct head *head = heads_find(&asking->postgres->heads, wanted->queues[i].queue);
        if (head == NULL)
            return error_no_memory(err);
        /* Of those of one type, others may lie before. */
        if (wanted->types == NULL && !head_is_due(head, asking->now))
            add_segments(segments, (int)i + 1, head);
    }
    return true;
}

static bool bind_segments(struct asking *asking, struct statement *call, struct error *err)
{
    CLEANUP(segments_done) struct segments segments = {0};

    if (!find_segments(asking, &segments, err))
        return false;
    statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < segments.count; i++)
        element_int4(call, segments.items[i].share);
    statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < segments.count; i++)
        element_int4(call, segments.items[i].priority);
    statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < segments.count; i++)
        element_int(call, segments.items[i].due);
    statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < segments.count; i++)
        element_int(call, segments.items[i].seq);
    statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < segments.count; i++)
        element_int4(call, segments.items[i].last_priority);
    return true;
}

static bool bind_looks(struct asking *asking, struct statement *call, struct error *err)
{
    statement_array(call, ARRAY_BOOL);
    for (size_t i = 0; i < asking->wanted->queue_count; i++) {
        const struct head *head =
            heads_find(&asking->postgres->heads, asking->wanted->queues[i].queue);
        if (head == NULL)
            return error_no_memory(err);
        element_bool(call, head_may_look_again(head, asking->now));
    }
    return true;
}

bool wanted_bind(struct postgres *postgres, const struct reservation *wanted, usec_t now,
                 struct queue_names *queues, struct statement *call, struct error *err)
{
    struct asking asking = {postgres, wanted, now, queues};

    if (wanted == NULL) {
        for (int i = 0; i < WANTED_PARAMETERS; i++)
            statement_null(call);
        return true;
    }
    statement_text(call, wanted->pool);
    statement_bytes(call, (struct bytes){wanted->batch.bytes, sizeof(wanted->batch.bytes)});
    statement_int(call, wanted->lease_for);
    if (!bind_shares(&asking, call, err))
        return false;
    bind_types(&asking, call);
    return bind_segments(&asking, call, err) && bind_looks(&asking, call, err);
}

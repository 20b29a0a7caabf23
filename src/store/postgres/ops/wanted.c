/*
 * wanted.c - the part of an exchange that reserves, as parameters.
 */
#include "store/postgres/ops/wanted.h"

#include "base/cleanup.h"

#include <limits.h>

#define WANTED_PARAMETERS 16

struct asking {
    struct postgres *postgres;
    const struct reservation *wanted;
    usec_t now;
    struct pg_queue_names *queues;
};

static int64_t at_most(size_t count)
{
    return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

static bool bind_shares(struct asking *asking, struct pg_statement *call, struct error *err)
{
    const struct queue_share *shares = asking->wanted->queues;
    const size_t count = asking->wanted->queue_count;

    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++) {
        int number = pg_queue_names_add(asking->queues, shares[i].queue);
        if (number == 0)
            return error_no_memory(err);
        pg_element_int4(call, number);
    }
    pg_statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < count; i++)
        pg_element_int(call, at_most(shares[i].max));
    pg_statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < count; i++)
        pg_element_int(call, at_most(shares[i].max_running));
    pg_statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < count; i++)
        pg_element_int(call, shares[i].rate.count);
    pg_statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < count; i++)
        pg_element_int(call, shares[i].rate.period);
    return true;
}

static void bind_types(const struct asking *asking, struct pg_statement *call)
{
    if (!asking->wanted->types) {
        pg_statement_null(call);
        return;
    }
    pg_statement_array(call, ARRAY_TEXT);
    for (size_t i = 0; i < asking->wanted->type_count; i++)
        pg_element_text(call, asking->wanted->types[i]);
}

/* A stretch of a queue: from after a place up to the end of a priority. */
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
static void add_segments(struct segments *segments, int share, const struct pg_scan_start *start)
{
    struct segment *open = &segments->items[segments->count++];

    *open = (struct segment){.share = share, .priority = -1};
    for (int priority = 0; priority < SCAN_START_PRIORITIES; priority++) {
        if (!start->behind[priority].known)
            continue;
        open->last_priority = priority - 1;
        open = &segments->items[segments->count++];
        *open = (struct segment){.share = share,
                                 .priority = priority,
                                 .due = start->behind[priority].due,
                                 .seq = start->behind[priority].seq};
    }
    open->last_priority = SHRT_MAX;
}

static bool find_segments(struct asking *asking, struct segments *segments, struct error *err)
{
    const struct reservation *wanted = asking->wanted;

    segments->items =
        calloc(wanted->queue_count + 1, (SCAN_START_PRIORITIES + 1) * sizeof(struct segment));
    if (!segments->items)
        return error_no_memory(err);
    for (size_t i = 0; i < wanted->queue_count; i++) {
        const struct pg_scan_start *start =
            pg_scan_starts_find(&asking->postgres->scan_starts, wanted->queues[i].queue);
        if (!start)
            return error_no_memory(err);
        /* Whoever wants certain types may have passed over others: from the head. */
        if (!wanted->types && !pg_scan_start_is_due(start, asking->now))
            add_segments(segments, (int)i + 1, start);
    }
    return true;
}

static bool bind_segments(struct asking *asking, struct pg_statement *call, struct error *err)
{
    CLEANUP(segments_done) struct segments segments = {0};

    if (!find_segments(asking, &segments, err))
        return false;
    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < segments.count; i++)
        pg_element_int4(call, segments.items[i].share);
    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < segments.count; i++)
        pg_element_int4(call, segments.items[i].priority);
    pg_statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < segments.count; i++)
        pg_element_int(call, segments.items[i].due);
    pg_statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < segments.count; i++)
        pg_element_int(call, segments.items[i].seq);
    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < segments.count; i++)
        pg_element_int4(call, segments.items[i].last_priority);
    return true;
}

static bool bind_looks(struct asking *asking, struct pg_statement *call, struct error *err)
{
    pg_statement_array(call, ARRAY_BOOL);
    for (size_t i = 0; i < asking->wanted->queue_count; i++) {
        const struct pg_scan_start *start =
            pg_scan_starts_find(&asking->postgres->scan_starts, asking->wanted->queues[i].queue);
        if (!start)
            return error_no_memory(err);
        pg_element_bool(call, pg_scan_start_may_look_again(start, asking->now));
    }
    return true;
}

bool pg_wanted_bind(struct postgres *postgres, const struct reservation *wanted, usec_t now,
                    struct pg_queue_names *queues, struct pg_statement *call, struct error *err)
{
    struct asking asking = {postgres, wanted, now, queues};

    if (!wanted) {
        for (int i = 0; i < WANTED_PARAMETERS; i++)
            pg_statement_null(call);
        return true;
    }
    pg_statement_text(call, wanted->pool);
    pg_statement_bytes(call, (struct bytes){wanted->batch.bytes, sizeof wanted->batch.bytes});
    pg_statement_int(call, at_most(postgres->base.batch_min));
    pg_statement_int(call, wanted->lease_for);
    if (!bind_shares(&asking, call, err))
        return false;
    bind_types(&asking, call);
    return bind_segments(&asking, call, err) && bind_looks(&asking, call, err);
}

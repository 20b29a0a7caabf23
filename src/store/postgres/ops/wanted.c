/*
 * wanted.c - the part of an exchange that reserves, as parameters.
 */
#include "store/postgres/ops/wanted.h"

#include "base/cleanup.h"

#include <limits.h>
#include <stdlib.h>

#define WANTED_PARAMETERS 22

struct asking {
    struct postgres *postgres;
    const struct pg_wanted *wanted;
    struct pg_queue_names *queues;
    size_t share_count; /* of all */
};

static int64_t at_most(size_t count)
{
    return count > INT64_MAX ? INT64_MAX : (int64_t)count;
}

struct pg_wanted_share pg_wanted_share(const struct pg_wanted *wanted, size_t number)
{
    const struct reservation *item = wanted->items;
    size_t at = number - 1;

    while (at >= item->queue_count) {
        at -= item->queue_count;
        item++;
    }
    return (struct pg_wanted_share){
        .reservation = (size_t)(item - wanted->items),
        .share = &item->queues[at],
        .limit = item->limits_out ? &item->limits_out[at] : NULL,
    };
}

bool pg_wanted_has_types(const struct pg_wanted *wanted)
{
    for (size_t i = 0; i < wanted->count; i++)
        if (wanted->items[i].types)
            return true;
    return false;
}

/* ---- of each reservation ---- */

static void bind_names(const struct pg_wanted *wanted, struct pg_statement *call)
{
    pg_statement_array(call, ARRAY_TEXT);
    for (size_t i = 0; i < wanted->count; i++)
        pg_element_text(call, wanted->items[i].pool);
    pg_statement_array(call, ARRAY_BYTEA);
    for (size_t i = 0; i < wanted->count; i++) {
        const struct batch_token *batch = &wanted->items[i].batch;
        pg_element_bytes(call, (struct bytes){batch->bytes, sizeof batch->bytes});
    }
}

static void bind_leases(const struct pg_wanted *wanted, struct pg_statement *call)
{
    pg_statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < wanted->count; i++) {
        const usec_t lease_for = wanted->items[i].lease_for;
        pg_element_int(call, lease_for != 0 ? lease_for + wanted->lead : 0);
    }
    pg_statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < wanted->count; i++)
        pg_element_int(call, wanted->items[i].lease_default);
    pg_statement_int(call, wanted->lead);
}

static void bind_totals(const struct pg_wanted *wanted, struct pg_statement *call)
{
    pg_statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < wanted->count; i++)
        pg_element_int_or_null(call, at_most(wanted->items[i].max_total));
}

/* Those of all in one list, and of each reservation where they begin and end in it; 0 is any. */
static void bind_types(const struct pg_wanted *wanted, struct pg_statement *call)
{
    size_t before = 0;

    pg_statement_array(call, ARRAY_TEXT);
    for (size_t i = 0; i < wanted->count; i++)
        for (size_t k = 0; wanted->items[i].types && k < wanted->items[i].type_count; k++)
            pg_element_text(call, wanted->items[i].types[k]);
    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < wanted->count; i++) {
        pg_element_int4(call, wanted->items[i].types ? (int)before + 1 : 0);
        before += wanted->items[i].types ? wanted->items[i].type_count : 0;
    }
    before = 0;
    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < wanted->count; i++) {
        before += wanted->items[i].types ? wanted->items[i].type_count : 0;
        pg_element_int4(call, (int)before);
    }
}

/* ---- of each share ---- */

static const struct queue_share *share_at(const struct asking *asking, size_t i)
{
    return pg_wanted_share(asking->wanted, i + 1).share;
}

static bool bind_queues(struct asking *asking, struct pg_statement *call, struct error *err)
{
    const size_t count = asking->share_count;

    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++)
        pg_element_int4(call, (int)pg_wanted_share(asking->wanted, i + 1).reservation + 1);
    pg_statement_array(call, ARRAY_INT4);
    for (size_t i = 0; i < count; i++) {
        int number = pg_queue_names_add(asking->queues, share_at(asking, i)->queue);
        if (number == 0)
            return error_no_memory(err);
        pg_element_int4(call, number);
    }
    return true;
}

static void bind_limits(struct asking *asking, struct pg_statement *call)
{
    const size_t count = asking->share_count;

    pg_statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < count; i++)
        pg_element_int(call, at_most(share_at(asking, i)->max));
    pg_statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < count; i++)
        pg_element_int(call, at_most(share_at(asking, i)->max_running));
    pg_statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < count; i++)
        pg_element_int(call, share_at(asking, i)->rate.count);
    pg_statement_array(call, ARRAY_INT8);
    for (size_t i = 0; i < count; i++)
        pg_element_int(call, share_at(asking, i)->rate.period);
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
    segments->items =
        calloc(asking->share_count + 1, (SCAN_START_PRIORITIES + 1) * sizeof(struct segment));
    if (!segments->items)
        return error_no_memory(err);
    for (size_t i = 0; i < asking->share_count; i++) {
        const struct pg_wanted_share wanted = pg_wanted_share(asking->wanted, i + 1);
        const struct pg_scan_start *start =
            pg_scan_starts_find(&asking->postgres->scan_starts, wanted.share->queue);
        if (!start)
            return error_no_memory(err);
        /* Whoever wants certain types may have passed over others: from the head. */
        if (!asking->wanted->items[wanted.reservation].types &&
            !pg_scan_start_is_due(start, asking->wanted->now))
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
    for (size_t i = 0; i < asking->share_count; i++) {
        const struct pg_scan_start *start =
            pg_scan_starts_find(&asking->postgres->scan_starts, share_at(asking, i)->queue);
        if (!start)
            return error_no_memory(err);
        pg_element_bool(call, pg_scan_start_may_look_again(start, asking->wanted->now));
    }
    return true;
}

bool pg_wanted_bind(struct postgres *postgres, const struct pg_wanted *wanted,
                    struct pg_queue_names *queues, struct pg_statement *call, struct error *err)
{
    struct asking asking = {.postgres = postgres, .wanted = wanted, .queues = queues};

    if (wanted->count == 0) {
        for (int i = 0; i < WANTED_PARAMETERS; i++)
            pg_statement_null(call);
        return true;
    }
    for (size_t i = 0; i < wanted->count; i++)
        asking.share_count += wanted->items[i].queue_count;
    bind_names(wanted, call);
    pg_statement_int(call, at_most(postgres->base.batch_min));
    bind_leases(wanted, call);
    bind_totals(wanted, call);
    bind_types(wanted, call);
    if (!bind_queues(&asking, call, err))
        return false;
    bind_limits(&asking, call);
    return bind_segments(&asking, call, err) && bind_looks(&asking, call, err);
}

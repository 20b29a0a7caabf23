/*
 * recent.c - what ran in this pool lately, as JSON in its status.
 *
 * Nothing in it depends on the time of the beat alone, but for the start of the oldest slice: a
 * pool in which nothing happens writes the same text again.
 */
#include "periodic/recent.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json_writer.h"
#include "process/meters.h"
#include "process/name_table.h"

#include <stdlib.h>

struct active_type {
    size_t place;
    uint64_t runs;
};

/* Those that ran most come first; of equals the older ones, so that the order stays. */
static int compare(const void *a, const void *b)
{
    const struct active_type *x = a, *y = b;

    if (x->runs != y->runs)
        return x->runs > y->runs ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static size_t list_types(const struct meters *meters, usec_t now,
                         struct active_type types[NAME_TABLE_PLACES])
{
    struct recent_sum sum;
    const char *type;
    size_t position = 0, count = 0;

    while (meters_next_recent(meters, now, &position, &type, &sum))
        types[count++] = (struct active_type){position - 1, log_histogram_count(&sum.run)};
    qsort(types, count, sizeof types[0], compare);
    return count;
}

static void write_type(const struct meters *meters, usec_t now, size_t place,
                       struct json_writer *json)
{
    struct recent_sum sum;
    const char *type;

    if (!meters_next_recent(meters, now, &place, &type, &sum))
        return;
    json_write_open(json, NULL, '{');
    json_write_text(json, "type", type);
    json_write_int(json, "done", (int64_t)sum.done);
    json_write_int(json, "failed", (int64_t)sum.failed);
    log_histogram_write(&sum.run, "run", json);
    log_histogram_write(&sum.wait, "wait", json);
    json_write_close(json, '}');
}

/* As many as fit; how many do not. */
static size_t write_types(const struct meters *meters, usec_t now, const struct active_type *types,
                          size_t count, struct json_writer *json)
{
    CLEANUP(buffer_done) struct buffer one = BUFFER(RECENT_TYPES_MAX);
    size_t left = RECENT_TYPES_MAX, left_out = 0;

    for (size_t i = 0; i < count; i++) {
        struct json_writer alone = {.out = &one};

        buffer_clear(&one);
        write_type(meters, now, types[i].place, &alone);
        if (one.failed || one.length + 1 > left) {
            left_out++;
            continue;
        }
        left -= one.length + 1;
        if (one.length > 0)
            json_write_raw(json, NULL, (struct bytes){(const unsigned char *)one.data, one.length});
    }
    return left_out;
}

void recent_write(const struct meters *meters, usec_t now, struct json_writer *json)
{
    struct active_type types[NAME_TABLE_PLACES] = {{0}};
    const size_t count = list_types(meters, now, types);

    if (count == 0)
        return;
    json_write_open(json, "recent", '{');
    json_write_time(json, "since", recent_runs_since(now));
    json_write_open(json, "types", '[');
    const size_t left_out = write_types(meters, now, types, count, json);

    json_write_close(json, ']');
    json_write_int(json, "left_out", (int64_t)left_out);
    json_write_close(json, '}');
}

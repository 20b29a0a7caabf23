/*
 * pool_recent.c - what ran in a pool lately, as its status tells it.
 */
#include "client/pool_recent.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/timestamp.h"
#include "client/pool_status.h"

static uint64_t read_count(const struct json_members *members, const char *name)
{
    int64_t count;

    return json_to_int(pool_status_member(members, name), &count) && count > 0 ? (uint64_t)count
                                                                               : 0;
}

/* False: it has no name. */
static bool read_type(struct bytes text, struct arena *arena, struct pool_recent_type *type_out)
{
    struct json_members members;
    struct error ignored;

    if (!json_split_object(text, arena, &members, &ignored) ||
        !json_to_text(pool_status_member(&members, "type"), arena, &type_out->type))
        return false;
    type_out->done = read_count(&members, "done");
    type_out->failed = read_count(&members, "failed");
    log_histogram_read(pool_status_member(&members, "run"), arena, &type_out->run);
    log_histogram_read(pool_status_member(&members, "wait"), arena, &type_out->wait);
    return true;
}

static usec_t read_since(const struct json_members *members, struct arena *arena)
{
    struct error ignored;
    const char *text;
    usec_t since;

    return json_to_text(pool_status_member(members, "since"), arena, &text) &&
                   timestamp_parse(text, &since, &ignored)
               ? since
               : 0;
}

struct pool_recent pool_recent_read(const struct pool_status *status, struct arena *arena)
{
    struct pool_recent recent = {0};
    struct json_members members;
    struct json_values values;
    struct error ignored;

    if (!json_split_object(pool_status_member(&status->members, "recent"), arena, &members,
                           &ignored) ||
        !json_split_array(pool_status_member(&members, "types"), arena, &values, &ignored))
        return recent;
    recent.since = read_since(&members, arena);
    recent.types = arena_alloc(arena, (values.count + 1) * sizeof *recent.types);
    for (size_t i = 0; recent.types && i < values.count; i++)
        recent.count += read_type(values.items[i], arena, &recent.types[recent.count]);
    return recent;
}

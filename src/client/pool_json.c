/*
 * pool_json.c - a pool as JSON: what `thctl --json pools` and the HTTP API say of it.
 */
#include "client/pool_json.h"

#include "base/json_writer.h"
#include "base/text.h"

/* The members that may be there whatever the pool says; state, version and processes are its own
 * words. */
static const char *const usual[] = {"name",      "host",    "pid",      "started_at",
                                    "beat_at",   "state",   "want",     "wanted_at",
                                    "wanted_by", "version", "processes"};

static bool is_usual(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(usual); i++) {
        if (text_equal(usual[i], name))
            return true;
    }
    return false;
}

static void add_processes(struct json_writer *json, const struct pool_status *status)
{
    static const struct bytes none = {(const unsigned char *)"[]", 2};

    json_write_raw(json, "processes",
                   status->processes ? pool_status_member(&status->members, "processes") : none);
}

/* Nothing, where nobody has ever wanted anything. */
static void add_want(struct json_writer *json, const struct pool *pool)
{
    if (pool->wanted_at == 0)
        return;
    json_write_text(json, "want", pool_want_name(pool->want));
    json_write_time(json, "wanted_at", pool->wanted_at);
    json_write_text(json, "wanted_by", pool->wanted_by);
}

void pool_json_add(struct json_writer *json, const struct pool *pool,
                   const struct pool_status *status, const char *state)
{
    const struct json_members *members = &status->members;

    json_write_open(json, NULL, '{');
    json_write_text(json, "name", pool->name);
    json_write_text(json, "host", pool->host);
    if (pool->pid != 0)
        json_write_int(json, "pid", pool->pid);
    else
        json_write_null(json, "pid");
    json_write_time(json, "started_at", pool->started_at);
    json_write_time(json, "beat_at", pool->beat_at);
    json_write_text(json, "state", state);
    add_want(json, pool);
    json_write_text(json, "version", status->version);
    add_processes(json, status);
    for (size_t i = 0; i < members->count; i++) {
        if (!is_usual(members->items[i].name))
            json_write_raw(json, members->items[i].name, members->items[i].value);
    }
    json_write_close(json, '}');
}

/*
 * dead_groups_look.c - what the newest dead jobs died of.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json_writer.h"
#include "browse/looks.h"
#include "client/dead_groups.h"

static void write_queues(struct json_writer *json, const struct dead_group *group)
{
    json_write_open(json, "queues", '[');
    for (size_t i = 0; i < group->queue_count && i < DEAD_GROUP_QUEUES; i++)
        json_write_text(json, NULL, group->queues[i]);
    json_write_close(json, ']');
    json_write_bool(json, "more_queues", group->queue_count > DEAD_GROUP_QUEUES);
}

static void write_group(struct json_writer *json, const struct dead_group *group)
{
    char id[UUID_TEXT_SIZE];

    json_write_open(json, NULL, '{');
    json_write_text(json, "type", group->type);
    json_write_text(json, "error", group->error);
    json_write_int(json, "count", (int64_t)group->count);
    json_write_time(json, "first", group->first);
    json_write_time(json, "last", group->last);
    json_write_text(json, "example", uuid_format(&group->example, id));
    write_queues(json, group);
    json_write_close(json, '}');
}

bool look_at_dead_groups(struct look *look, struct error *err)
{
    CLEANUP(dead_groups_done) struct dead_groups groups = {0};
    struct json_writer json = {.out = look->body};

    if (!unpack_end(&look->wish, "a look at dead jobs", err) ||
        !dead_groups_read(look->store, &groups, err))
        return false;
    json_write_open(&json, NULL, '{');
    json_write_open(&json, "groups", '[');
    for (size_t i = 0; i < groups.count; i++)
        write_group(&json, &groups.items[i]);
    json_write_close(&json, ']');
    json_write_int(&json, "looked_at", (int64_t)groups.looked_at);
    json_write_bool(&json, "more", groups.is_cut);
    json_write_close(&json, '}');
    return true;
}

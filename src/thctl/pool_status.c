/*
 * pool_status.c - what a pool says about its processes with each heartbeat.
 */
#include "thctl/pool_status.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "base/timestamp.h"

/* An object on its way into a struct. */
struct reading {
    struct json_members members;
    struct arena *arena;
};

static struct reading open_object(struct bytes text, struct arena *arena)
{
    struct reading in = {.arena = arena};
    struct error ignored;

    if (!json_split_object(text, arena, &in.members, &ignored))
        in.members = (struct json_members){0};
    return in;
}

static const char *read_text(const struct reading *in, const char *name)
{
    const char *text;

    return json_to_text(pool_status_member(&in->members, name), in->arena, &text) ? text : NULL;
}

static int64_t read_number(const struct reading *in, const char *name, int64_t absent)
{
    int64_t number;

    return json_to_int(pool_status_member(&in->members, name), &number) ? number : absent;
}

static usec_t read_moment(const struct reading *in, const char *name)
{
    const char *text = read_text(in, name);
    struct error ignored;
    usec_t moment;

    return text != NULL && timestamp_parse(text, &moment, &ignored) ? moment : 0;
}

static struct pool_process read_process(struct bytes text, struct arena *arena)
{
    struct reading in = open_object(text, arena);
    struct reading progress = open_object(pool_status_member(&in.members, "progress"), arena);

    return (struct pool_process){
        .name = read_text(&in, "name"),
        .pid = read_number(&in, "pid", 0),
        .state = read_text(&in, "state"),
        .since = read_moment(&in, "since"),
        .job = read_text(&in, "job"),
        .type = read_text(&in, "type"),
        .progress_percent = read_number(&progress, "percent", -1),
        .progress_text = read_text(&progress, "text"),
        .jobs_done = read_number(&in, "jobs_done", -1),
    };
}

static void read_processes(const struct reading *in, struct pool_status *status)
{
    struct json_values values;
    struct error ignored;

    if (!json_split_array(pool_status_member(&in->members, "processes"), in->arena, &values,
                          &ignored))
        return;
    status->processes = arena_alloc(in->arena, (values.count + 1) * sizeof(*status->processes));
    if (status->processes == NULL)
        return;
    for (size_t i = 0; i < values.count; i++)
        status->processes[i] = read_process(values.items[i], in->arena);
    status->process_count = values.count;
}

struct pool_status pool_status_read(struct bytes text, struct arena *arena)
{
    struct reading in = open_object(text, arena);
    struct pool_status status = {
        .members = in.members,
        .version = read_text(&in, "version"),
        .state = read_text(&in, "state"),
    };

    read_processes(&in, &status);
    return status;
}

struct bytes pool_status_member(const struct json_members *members, const char *name)
{
    for (size_t i = 0; i < members->count; i++) {
        if (text_equal(members->items[i].name, name))
            return members->items[i].value;
    }
    return (struct bytes){0};
}

bool pool_process_is_worker(const struct pool_process *process)
{
    return process->name != NULL && text_starts_with(process->name, "worker");
}

bool pool_process_is_busy(const struct pool_process *process)
{
    return pool_process_is_worker(process) && text_equal(process->state, "running");
}

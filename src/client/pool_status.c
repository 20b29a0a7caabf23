/*
 * pool_status.c - what a pool says about itself with each heartbeat.
 */
#include "client/pool_status.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "job/pattern.h"

#define BEATS_MISSED   3
#define SILENT_MIN     (5 * USEC_PER_SEC) /* a busy machine beats late */
#define SILENT_AFTER   (60 * USEC_PER_SEC)
#define TIMEOUT_MAX_MS (365 * USEC_PER_DAY / USEC_PER_MSEC)

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

    return text && timestamp_parse(text, &moment, &ignored) ? moment : 0;
}

/* Milliseconds that a duration can be. */
static usec_t read_duration(const struct reading *in, const char *name)
{
    int64_t msec = read_number(in, name, 0);

    return msec > 0 && msec <= TIMEOUT_MAX_MS ? msec * USEC_PER_MSEC : 0;
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
        .jobs_running = read_number(&in, "jobs_running", -1),
        .jobs_done = read_number(&in, "jobs_done", -1),
    };
}

static struct pool_queue read_queue(struct bytes text, struct arena *arena)
{
    struct reading in = open_object(text, arena);

    return (struct pool_queue){
        .name = read_text(&in, "name"),
        .weight = read_number(&in, "weight", 0),
        .max_running = read_number(&in, "max_running", 0),
        .rate = read_text(&in, "rate"),
    };
}

static struct pool_handler read_handler(struct bytes text, struct arena *arena)
{
    struct reading in = open_object(text, arena);

    return (struct pool_handler){
        .pattern = read_text(&in, "pattern"),
        .kind = read_text(&in, "kind"),
        .max_attempts = read_number(&in, "max_attempts", 0),
        .timeout = read_duration(&in, "timeout_ms"),
    };
}

static struct pool_start_failure read_start_failure(struct bytes text, struct arena *arena)
{
    struct reading in = open_object(text, arena);

    return (struct pool_start_failure){
        .pattern = read_text(&in, "pattern"),
        .error = read_text(&in, "error"),
        .since = read_moment(&in, "since"),
        .next_try = read_moment(&in, "next_try"),
    };
}

/* The values of a list; false when there is none. */
static bool open_list(const struct reading *in, const char *name, struct json_values *values_out)
{
    struct error ignored;

    return json_split_array(pool_status_member(&in->members, name), in->arena, values_out,
                            &ignored);
}

/* Room for that many items, and never NULL for none; NULL: out of memory. */
static void *make_room(const struct reading *in, const struct json_values *values, size_t size)
{
    return arena_alloc(in->arena, (values->count + 1) * size);
}

static void read_processes(const struct reading *in, struct pool_status *status)
{
    struct json_values values;

    if (!open_list(in, "processes", &values))
        return;
    status->processes = make_room(in, &values, sizeof *status->processes);
    for (size_t i = 0; status->processes && i < values.count; i++)
        status->processes[status->process_count++] = read_process(values.items[i], in->arena);
}

static void read_queues(const struct reading *in, struct pool_status *status)
{
    struct json_values values;

    if (!open_list(in, "queues", &values))
        return;
    status->queues = make_room(in, &values, sizeof *status->queues);
    for (size_t i = 0; status->queues && i < values.count; i++)
        status->queues[status->queue_count++] = read_queue(values.items[i], in->arena);
}

static void read_handlers(const struct reading *in, struct pool_status *status)
{
    struct json_values values;

    if (!open_list(in, "handlers", &values))
        return;
    status->handlers = make_room(in, &values, sizeof *status->handlers);
    for (size_t i = 0; status->handlers && i < values.count; i++)
        status->handlers[status->handler_count++] = read_handler(values.items[i], in->arena);
}

static void read_start_failures(const struct reading *in, struct pool_status *status)
{
    struct json_values values;

    if (!open_list(in, "start_failures", &values))
        return;
    status->start_failures = make_room(in, &values, sizeof *status->start_failures);
    for (size_t i = 0; status->start_failures && i < values.count; i++)
        status->start_failures[status->start_failure_count++] =
            read_start_failure(values.items[i], in->arena);
}

struct pool_status pool_status_read(struct bytes text, struct arena *arena)
{
    struct reading in = open_object(text, arena);
    struct pool_status status = {
        .members = in.members,
        .version = read_text(&in, "version"),
        .state = read_text(&in, "state"),
        .heartbeat = read_duration(&in, "heartbeat_ms"),
    };

    read_processes(&in, &status);
    read_queues(&in, &status);
    read_handlers(&in, &status);
    read_start_failures(&in, &status);
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

const struct pool_handler *pool_status_handler(const struct pool_status *status, const char *type)
{
    const struct pool_handler *best = NULL;
    int best_fit = -1;

    for (size_t i = 0; i < status->handler_count; i++) {
        const char *pattern = status->handlers[i].pattern;
        const int fit = pattern ? pattern_fit(pattern, type) : -1;

        if (fit <= best_fit)
            continue;
        best_fit = fit;
        best = &status->handlers[i];
    }
    return best;
}

bool pool_status_is_silent(const struct pool_status *status, usec_t beat_at, usec_t now)
{
    const usec_t missed = status->heartbeat > 0 ? BEATS_MISSED * status->heartbeat : SILENT_AFTER;

    return beat_at < now - (missed < SILENT_MIN ? SILENT_MIN : missed);
}

bool pool_process_is_worker(const struct pool_process *process)
{
    return process->name && text_starts_with(process->name, "worker");
}

bool pool_process_is_busy(const struct pool_process *process)
{
    return pool_process_is_worker(process) && text_equal(process->state, "running");
}

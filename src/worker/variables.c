/*
 * variables.c - the environment of a command.
 *
 * The payload never gets here: it would show in /proc, and reach whatever reads variables. Headers
 * do: that is what they are for.
 */
#include "worker/variables.h"

#include "base/arena.h"
#include "base/error.h"
#include "job/headers.h"
#include "process/account.h"
#include "worker/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN_COUNT 5 /* PATH HOME USER LANG TZ */
#define JOB_COUNT   9 /* TH_* */
#define NUMBER_SIZE 32

struct list {
    struct arena *arena;
    const char **items;
    size_t count;
};

static bool is_named(const char *item, const char *name)
{
    const size_t length = strlen(name);

    return strncmp(item, name, length) == 0 && item[length] == '=';
}

static const char *join(struct arena *arena, const char *name, const char *value)
{
    const size_t size = strlen(name) + strlen(value) + 2;
    char *item = arena_alloc(arena, size);

    if (!item)
        return "";
    snprintf(item, size, "%s=%s", name, value);
    return item;
}

static void set(struct list *list, const char *name, const char *value)
{
    size_t i = 0;

    if (!value)
        return;
    while (i < list->count && !is_named(list->items[i], name))
        i++;
    list->items[i] = join(list->arena, name, value);
    if (i == list->count)
        list->count++;
}

static void set_number(struct list *list, const char *name, int64_t value)
{
    char text[NUMBER_SIZE];

    snprintf(text, sizeof text, "%" PRId64, value);
    set(list, name, text);
}

static void set_plain(struct list *list, const struct account *account)
{
    set(list, "PATH", COMMAND_PATH);
    set(list, "HOME", account->home);
    set(list, "USER", account->name);
    set(list, "LANG", "C.UTF-8");
    set(list, "TZ", "UTC");
}

static void set_job(struct list *list, const struct handler_job *job, usec_t now)
{
    set(list, "TH_JOB_ID", job->id);
    set(list, "TH_JOB_TYPE", job->type);
    set(list, "TH_QUEUE", job->queue);
    set_number(list, "TH_ATTEMPT", job->attempt);
    set_number(list, "TH_MAX_ATTEMPTS", job->max_attempts);
    set_number(list, "TH_EXECUTION", job->execution);
    set(list, "TH_POOL_ID", job->pool_id);
    if (job->timeout > 0)
        set_number(list, "TH_DEADLINE", (now + job->timeout) / USEC_PER_SEC);
}

/* Those of a trace under the names that OpenTelemetry reads, too. */
static const char *const trace_names[][2] = {
    {"traceparent", "TRACEPARENT"},
    {"tracestate", "TRACESTATE"},
    {"baggage", "BAGGAGE"},
};

static void set_headers(struct list *list, const char *headers)
{
    if (!headers)
        return;
    set(list, "TH_HEADERS", headers);
    for (size_t i = 0; i < COUNT_OF(trace_names); i++)
        set(list, trace_names[i][1], headers_get(headers, trace_names[i][0], list->arena));
}

/* All but what is said of a job, with room for that. */
static bool list_init(struct list *list, const struct command *command, struct arena *arena,
                      struct error *err)
{
    const size_t most = PLAIN_COUNT + command->pass_env_count + command->env_count + JOB_COUNT +
                        COUNT_OF(trace_names);

    *list = (struct list){.arena = arena};
    list->items = arena_alloc(arena, (most + 1) * sizeof *list->items);
    if (!list->items)
        return error_no_memory(err);
    set_plain(list, command->account);
    for (size_t i = 0; i < command->pass_env_count; i++)
        set(list, command->pass_env[i], getenv(command->pass_env[i]));
    for (size_t i = 0; i < command->env_count; i++)
        set(list, command->env[i].name, command->env[i].value);
    return true;
}

static bool hand_over(const struct list *list, const char *const **environment_out,
                      struct error *err)
{
    *environment_out = list->items;
    return !list->arena->failed || error_no_memory(err);
}

bool variables_build(const struct command *command, const struct handler_job *job, usec_t now,
                     struct arena *arena, const char *const **environment_out, struct error *err)
{
    struct list list;

    if (!list_init(&list, command, arena, err))
        return false;
    set_job(&list, job, now);
    set_headers(&list, job->headers);
    return hand_over(&list, environment_out, err);
}

bool variables_build_lasting(const struct command *command, const char *pool_id,
                             struct arena *arena, const char *const **environment_out,
                             struct error *err)
{
    struct list list;

    if (!list_init(&list, command, arena, err))
        return false;
    set(&list, "TH_POOL_ID", pool_id);
    return hand_over(&list, environment_out, err);
}

const char *variables_get(const char *const *environment, const char *name)
{
    for (const char *const *item = environment; *item; item++) {
        if (is_named(*item, name))
            return *item + strlen(name) + 1;
    }
    return NULL;
}

/*
 * pool_sight.c - a pool as it is shown: what it said with its last heartbeat, or that it is silent.
 */
#include "thctl/pool_sight.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "base/units.h"
#include "client/offers.h"
#include "thctl/when.h"

#include <stdio.h>

#define CELL_MAX ((size_t)64 * 1024)

/* clang-format off */
const struct table_column pool_sight_columns[POOL_SIGHT_COLUMNS] = {
    {.title = "POOL"},
    {.title = "HOST", .expendable = 2},
    {.title = "PID", .right = true, .expendable = 3},
    {.title = "STATE"},
    {.title = "WORKERS", .right = true},
    {.title = "UPTIME", .right = true, .expendable = 1},
    {.title = "LAST-BEAT", .right = true},
};
/* clang-format on */

/* What the states of pools and processes look like; any other one is plain. */
static const struct {
    const char *state;
    enum colour colour;
} looks[] = {
    {"running", COLOUR_CYAN},   {"idle", COLOUR_DIM},        {"starting", COLOUR_YELLOW},
    {"waiting", COLOUR_YELLOW}, {"draining", COLOUR_YELLOW}, {"stopping", COLOUR_YELLOW},
    {"silent", COLOUR_RED},     {"replacing", COLOUR_CYAN},
};

bool pool_sight_all(const struct pool_list *pools, usec_t now, struct arena *arena,
                    struct pool_sight **sights_out, struct error *err)
{
    struct pool_sight *sights = arena_alloc(arena, (pools->count + 1) * sizeof *sights);

    if (!sights)
        return error_no_memory(err);
    for (size_t i = 0; i < pools->count; i++) {
        const struct pool *pool = &pools->items[i];

        sights[i] = (struct pool_sight){
            .pool = pool,
            .status = pool_status_read(pool->status, arena),
            .silent = pool->beat_at < now - POOL_SILENT_AFTER,
        };
    }
    *sights_out = sights;
    return !arena->failed || error_no_memory(err);
}

const char *pool_sight_state(const struct pool_sight *sight)
{
    return sight->silent ? "silent" : sight->status.state;
}

enum colour pool_sight_colour(const char *state)
{
    for (size_t i = 0; i < COUNT_OF(looks); i++) {
        if (text_equal(looks[i].state, state))
            return looks[i].colour;
    }
    return COLOUR_NONE;
}

size_t pool_sight_workers(const struct pool_sight *sight, size_t *busy_out)
{
    size_t all = 0;

    *busy_out = 0;
    for (size_t i = 0; i < sight->status.process_count; i++) {
        all += pool_process_is_worker(&sight->status.processes[i]);
        *busy_out += pool_process_is_busy(&sight->status.processes[i]);
    }
    return all;
}

static void add_pid(struct table *table, int64_t pid)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRId64, pid);
    table_add(table, COLOUR_NONE, pid != 0 ? text : NULL);
}

static void add_workers(struct table *table, const struct pool_sight *sight)
{
    char text[64];
    size_t busy;
    size_t all = pool_sight_workers(sight, &busy);

    snprintf(text, sizeof text, "%zu/%zu", busy, all);
    table_add(table, COLOUR_NONE, sight->status.processes ? text : NULL);
}

void pool_sight_add(struct table *table, const struct pool_sight *sight, usec_t now)
{
    const struct pool *pool = sight->pool;
    const char *state = pool_sight_state(sight);
    usec_t until = sight->silent ? pool->beat_at : now;
    usec_t uptime = until > pool->started_at ? until - pool->started_at : 0;
    char text[UNITS_TEXT_SIZE];

    table_add(table, COLOUR_NONE, pool->name);
    table_add(table, COLOUR_NONE, pool->host);
    add_pid(table, pool->pid);
    table_add(table, pool_sight_colour(state), state);
    add_workers(table, sight);
    table_add(table, COLOUR_NONE, units_format_duration(uptime, text));
    pool_sight_add_ago(table, sight->silent ? COLOUR_RED : COLOUR_NONE, pool->beat_at, now);
}

/* A clock that is behind must not make anything happen in the future. */
void pool_sight_add_ago(struct table *table, enum colour colour, usec_t moment, usec_t now)
{
    char text[WHEN_TEXT_SIZE];

    table_add(table, colour,
              moment != 0 ? when_relative(moment < now ? moment : now, now, text) : NULL);
}

void pool_sight_add_state(struct table *table, const struct pool_process *process)
{
    const enum colour colour = pool_sight_colour(process->state);
    char text[32];

    snprintf(text, sizeof text, "%" PRId64 " jobs", process->jobs_running);
    table_add(table, colour, process->jobs_running > 1 ? text : process->state);
}

void pool_sight_add_progress(struct table *table, const struct pool_process *process)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(CELL_MAX);

    if (process->progress_percent >= 0)
        buffer_printf(&text, "%" PRId64 "%%", process->progress_percent);
    if (process->progress_text)
        buffer_printf(&text, "%s%s", text.length > 0 ? " " : "", process->progress_text);
    table_add(table, COLOUR_NONE, buffer_str(&text));
}

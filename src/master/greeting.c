/*
 * greeting.c - what a person at a terminal reads when the pool is ready, and when it is to end.
 */
#include "master/greeting.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "config/config.h"
#include "master/this_pool.h"

#include <taskharbor/version.h>

#include <string.h>

#define TEXT_MAX   ((size_t)16 * 1024)
#define NAMES_MAX  8 /* listed by name */
#define EXAMPLE_AS "example"

#define CONFIG_FOUND "jobs.yaml" /* by thctl as well, in the same folder */

static void add_name(struct buffer *text, const char *name, size_t place)
{
    if (place < NAMES_MAX)
        buffer_printf(text, "%s%s", place == 0 ? "" : ", ", name);
}

static void add_rest(struct buffer *text, size_t count)
{
    if (count > NAMES_MAX)
        buffer_printf(text, " and %zu more", count - NAMES_MAX);
    buffer_char(text, '\n');
}

static void add_queues(struct buffer *text, const struct config *config)
{
    buffer_text(text, "  queues    ");
    for (size_t i = 0; i < config->queue_count; i++)
        add_name(text, config->queues[i].name, i);
    add_rest(text, config->queue_count);
}

static void add_handlers(struct buffer *text, const struct config *config)
{
    buffer_text(text, "  handlers  ");
    if (config->handler_count == 0)
        buffer_text(text, "none: its jobs are for remote workers");
    for (size_t i = 0; i < config->handler_count; i++)
        add_name(text, config->handlers[i].pattern, i);
    add_rest(text, config->handler_count);
}

/* A type that the first handler is for. */
static void add_type(struct buffer *text, const struct config *config)
{
    const char *pattern = config->handler_count > 0 ? config->handlers[0].pattern : "*";
    const size_t length = strcspn(pattern, "*");

    buffer_add(text, pattern, length);
    if (pattern[length] == '*')
        buffer_text(text, EXAMPLE_AS);
}

/* How thctl finds the same jobs. */
static void add_client(struct buffer *text, const struct this_pool *pool)
{
    const char *path = pool->config->path;

    buffer_text(text, "  thctl ");
    if (pool->options->backend_is_typed) {
        buffer_text(text, "--backend ");
        buffer_shell_word(text, pool->options->backend_shown);
        buffer_char(text, ' ');
    } else if (!text_equal(path, CONFIG_FOUND)) {
        buffer_text(text, "--config ");
        buffer_shell_word(text, path);
        buffer_char(text, ' ');
    }
}

static bool is_bound_to_folder(const struct this_pool *pool)
{
    return !pool->options->backend_is_typed && pool->config->path[0] != '/';
}

static void add_advice(struct buffer *text, const struct this_pool *pool)
{
    buffer_printf(text, "\nIn another terminal%s:\n\n",
                  is_bound_to_folder(pool) ? ", in this folder" : "");
    if (pool->config->handler_count > 0) {
        add_client(text, pool);
        buffer_text(text, "enqueue ");
        add_type(text, pool->config);
        buffer_text(text, " '{}' --wait\n");
    }
    add_client(text, pool);
    buffer_text(text, "ls\n");
    add_client(text, pool);
    buffer_text(text, "pools\n\nCtrl-C lets running jobs finish, then stops.\n\n");
}

void greeting_print(const struct this_pool *pool)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(TEXT_MAX);
    const struct config *config = pool->config;

    buffer_printf(&text, "\nTaskHarbor %s is ready: pool %s\n\n", TH_VERSION, pool->name.shown);
    buffer_printf(&text, "  config    %s\n", config->path);
    buffer_printf(&text, "  jobs      %s\n", pool->options->backend_shown);
    buffer_printf(&text, "  workers   %d\n", config->pool.num_workers);
    add_queues(&text, config);
    add_handlers(&text, config);
    add_advice(&text, pool);
    log_say(buffer_str(&text));
}

void greeting_print_drain(const struct this_pool *pool, size_t running)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(TEXT_MAX);
    char patience[UNITS_TEXT_SIZE];

    if (running == 0)
        return;
    buffer_printf(&text,
                  "\nWaits up to %s for %zu running job%s. Ctrl-C again stops %s; nothing is "
                  "lost.\n\n",
                  units_format_duration(pool->config->pool.shutdown_timeout, patience), running,
                  running == 1 ? "" : "s", running == 1 ? "it" : "them");
    log_say(buffer_str(&text));
}

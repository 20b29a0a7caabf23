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
#include "master/master.h"

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
static void add_client(struct buffer *text, const struct master *master)
{
    const char *path = master->config->path;

    buffer_text(text, "  thctl ");
    if (master->options->backend_is_typed) {
        buffer_text(text, "--backend ");
        buffer_shell_word(text, master->options->backend_shown);
        buffer_char(text, ' ');
    } else if (!text_equal(path, CONFIG_FOUND)) {
        buffer_text(text, "--config ");
        buffer_shell_word(text, path);
        buffer_char(text, ' ');
    }
}

static bool is_bound_to_folder(const struct master *master)
{
    return !master->options->backend_is_typed && master->config->path[0] != '/';
}

static void add_advice(struct buffer *text, const struct master *master)
{
    buffer_printf(text, "\nIn another terminal%s:\n\n",
                  is_bound_to_folder(master) ? ", in this folder" : "");
    if (master->config->handler_count > 0) {
        add_client(text, master);
        buffer_text(text, "enqueue ");
        add_type(text, master->config);
        buffer_text(text, " '{}' --wait\n");
    }
    add_client(text, master);
    buffer_text(text, "ls\n");
    add_client(text, master);
    buffer_text(text, "pools\n\nCtrl-C lets running jobs finish, then stops.\n\n");
}

void greeting_print(const struct master *master)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(TEXT_MAX);
    const struct config *config = master->config;

    buffer_printf(&text, "\nTaskHarbor %s is ready: pool %s\n\n", TH_VERSION, master->name.shown);
    buffer_printf(&text, "  config    %s\n", config->path);
    buffer_printf(&text, "  jobs      %s\n", master->options->backend_shown);
    buffer_printf(&text, "  workers   %d\n", config->pool.num_workers);
    add_queues(&text, config);
    add_handlers(&text, config);
    add_advice(&text, master);
    log_say(buffer_str(&text));
}

void greeting_print_drain(const struct master *master)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(TEXT_MAX);
    const size_t running = children_count_running(master);
    char patience[UNITS_TEXT_SIZE];

    if (running == 0)
        return;
    buffer_printf(&text,
                  "\nWaits up to %s for %zu running job%s. Ctrl-C again stops %s; nothing is "
                  "lost.\n\n",
                  units_format_duration(master->config->pool.shutdown_timeout, patience), running,
                  running == 1 ? "" : "s", running == 1 ? "it" : "them");
    log_say(buffer_str(&text));
}

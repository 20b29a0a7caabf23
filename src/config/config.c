/*
 * config.c - jobs.yaml, read and checked.
 *
 *     files --yaml_tree, include, environment--> one tree --field, tables--> struct config --checks
 *
 * Each step goes on after a fault as far as it can, so that one run shows them all.
 */
#include "config/config.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/text.h"
#include "config/checks.h"
#include "config/doors.h"
#include "config/exposure.h"
#include "config/handler_defaults.h"
#include "config/include.h"
#include "config/schedule.h"
#include "config/sections.h"

#include <string.h>
#include <unistd.h>

struct loading {
    struct config *config;
    struct diagnostics *diagnostics;
    const struct node *root;
};

/* The entries of a named section, as zeroed structs of `size`. NULL: there are none. */
static void *make_entries(const struct loading *loading, const char *key, size_t size,
                          const struct node **first_out, size_t *count_out)
{
    const struct node *map = node_find(loading->root, key);
    size_t count = 0;

    if (!map || map->broken || node_is_null(map))
        return NULL;
    if (map->kind != NODE_MAP) {
        diagnostics_add(loading->diagnostics, map->place, "%s: expected a map, not %s", key,
                        node_kind_name(map));
        return NULL;
    }
    for (const struct node *member = map->first; member; member = member->next)
        count++;
    void *entries = count == 0 ? NULL : arena_alloc(&loading->config->arena, count * size);
    *first_out = map->first;
    *count_out = entries ? count : 0;
    return entries;
}

/* "handlers.email:send" */
static const char *entry_name(const struct loading *loading, const char *section,
                              const struct node *entry)
{
    CLEANUP(buffer_done) struct buffer name = BUFFER((size_t)2 * EXCERPT_SIZE);
    char shown[EXCERPT_SIZE];

    buffer_printf(&name, "%s.%s", section, excerpt_of(entry->key->text, shown));
    return arena_text(&loading->diagnostics->arena, buffer_str(&name));
}

/* Fills one entry; its name is returned. */
static const char *fill_entry(const struct loading *loading, const char *section,
                              const struct field *fields, const struct node *entry, void *into)
{
    const struct field_scope scope = {.arena = &loading->config->arena,
                                      .diagnostics = loading->diagnostics,
                                      .name = entry_name(loading, section, entry)};

    field_fill(&scope, fields, entry, into);
    return arena_text(scope.arena, entry->key->text);
}

static void check_name(const struct loading *loading, const char *section, const struct node *entry)
{
    struct error reason;

    if (!job_name_check(entry->key->text, JOB_NAME_MAX, &reason))
        diagnostics_add(loading->diagnostics, entry->key->place, "%s: %s", section, reason.text);
}

/* Without any there is the queue that jobs go to when nobody says. */
static void fill_queues(const struct loading *loading)
{
    struct config *config = loading->config;
    const struct node *entry = NULL;
    const struct field_scope scope = {
        .arena = &config->arena, .diagnostics = loading->diagnostics, .name = "queues.default"};

    config->queues =
        make_entries(loading, "queues", sizeof *config->queues, &entry, &config->queue_count);
    for (size_t i = 0; i < config->queue_count && entry; i++, entry = entry->next) {
        check_name(loading, "queues", entry);
        config->queues[i].name =
            fill_entry(loading, "queues", queue_fields, entry, &config->queues[i]);
    }
    if (config->queue_count > 0)
        return;
    config->queues = arena_alloc(&config->arena, sizeof *config->queues);
    if (!config->queues)
        return;
    field_fill(&scope, queue_fields, NULL, &config->queues[0]);
    config->queues[0].name = JOB_QUEUE_DEFAULT;
    config->queue_count = 1;
}

static void check_pattern(const struct loading *loading, const struct node *entry)
{
    char shown[EXCERPT_SIZE];

    if (!checks_pattern_is_valid(entry->key->text))
        diagnostics_add(loading->diagnostics, entry->key->place,
                        "handlers: '%s' is not a type: " JOB_NAME_ALLOWED
                        ", and at the end maybe a *",
                        excerpt_of(entry->key->text, shown));
}

static void fill_handlers(const struct loading *loading)
{
    struct config *config = loading->config;
    const struct node *entry = NULL;

    config->handlers =
        make_entries(loading, "handlers", sizeof *config->handlers, &entry, &config->handler_count);
    for (size_t i = 0; i < config->handler_count && entry; i++, entry = entry->next) {
        check_pattern(loading, entry);
        handler_defaults_begin(&config->defaults, &config->handlers[i]);
        config->handlers[i].pattern =
            fill_entry(loading, "handlers", handler_fields, entry, &config->handlers[i]);
        handler_defaults_end(&config->defaults, entry, &config->handlers[i], &config->arena);
    }
}

static void fill_cron(const struct loading *loading)
{
    struct config *config = loading->config;
    const struct node *entry = NULL;

    config->cron = make_entries(loading, "cron", sizeof *config->cron, &entry, &config->cron_count);
    for (size_t i = 0; i < config->cron_count && entry; i++, entry = entry->next) {
        check_name(loading, "cron", entry);
        config->cron[i].name = fill_entry(loading, "cron", cron_fields, entry, &config->cron[i]);
        schedule_read(&config->cron[i], entry, &config->arena, loading->diagnostics);
    }
}

static void fill(const struct loading *loading, const char *path)
{
    struct config *config = loading->config;
    const struct field_scope scope = {
        .arena = &config->arena, .diagnostics = loading->diagnostics, .name = ""};

    config->path = arena_text(&config->arena, path);
    config->folder = arena_text(&config->arena, loading->root->place.source->folder);
    field_fill(&scope, top_fields, loading->root, config);
    config->has_backend = node_find(loading->root, "backend") != NULL;
    config->has_http = node_find(loading->root, "http") != NULL;
    config->has_faktory = node_find(loading->root, "faktory") != NULL;
    fill_queues(loading);
    fill_handlers(loading);
    fill_cron(loading);
    checks_run(config, loading->root, loading->diagnostics);
    doors_settle(config);
    config->exposed = loading->diagnostics->exposed
                          ? arena_text(&config->arena, loading->diagnostics->exposed)
                          : exposure_find(config);
}

static void prepare_run(struct config *config, const struct node *root,
                        struct diagnostics *diagnostics)
{
    checks_run_use(config, root, diagnostics);
    doors_read_tokens(config, root, diagnostics);
}

bool config_load(const char *path, const struct config_reader *reader, struct config *config_out,
                 struct diagnostics *diagnostics)
{
    struct loading loading = {.config = config_out, .diagnostics = diagnostics};
    struct node *root = NULL;

    *config_out = (struct config){0};
    if (include_read(path, diagnostics, &root)) {
        loading.root = root;
        diagnostics->root = root;
        fill(&loading, path);
        if (reader->use == CONFIG_TO_RUN)
            prepare_run(config_out, root, diagnostics);
        if (reader->check)
            reader->check(reader->context, config_out, diagnostics);
    }
    if (config_out->arena.failed || diagnostics->arena.failed)
        diagnostics->failed = true;
    if (diagnostics_is_empty(diagnostics))
        return true;
    diagnostics_sort(diagnostics);
    config_done(config_out);
    return false;
}

const char *config_find_file(void)
{
    static const char *const paths[] = {"jobs.yaml", "/etc/taskharbor/jobs.yaml"};

    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        if (access(paths[i], F_OK) == 0)
            return paths[i];
    }
    return NULL;
}

struct place config_place(const struct diagnostics *diagnostics, const char *const *keys)
{
    const struct node *at = diagnostics->root;
    struct place place = {at->place.source, 0, 0};

    for (; *keys && (at = node_find(at, *keys)) != NULL; keys++)
        place = at->kind == NODE_MAP ? at->key->place : at->place;
    return place;
}

bool config_wants_json(const struct diagnostics *diagnostics)
{
    const struct node *format = node_find(node_find(diagnostics->root, "log"), "format");

    return format && text_equal(format->text, "json");
}

const struct queue_config *config_find_queue(const struct config *config, const char *name)
{
    for (size_t i = 0; i < config->queue_count; i++) {
        if (text_equal(config->queues[i].name, name))
            return &config->queues[i];
    }
    return NULL;
}

const struct cron_config *config_find_cron(const struct config *config, const char *name)
{
    for (size_t i = 0; i < config->cron_count; i++) {
        if (text_equal(config->cron[i].name, name))
            return &config->cron[i];
    }
    return NULL;
}

struct job_limits config_default_limits(const struct config *config)
{
    return (struct job_limits){
        .timeout = config->defaults.timeout,
        .max_attempts = config->defaults.max_attempts,
        .max_stalls = config->defaults.max_stalls,
    };
}

struct job_limits config_handler_limits(const struct handler_config *handler)
{
    return (struct job_limits){
        .timeout = handler->timeout,
        .max_attempts = handler->max_attempts,
        .max_stalls = handler->max_stalls,
    };
}

struct job config_cron_job(const struct cron_config *cron)
{
    struct job job = job_defaults();

    job.type = cron->type;
    job.queue = cron->queue;
    job.payload = cron->payload;
    job.priority = cron->priority;
    job.key = cron->key;
    job.max_attempts = cron->max_attempts;
    return job;
}

struct cron_entry config_cron_entry(const struct cron_config *cron)
{
    return (struct cron_entry){
        .name = cron->name,
        .schedule = cron->schedule,
        .timezone = cron->timezone,
        .type = cron->type,
        .queue = cron->queue,
        .times = &cron->times,
        .zone = cron->zone,
        .enabled = cron->enabled,
    };
}

void config_done(struct config *config)
{
    arena_done(&config->arena);
    *config = (struct config){0};
}

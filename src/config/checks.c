/*
 * checks.c - what no single key can tell: values that do not fit each other.
 *
 * A value that was refused by its own row is 0 or NULL here and is skipped: one fault, one message.
 */
#include "config/checks.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/excerpt.h"
#include "base/text.h"
#include "config/doors.h"
#include "config/on_dead_circle.h"
#include "config/sections.h"

#include <string.h>

#define KILL_SHARE 6 /* of a lease: TERM, KILL and the last report fit into what is left of it */
#define BEATS_MIN  2 /* that a pool has missed before it is dead */
#define PATH_SHOWN 256

static const char *const handler_kinds[] = {"command", "plugin", "resident"};

/* Keys for processes, which would be silently ignored for a plugin, which runs inside the
 * worker. */
static const char *const process_keys[] = {
    "env", "dead_exit_codes", "result", "no_new_privs", "user", "cwd", "umask", "nice", "limits",
};

struct checks {
    const struct config *config;
    const struct node *root;
    struct diagnostics *diagnostics;
};

static const struct node *section(const struct checks *checks, const char *key)
{
    const struct node *node = node_find(checks->root, key);

    return node && node->kind == NODE_MAP ? node : NULL;
}

/* Where the first of the two keys is that the config has; defaults fit each other. */
static struct place place_of(const struct node *map, const char *key, const char *other)
{
    const struct node *node = node_find(map, key);

    if (!node)
        node = node_find(map, other);
    if (!node)
        return (struct place){0};
    return node->place;
}

static void check_heartbeat(const struct checks *checks)
{
    const struct pool_config *pool = &checks->config->pool;
    struct place place = place_of(section(checks, "pool"), "heartbeat_interval", "lease");
    char interval[UNITS_TEXT_SIZE], lease[UNITS_TEXT_SIZE];

    if (!place.source || pool->lease == 0 || pool->heartbeat_interval < pool->lease)
        return;
    diagnostics_add(checks->diagnostics, place,
                    "pool.heartbeat_interval (%s) must be shorter than lease (%s)",
                    units_format_duration(pool->heartbeat_interval, interval),
                    units_format_duration(pool->lease, lease));
}

/* One beat that is late must not look like the end of a pool. A heartbeat that is too slow for the
 * lease has been reported. */
static void check_stale_threshold(const struct checks *checks)
{
    const struct pool_config *pool = &checks->config->pool;
    struct place place = place_of(section(checks, "pool"), "stale_threshold", "heartbeat_interval");
    char interval[UNITS_TEXT_SIZE], threshold[UNITS_TEXT_SIZE];

    if (!place.source || pool->stale_threshold == 0 || pool->heartbeat_interval >= pool->lease ||
        pool->heartbeat_interval * BEATS_MIN < pool->stale_threshold)
        return;
    diagnostics_add(checks->diagnostics, place,
                    "pool.stale_threshold (%s) must be over twice heartbeat_interval (%s): one "
                    "late beat must not make a pool dead",
                    units_format_duration(pool->stale_threshold, threshold),
                    units_format_duration(pool->heartbeat_interval, interval));
}

static void check_kill_grace(const struct checks *checks)
{
    const struct pool_config *pool = &checks->config->pool;
    struct place place = place_of(section(checks, "pool"), "kill_grace", "lease");
    char grace[UNITS_TEXT_SIZE], lease[UNITS_TEXT_SIZE];

    if (!place.source || pool->lease == 0 || pool->kill_grace * KILL_SHARE <= pool->lease)
        return;
    diagnostics_add(
        checks->diagnostics, place, "pool.kill_grace (%s) must be at most a sixth of lease (%s)",
        units_format_duration(pool->kill_grace, grace), units_format_duration(pool->lease, lease));
}

static bool is_key(const struct field *fields, const char *key)
{
    while (fields->key && !text_equal(fields->key, key))
        fields++;
    return fields->key != NULL;
}

/* Whether an unknown key may have been meant to be one of these: then that has been reported. */
static bool has_misspelt(const struct node *map, const struct field *fields,
                         const char *const *keys, size_t count)
{
    for (const struct node *member = map->first; member; member = member->next) {
        if (!is_key(fields, member->key->text) && text_closest(member->key->text, keys, count))
            return true;
    }
    return false;
}

/* Of command, plugin and resident a handler has exactly one. */
static void check_handler(const struct checks *checks, const struct node *handler)
{
    const struct node *found = NULL;
    const char *first = NULL;
    char shown[EXCERPT_SIZE];

    excerpt_of(handler->key->text, shown);
    for (size_t i = 0; i < COUNT_OF(handler_kinds); i++) {
        const struct node *node = node_find(handler, handler_kinds[i]);

        if (!node)
            continue;
        if (found)
            diagnostics_add(checks->diagnostics, node->key->place,
                            "handlers.%s: has both %s and %s: keep one of them", shown, first,
                            handler_kinds[i]);
        found = node;
        first = handler_kinds[i];
    }
    if (!found && !has_misspelt(handler, handler_fields, handler_kinds, COUNT_OF(handler_kinds)))
        diagnostics_add(checks->diagnostics, handler->key->place,
                        "handlers.%s: needs one of command, plugin and resident", shown);
}

static void check_plugin(const struct checks *checks, const struct node *handler)
{
    char shown[EXCERPT_SIZE];

    if (!node_find(handler, "plugin"))
        return;
    excerpt_of(handler->key->text, shown);
    for (size_t i = 0; i < COUNT_OF(process_keys); i++) {
        const struct node *node = node_find(handler, process_keys[i]);

        if (node)
            diagnostics_add(checks->diagnostics, node->key->place,
                            "handlers.%s.%s: is not for a plugin, which runs inside the worker",
                            shown, process_keys[i]);
    }
}

/* Middleware is a function around a run: it cannot be left before that has ended. */
static void check_concurrency(const struct checks *checks, const struct node *handler)
{
    const struct node *node = node_find(handler, "concurrency");
    char shown[EXCERPT_SIZE];

    if (!node || text_equal(node->text, "1"))
        return;
    excerpt_of(handler->key->text, shown);
    if (!node_find(handler, "resident"))
        diagnostics_add(checks->diagnostics, node->key->place,
                        "handlers.%s.concurrency: is for a resident; of anything else each worker "
                        "runs one job at a time (raise pool.num_workers)",
                        shown);
    else if (checks->config->pool.middleware.count > 0)
        diagnostics_add(checks->diagnostics, node->key->place,
                        "handlers.%s.concurrency: cannot go with pool.middleware, which is wrapped "
                        "around one job at a time: remove one of them",
                        shown);
}

static void check_on_dead(const struct checks *checks, const struct handler_config *handler,
                          const struct node *node)
{
    CLEANUP(buffer_done) struct buffer path = BUFFER(PATH_SHOWN);
    const struct node *on_dead = node_find(node, "on_dead");

    if (!on_dead || !on_dead_circle_starts(checks->config, handler, &path))
        return;
    diagnostics_add(checks->diagnostics, on_dead->place,
                    "handlers.%s.on_dead: leads in a circle if these jobs die too: %s%s (give one "
                    "of them a handler without on_dead)",
                    handler->pattern, buffer_str(&path), path.failed ? "..." : "");
}

static void check_circles(const struct checks *checks)
{
    const struct node *handlers = section(checks, "handlers");

    for (size_t i = 0; i < checks->config->handler_count; i++) {
        const struct handler_config *handler = &checks->config->handlers[i];
        check_on_dead(checks, handler, node_find(handlers, handler->pattern));
    }
}

static void check_handlers(const struct checks *checks)
{
    const struct node *handlers = section(checks, "handlers");

    for (const struct node *at = handlers ? handlers->first : NULL; at; at = at->next) {
        if (at->kind != NODE_MAP && !node_is_null(at))
            continue;
        check_handler(checks, at);
        check_plugin(checks, at);
        check_concurrency(checks, at);
    }
}

static void check_cron_entry(const struct checks *checks, const struct cron_config *cron,
                             const struct node *entry)
{
    const struct node *payload = node_find(entry, "payload"), *key = node_find(entry, "key");

    if (payload && checks->config->max_payload > 0 &&
        cron->payload.length > checks->config->max_payload)
        diagnostics_add(checks->diagnostics, payload->place,
                        "cron.%s.payload: is %zu bytes long, which is over max_payload", cron->name,
                        cron->payload.length);
    if (key && cron->key && strlen(cron->key) > JOB_KEY_MAX)
        diagnostics_add(checks->diagnostics, key->place,
                        "cron.%s.key: is %zu bytes long: use 1 to %d", cron->name,
                        strlen(cron->key), JOB_KEY_MAX);
}

/* The entries of the config are in the order of the tree. */
static void check_cron(const struct checks *checks)
{
    const struct node *entries = section(checks, "cron");
    const struct node *entry = entries ? entries->first : NULL;

    for (size_t i = 0; i < checks->config->cron_count && entry; i++, entry = entry->next)
        check_cron_entry(checks, &checks->config->cron[i], entry);
}

void checks_run(const struct config *config, const struct node *root,
                struct diagnostics *diagnostics)
{
    const struct checks checks = {config, root, diagnostics};

    check_heartbeat(&checks);
    check_stale_threshold(&checks);
    check_kill_grace(&checks);
    check_handlers(&checks);
    check_circles(&checks);
    check_cron(&checks);
    doors_check(config, root, diagnostics);
}

void checks_run_use(const struct config *config, const struct node *root,
                    struct diagnostics *diagnostics)
{
    static const char *const section_of_handlers = "handlers";
    const struct node *handlers = node_find(root, section_of_handlers);
    const bool is_empty =
        !handlers || node_is_null(handlers) || (handlers->kind == NODE_MAP && !handlers->first);

    if (!is_empty || config->has_http || config->has_faktory ||
        (!handlers && has_misspelt(root, top_fields, &section_of_handlers, 1)))
        return;
    diagnostics_add(diagnostics,
                    handlers ? handlers->key->place : (struct place){root->place.source, 0, 0},
                    "there are no handlers, so no job could run: add one under 'handlers:', such "
                    "as hello: {command: cat}");
}

bool checks_pattern_is_valid(const char *pattern)
{
    char start[JOB_NAME_MAX + 1];
    const size_t length = strlen(pattern);

    if (length == 0 || pattern[length - 1] != '*')
        return job_name_is_valid(pattern);
    if (length - 1 > JOB_NAME_MAX)
        return false;
    memcpy(start, pattern, length - 1);
    start[length - 1] = '\0';
    return length == 1 || job_name_is_valid(start);
}

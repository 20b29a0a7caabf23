/*
 * checks.c - what no single key can tell: values that do not fit each other.
 *
 * A value that was refused by its own row is 0 or NULL here and is passed over: one fault, one
 * message.
 */
#include "config/checks.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/excerpt.h"
#include "base/text.h"
#include "config/on_dead_circle.h"

#include <string.h>

#define KILL_SHARE 6 /* of a lease: TERM, KILL and the last report fit into what is left of it */
#define PORT_MAX   65535
#define PATH_SHOWN 256

static const char *const handler_kinds[] = {"command", "plugin", "resident"};

/* What is for processes, and would be left out silently where a plugin runs inside the worker. */
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

    return node != NULL && node->kind == NODE_MAP ? node : NULL;
}

/* Where the first of two keys stands that is there; a pair of defaults fits. */
static struct place place_of(const struct node *map, const char *key, const char *other)
{
    const struct node *node = node_find(map, key);

    if (node == NULL)
        node = node_find(map, other);
    if (node == NULL)
        return (struct place){0};
    return node->place;
}

static void check_heartbeat(const struct checks *checks)
{
    const struct pool_config *pool = &checks->config->pool;
    struct place place = place_of(section(checks, "pool"), "heartbeat_interval", "lease");
    char interval[UNITS_TEXT_SIZE], lease[UNITS_TEXT_SIZE];

    if (place.source == NULL || pool->lease == 0 || pool->heartbeat_interval < pool->lease)
        return;
    diagnostics_add(checks->diagnostics, place,
                    "pool.heartbeat_interval (%s) must be shorter than lease (%s)",
                    units_format_duration(pool->heartbeat_interval, interval),
                    units_format_duration(pool->lease, lease));
}

static void check_kill_grace(const struct checks *checks)
{
    const struct pool_config *pool = &checks->config->pool;
    struct place place = place_of(section(checks, "pool"), "kill_grace", "lease");
    char grace[UNITS_TEXT_SIZE], lease[UNITS_TEXT_SIZE];

    if (place.source == NULL || pool->lease == 0 || pool->kill_grace * KILL_SHARE <= pool->lease)
        return;
    diagnostics_add(
        checks->diagnostics, place, "pool.kill_grace (%s) must be at most a sixth of lease (%s)",
        units_format_duration(pool->kill_grace, grace), units_format_duration(pool->lease, lease));
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

        if (node == NULL)
            continue;
        if (found != NULL)
            diagnostics_add(checks->diagnostics, node->key->place,
                            "handlers.%s: has both %s and %s: keep one of them", shown, first,
                            handler_kinds[i]);
        found = node;
        first = handler_kinds[i];
    }
    if (found == NULL)
        diagnostics_add(checks->diagnostics, handler->key->place,
                        "handlers.%s: needs one of command, plugin and resident", shown);
}

static void check_plugin(const struct checks *checks, const struct node *handler)
{
    char shown[EXCERPT_SIZE];

    if (node_find(handler, "plugin") == NULL)
        return;
    excerpt_of(handler->key->text, shown);
    for (size_t i = 0; i < COUNT_OF(process_keys); i++) {
        const struct node *node = node_find(handler, process_keys[i]);

        if (node != NULL)
            diagnostics_add(checks->diagnostics, node->key->place,
                            "handlers.%s.%s: is not for a plugin, which runs inside the worker",
                            shown, process_keys[i]);
    }
}

static void check_on_dead(const struct checks *checks, const struct handler_config *handler,
                          const struct node *node)
{
    CLEANUP(buffer_done) struct buffer path = BUFFER(PATH_SHOWN);
    const struct node *on_dead = node_find(node, "on_dead");

    if (on_dead == NULL || !on_dead_circle_starts(checks->config, handler, &path))
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

    for (const struct node *at = handlers == NULL ? NULL : handlers->first; at != NULL;
         at = at->next) {
        if (at->kind != NODE_MAP && !node_is_null(at))
            continue;
        check_handler(checks, at);
        check_plugin(checks, at);
    }
}

static void check_cron_entry(const struct checks *checks, const struct cron_config *cron,
                             const struct node *entry)
{
    const struct node *payload = node_find(entry, "payload"), *key = node_find(entry, "key");

    if (payload != NULL && checks->config->max_payload > 0 &&
        cron->payload.length > checks->config->max_payload)
        diagnostics_add(checks->diagnostics, payload->place,
                        "cron.%s.payload: is %zu bytes long, which is over max_payload", cron->name,
                        cron->payload.length);
    if (key != NULL && cron->key != NULL && strlen(cron->key) > JOB_KEY_MAX)
        diagnostics_add(checks->diagnostics, key->place,
                        "cron.%s.key: is %zu bytes long: use 1 to %d", cron->name,
                        strlen(cron->key), JOB_KEY_MAX);
}

/* The entries of the config are in the order of the tree. */
static void check_cron(const struct checks *checks)
{
    const struct node *entries = section(checks, "cron");
    const struct node *entry = entries == NULL ? NULL : entries->first;

    for (size_t i = 0; i < checks->config->cron_count && entry != NULL; i++, entry = entry->next)
        check_cron_entry(checks, &checks->config->cron[i], entry);
}

/* HOST:PORT, [ADDRESS]:PORT or unix:PATH. */
static bool is_address(const char *listen)
{
    const char *colon = strrchr(listen, ':');
    int64_t port;

    if (text_starts_with(listen, "unix:"))
        return listen[strlen("unix:")] != '\0';
    if (colon == NULL || colon == listen || !text_to_int(colon + 1, 0, PORT_MAX, &port))
        return false;
    if (listen[0] == '[')
        return colon[-1] == ']' && colon - listen > 3;
    return strcspn(listen, ":[]") == (size_t)(colon - listen);
}

/* Written so that a name such as 127.evil.example does not pass for an address. */
static bool is_private(const char *listen)
{
    const size_t host = (size_t)(strrchr(listen, ':') - listen);

    if (text_starts_with(listen, "unix:") || text_starts_with(listen, "[::1]:") ||
        text_starts_with(listen, "localhost:"))
        return true;
    return text_starts_with(listen, "127.") && strspn(listen, "0123456789.") == host;
}

static void check_http(const struct checks *checks)
{
    const struct http_config *http = &checks->config->http;
    const struct node *map = section(checks, "http");
    const struct node *listen = node_find(map, "listen");
    char shown[EXCERPT_SIZE];

    if (listen == NULL || http->listen == NULL)
        return;
    excerpt_of(http->listen, shown);
    if (!is_address(http->listen))
        diagnostics_add(checks->diagnostics, listen->place,
                        "http.listen: '%s' is no address: write HOST:PORT, [ADDRESS]:PORT or "
                        "unix:PATH",
                        shown);
    else if (!is_private(http->listen) && node_find(map, "token_file") == NULL)
        diagnostics_add(checks->diagnostics, listen->place,
                        "http.listen: other machines can reach '%s': set token_file, or listen on "
                        "127.0.0.1",
                        shown);
}

void checks_run(const struct config *config, const struct node *root,
                struct diagnostics *diagnostics)
{
    const struct checks checks = {config, root, diagnostics};

    check_heartbeat(&checks);
    check_kill_grace(&checks);
    check_handlers(&checks);
    check_circles(&checks);
    check_cron(&checks);
    check_http(&checks);
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

/*
 * plugins.c - the plugins that this worker has loaded.
 */
#include "worker/plugins.h"

#include "base/clock.h"
#include "base/error.h"
#include "config/config.h"
#include "process/process.h"
#include "worker/call.h"
#include "worker/handler.h"
#include "worker/inside.h"
#include "worker/plugin.h"

#include <stdlib.h>

/* One that was initialised. */
struct loaded {
    const struct th_plugin *plugin;
    uint32_t id;         /* of the first use */
    struct loaded *next; /* owned; the one before it */
};

struct plugins {
    const struct process *process;
    struct loaded *newest;         /* owned */
    struct plugin_use *middleware; /* owned; as many as the config has */
    size_t middleware_loaded;
};

bool plugins_open(const struct process *process, struct plugins **plugins_out, struct error *err)
{
    const size_t count = process->config->pool.middleware.count;
    struct plugins *plugins = calloc(1, sizeof *plugins);

    if (!plugins)
        return error_no_memory(err);
    *plugins_out = plugins;
    plugins->process = process;
    plugins->middleware = calloc(count + 1, sizeof *plugins->middleware);
    if (!plugins->middleware)
        return error_no_memory(err);
    return !plugin_id_any(process->config) || inside_prepare(process, err);
}

static bool is_loaded(const struct plugins *plugins, const struct th_plugin *plugin)
{
    const struct loaded *loaded = plugins->newest;

    while (loaded && loaded->plugin != plugin)
        loaded = loaded->next;
    return loaded != NULL;
}

static bool add(struct plugins *plugins, const struct plugin_use *use, struct error *err)
{
    struct loaded *loaded = malloc(sizeof *loaded);

    if (!loaded)
        return error_no_memory(err);
    *loaded = (struct loaded){.plugin = use->plugin, .id = use->id, .next = plugins->newest};
    plugins->newest = loaded;
    return true;
}

static bool call_init_of(const struct handler_place *place, const struct plugin_use *use,
                         struct error *err)
{
    struct call call;

    if (!use->plugin->init)
        return true;
    call_init(&call, use->name, place);
    const int code = use->plugin->init(&call.context);
    if (code == 0)
        return true;
    return error_set(err, TH_E_UNAVAILABLE, "init returned %d: %s", code,
                     call.has_error ? call.error : "without saying why");
}

/* Its constructors run here, too. */
static bool load(const struct handler_place *place, struct plugin_use *use, struct error *err)
{
    if (!plugin_load(use->path, &use->plugin, err))
        return false;
    return is_loaded(place->plugins, use->plugin) ||
           (call_init_of(place, use, err) && add(place->plugins, use, err));
}

bool plugins_load(const struct handler_place *place, const char *path, uint32_t id,
                  struct plugin_use *use_out, struct error *err)
{
    struct plugin_use use = {.path = path, .id = id};

    plugin_id_name(path, use.name);
    inside_enter(place->process, id, place->hold, place->until);
    const bool worked = load(place, &use, err);
    inside_leave(place->process);
    if (!worked) {
        error_prefix(err, "plugin %s", use.name);
        return false;
    }
    *use_out = use;
    return true;
}

static bool load_next_middleware(const struct handler_place *place, struct error *err)
{
    struct plugins *plugins = place->plugins;
    const size_t index = plugins->middleware_loaded;
    struct plugin_use use;

    if (!plugins_load(place, plugins->process->config->pool.middleware.items[index],
                      plugin_id_of_middleware(index), &use, err))
        return false;
    if (!use.plugin->middleware)
        return error_set(err, TH_E_INVALID, "plugin %s: it has no middleware", use.name);
    plugins->middleware[plugins->middleware_loaded++] = use;
    return true;
}

bool plugins_load_middleware(const struct handler_place *place, struct error *err)
{
    struct plugins *plugins = place->plugins;

    while (plugins->middleware_loaded < plugins->process->config->pool.middleware.count) {
        if (!load_next_middleware(place, err))
            return error_prefix(err, "pool.middleware");
    }
    return true;
}

const struct plugin_use *plugins_middleware(const struct plugins *plugins, size_t *count_out)
{
    *count_out = plugins->middleware_loaded;
    return plugins->middleware;
}

static void finish(const struct process *process, struct loaded *loaded)
{
    if (loaded->plugin->fini) {
        inside_enter(process, loaded->id, HOLD_NONE,
                     clock_boot() + process->config->pool.kill_grace);
        loaded->plugin->fini();
        inside_leave(process);
    }
    free(loaded);
}

void plugins_close(struct plugins **plugins)
{
    if (!*plugins)
        return;
    for (struct loaded *loaded = (*plugins)->newest, *next; loaded; loaded = next) {
        next = loaded->next;
        finish((*plugins)->process, loaded);
    }
    free((*plugins)->middleware);
    free(*plugins);
    *plugins = NULL;
}

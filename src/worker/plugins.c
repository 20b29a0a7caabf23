/*
 * plugins.c - the plugins that this worker has loaded.
 */
#include "worker/plugins.h"

#include "base/clock.h"
#include "base/error.h"
#include "config/config.h"
#include "process/print_file.h"
#include "process/process.h"
#include "worker/call.h"
#include "worker/handler.h"
#include "worker/inside.h"
#include "worker/lifeline.h"
#include "worker/plugin.h"
#include "worker/printed.h"
#include "worker/staying.h"

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
    struct print_file printed;
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
    if (!plugin_id_any(process->config))
        return true;
    return inside_prepare(process, err) &&
           print_file_open(&plugins->printed, process->printed, err) &&
           print_file_catch(&plugins->printed, err);
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
    printed_collect(&call);
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

static struct staying *staying_of(const struct handler_place *place)
{
    return programs_staying(execution_programs(place->execution));
}

bool plugins_load(const struct handler_place *place, const char *path, uint32_t id,
                  struct plugin_use *use_out, struct error *err)
{
    struct plugin_use use = {.path = path, .id = id};

    plugin_id_name(path, use.name);
    inside_enter(place->process, id, place->hold, place->until);
    const bool worked = load(place, &use, err);
    inside_return(0);
    inside_leave(place->process);
    if (!worked || !staying_add_children(staying_of(place), err)) {
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

/* What threads have printed between two jobs is reported first. */
void plugins_begin_job(struct plugins *plugins, struct hold hold)
{
    const char *plugin = plugins->newest ? plugins->newest->plugin->name : "none";

    printed_pass_on(&plugins->printed, plugin);
    print_file_begin(&plugins->printed, hold);
}

struct print_file *plugins_print_file(struct plugins *plugins)
{
    return &plugins->printed;
}

static void finish(struct plugins *plugins, struct loaded *loaded)
{
    const struct process *process = plugins->process;

    if (loaded->plugin->fini) {
        inside_enter(process, loaded->id, HOLD_NONE,
                     clock_boot() + process->config->pool.kill_grace);
        loaded->plugin->fini();
        inside_return(0);
        inside_leave(process);
        printed_pass_on(&plugins->printed, loaded->plugin->name);
    }
    free(loaded);
}

void plugins_close(struct plugins **plugins)
{
    if (!*plugins)
        return;
    for (struct loaded *loaded = (*plugins)->newest, *next; loaded; loaded = next) {
        next = loaded->next;
        finish(*plugins, loaded);
    }
    print_file_close(&(*plugins)->printed);
    free((*plugins)->middleware);
    free(*plugins);
    *plugins = NULL;
}

/* A function that came back so soon has started nothing. */
static bool may_have_children(const struct handler_place *place, const struct handler *handler,
                              const struct handler_report *report)
{
    const struct config *config = place->process->config;

    if (config->pool.middleware.count > 0)
        return true;
    return handler->kind == &handler_plugin && report->outcome.run.wall >= INSIDE_FORK_TIME;
}

bool plugins_clear_up(const struct handler_place *place, const struct handler *handler,
                      const struct handler_report *report, struct error *err)
{
    const struct staying *staying = staying_of(place);

    if (may_have_children(place, handler, report) && !staying_kill_others(staying, err))
        return error_prefix(err, "kill what a plugin has left behind");
    if (staying->count > 0)
        lifeline_outside(place->process);
    return true;
}

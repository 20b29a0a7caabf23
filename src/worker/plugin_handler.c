/*
 * plugin_handler.c - the kind of handler that is a function in a shared object.
 *
 * Its path is all that is known before the fork: no code of a plugin runs in the master or in a
 * service.
 */
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "config/config.h"
#include "config/plugin_id.h"
#include "process/process.h"
#include "worker/call.h"
#include "worker/handler.h"
#include "worker/inside.h"
#include "worker/plugin.h"
#include "worker/plugins.h"

#include <stdlib.h>

static bool is_for(const struct handler_config *config)
{
    return config->plugin != NULL;
}

static bool prepare(const struct handler_config *config, struct arena *arena,
                    const void **prepared_out, struct error *err)
{
    (void)arena;
    (void)err;
    *prepared_out = config;
    return true;
}

static bool open_plugin(const void *prepared, const struct handler_place *place, void **state_out,
                        struct error *err)
{
    const struct handler_config *config = prepared;
    struct plugin_use *use = malloc(sizeof *use);

    if (!use)
        return error_no_memory(err);
    *state_out = use;
    if (plugins_load(place, config->plugin, plugin_id_of_handler(place->process->config, config),
                     use, err))
        return true;
    free(use);
    return false;
}

static void close_plugin(void *state)
{
    free(state);
}

static bool refuse(const struct plugin_use *use, const struct handler_job *job,
                   struct handler_report *report_out, struct error *err)
{
    error_set(err, TH_E_INVALID, "plugin %s has no handler for type '%s'", use->name, job->type);
    handler_report_unstarted(report_out, err);
    return true;
}

static bool run(const void *prepared, void *state, const struct handler_place *place,
                const struct handler_job *job, const struct handler_listener *listener,
                struct handler_report *report_out, struct error *err)
{
    const struct handler_config *config = prepared;
    const struct plugin_use *use = state;
    const th_function function = plugin_find(use->plugin, job->type);
    CLEANUP(call_done) struct call call;

    call_init_for_job(&call, use->name, place, job, listener, config->retry.base_delay);
    if (!function)
        return refuse(use, job, report_out, err);
    const struct th_job seen = call_job(&call);
    inside_enter(place->process, use->id, place->hold, place->until);
    const enum th_outcome outcome = function(&seen, &call.context);
    inside_return(call.started_at);
    inside_leave(place->process);
    return call_report(&call, outcome, report_out, err);
}

/* The loop does not turn while it runs: it asks by itself, or the master ends it. */
static void stop(void *state, const struct handler_place *place, enum stop_reason why, usec_t grace)
{
    (void)state;
    (void)place;
    (void)why;
    (void)grace;
}

const struct handler_kind handler_plugin = {
    .name = "plugin",
    .is_for = is_for,
    .prepare = prepare,
    .open = open_plugin,
    .close = close_plugin,
    .run = run,
    .stop = stop,
};

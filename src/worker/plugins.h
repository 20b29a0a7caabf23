/*
 * plugins.h - the plugins that this worker has loaded.
 *
 * One is loaded before the first job that needs it, once, however many handlers name it; init is
 * called then, and fini when the worker ends, the last one first.
 *
 * A plugin may leave threads behind, and the worker goes on to run commands beside them: the child
 * that becomes a command shares our memory until exec, but makes system calls only and takes no
 * lock that a thread could hold.
 */
#ifndef WORKER_PLUGINS_H
#define WORKER_PLUGINS_H

#include "base/base.h"
#include "config/plugin_id.h"

#include <taskharbor/plugin.h>

struct error;
struct handler;
struct handler_place;
struct handler_report;
struct hold;
struct plugins;
struct print_file;
struct process;

/* A plugin as one place of the config names it. */
struct plugin_use {
    const char *path;
    uint32_t id;
    char name[PLUGIN_NAME_SIZE];
    const struct th_plugin *plugin; /* NULL: not loaded yet */
};

bool plugins_open(const struct process *process, struct plugins **plugins_out,
                  struct error *err) MUST_CHECK;

/* Loads and initialises it, unless that is done. `id` is from config/plugin_id.h. */
bool plugins_load(const struct handler_place *place, const char *path, uint32_t id,
                  struct plugin_use *use_out, struct error *err) MUST_CHECK;

/* Those of pool.middleware, in its order, all of them loaded: false says why not. */
bool plugins_load_middleware(const struct handler_place *place, struct error *err) MUST_CHECK;
const struct plugin_use *plugins_middleware(const struct plugins *plugins, size_t *count_out);

/* A job is about to run, by whatever handler: what is printed from here on is its own. */
void plugins_begin_job(struct plugins *plugins, struct hold hold);

/* Where they print to. */
struct print_file *plugins_print_file(struct plugins *plugins);

/* Calls fini; nothing is unloaded. */
void plugins_close(struct plugins **plugins);

/* After a job: what a plugin has started for it, and left behind, is killed, as with a command.
 * What it has started in its init stays. */
bool plugins_clear_up(const struct handler_place *place, const struct handler *handler,
                      const struct handler_report *report, struct error *err) MUST_CHECK;

#endif

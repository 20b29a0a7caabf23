/*
 * plugin.h - a shared object that exports a descriptor as <taskharbor/plugin.h> has it.
 *
 * Loading one runs its code: only workers do it, and the child of thd --check.
 */
#ifndef WORKER_PLUGIN_H
#define WORKER_PLUGIN_H

#include "base/base.h"

#include <taskharbor/plugin.h>

struct error;

/* What it exports, checked. It stays loaded for the life of the process. */
bool plugin_load(const char *path, const struct th_plugin **plugin_out,
                 struct error *err) MUST_CHECK;

/* Whether this thd can use it: magic, ABI, size, and that all it names is there. */
bool plugin_check(const struct th_plugin *plugin, struct error *err) MUST_CHECK;

/* Its function for a type: of exactly this type, else of the longest prefix; NULL: none. */
th_function plugin_find(const struct th_plugin *plugin, const char *type);

#endif

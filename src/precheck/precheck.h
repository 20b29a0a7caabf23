/*
 * precheck.h - thd --check: would a pool with this config work here?
 *
 * Looks at what only a start would show: users, folders, programs, plugins, residents, schemas, the
 * backend, and where the jobs go that the config itself brings. No job is run, and nothing is
 * created or changed; residents are started, and ended when they read.
 */
#ifndef PRECHECK_PRECHECK_H
#define PRECHECK_PRECHECK_H

#include "base/base.h"
#include "cli/status.h"

struct backend;
struct config;
struct diagnostics;

struct precheck {
    const struct config *config;
    struct diagnostics *diagnostics; /* that it was loaded with */
    const struct backend *backend;
    bool strict; /* what would be a warning is an error */
};

/* Adds all that is found to the diagnostics, and says in one line what it comes to. STATUS_OK,
 * STATUS_CONFIG, or STATUS_BACKEND when the config is fine and the backend does not answer. The
 * caller shows the diagnostics first, by `show`. */
enum status precheck_run(const struct precheck *precheck,
                         void (*show)(const struct diagnostics *diagnostics));

/* "jobs.yaml: 2 errors, 1 warning", on stderr. */
void precheck_sum_up(const char *path, const struct diagnostics *diagnostics);

#endif

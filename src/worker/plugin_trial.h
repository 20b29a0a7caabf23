/*
 * plugin_trial.h - loads a plugin in a child process, to see whether a worker could.
 */
#ifndef WORKER_PLUGIN_TRIAL_H
#define WORKER_PLUGIN_TRIAL_H

#include "base/base.h"

struct error;

/* What it has to have besides a descriptor that fits. */
struct plugin_wish {
    const char *path;
    const char *type; /* a handler for it; NULL: whatever it has */
    bool middleware;
};

/* False says why not, be it that the child did not survive. init is not called. */
bool plugin_trial(const struct plugin_wish *wish, struct error *err) MUST_CHECK;

#endif

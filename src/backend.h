/*
 * backend.h - where the jobs of thd are: which URL it is, in a form that holds in every folder.
 */
#ifndef BACKEND_H
#define BACKEND_H

#include "base/base.h"

struct config;
struct error;

struct backend {
    char *url;        /* owned; relative SQLite paths are absolute, memory: has a name */
    char *shown;      /* owned; the same without secrets */
    bool from_config; /* not typed, not from the environment */
};

/* `typed`, else $TASKHARBOR_BACKEND, else what the config says. Relative paths in the config start
 * at its folder, others at the current one. Fills `from_config` also when it fails. */
bool backend_choose(const char *typed, const struct config *config, struct backend *backend_out,
                    struct error *err) MUST_CHECK;

/* Whether this config leads to the same jobs; only for one that came from a config. */
bool backend_is_same(const struct backend *backend, const struct config *config);

/* Whether no other thd can use it: memory: without a name. */
bool backend_is_private(const struct backend *backend);

/* From here on nobody but root looks into the memory of this process, or of those that it forks,
 * and none of them leaves a core: if the URL has a secret, or the environment has one for it. What
 * is executed is not concerned. */
bool backend_guard(const struct backend *backend, struct error *err) MUST_CHECK;

void backend_done(struct backend *backend);

#endif

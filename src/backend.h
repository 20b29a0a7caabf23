/*
 * backend.h - where the jobs of thd are: which URL it is, in a form that holds in every folder.
 */
#ifndef BACKEND_H
#define BACKEND_H

#include "base/base.h"
#include "config/backend_offers.h"

struct config;
struct error;

struct backend {
    char *url;   /* owned; relative SQLite paths are absolute, memory: has a name */
    char *shown; /* owned; the same without secrets */
    enum backend_source source;
    char *passed_over; /* owned; what others say instead, for people: "redis://host/0 of
                          TASKHARBOR_BACKEND"; NULL: nobody does */
};

/* The most explicit one. Relative paths in the config start at its folder, others at the current
 * one. Fills `source` even when it fails. */
bool backend_choose(const struct backend_offers *offers, const struct config *config,
                    struct backend *backend_out, struct error *err) MUST_CHECK;

/* Whether a new config, with the command line and the environment, leads to the same jobs. A
 * --backend always does, whatever the config says. */
bool backend_is_same(const struct backend *backend, const struct backend_offers *offers,
                     const struct config *config);

/* Whether the fault is the config's if something is wrong with it. */
bool backend_is_from_config(const struct backend *backend);

/* "--backend", "TASKHARBOR_BACKEND", or the path of the config. */
const char *backend_source_name(enum backend_source source, const struct config *config);

/* Whether no other thd can use it: memory: without a name. */
bool backend_is_private(const struct backend *backend);

/* From here on nobody but root looks into the memory of this process, or of those that it forks,
 * and none of them leaves a core: if the URL has a secret, or the environment has one for it.
 * Programs that they execute are not affected. */
bool backend_guard(const struct backend *backend, struct error *err) MUST_CHECK;

void backend_done(struct backend *backend);

#endif

/*
 * handlers.h - all handlers of a config, made ready to run.
 */
#ifndef WORKER_HANDLERS_H
#define WORKER_HANDLERS_H

#include "base/base.h"

struct arena;
struct config;
struct error;
struct handler;

/* In the order of config->handlers. */
struct worker_handlers {
    const struct handler *items;
    size_t count;
};

/* Looks users up, reads schemas and such, once, before anything is forked: what it finds points
 * into the config and the arena. The text names the handler and what is wrong with it. */
bool handlers_prepare(const struct config *config, struct arena *arena,
                      const struct worker_handlers **handlers_out, struct error *err) MUST_CHECK;

#endif

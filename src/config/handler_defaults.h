/*
 * handler_defaults.h - what `defaults:` says of processes, for a handler that does not say itself.
 */
#ifndef CONFIG_HANDLER_DEFAULTS_H
#define CONFIG_HANDLER_DEFAULTS_H

#include "config/config.h"
#include "config/yaml_tree.h"

/* Before the handler is filled from its entry: what the entry leaves out stays. */
void handler_defaults_begin(const struct defaults_config *defaults, struct handler_config *handler);

/* After that. Variables are added by name; those that the handler has itself win, by `env` or by
 * `pass_env`. What is made lives in the arena. */
void handler_defaults_end(const struct defaults_config *defaults, const struct node *entry,
                          struct handler_config *handler, struct arena *arena);

#endif

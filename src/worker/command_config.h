/*
 * command_config.h - a handler's section of the config as a struct command.
 */
#ifndef WORKER_COMMAND_CONFIG_H
#define WORKER_COMMAND_CONFIG_H

#include "base/base.h"

struct arena;
struct command;
struct command_line;
struct error;
struct handler_config;

/* Looks its user up. `line` is what of the section is to be run. What is pointed to lives in the
 * config or the arena. */
bool command_config_read(const struct handler_config *config, const struct command_line *line,
                         struct arena *arena, struct command *command_out,
                         struct error *err) MUST_CHECK;

/* Whether two of them, with these arguments, start the same program in the same way: as the same
 * user, in the same folder, with the same environment and limits. */
bool command_config_is_same(const char *const *argv, const struct command *command,
                            const char *const *other_argv, const struct command *other);

#endif

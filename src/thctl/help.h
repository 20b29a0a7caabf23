/*
 * help.h - what thctl says about itself, from the tables that it works by.
 */
#ifndef THCTL_HELP_H
#define THCTL_HELP_H

#include "thctl/command.h"

#include <stdio.h>

struct buffer;

/* The commands, the global options and the exit codes. */
void help_add_overview(struct buffer *out, const struct command *const *commands, size_t count,
                       const struct option *global);

/* One command. */
void help_add_command(struct buffer *out, const struct command *command,
                      const struct option *global);

#endif

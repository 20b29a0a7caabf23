/*
 * completion.h - what bash needs to complete thctl's command lines, from the tables it works by.
 */
#ifndef THCTL_COMPLETION_H
#define THCTL_COMPLETION_H

#include "thctl/command.h"

struct buffer;

/* A script for bash to read. */
void completion_add(struct buffer *out, const struct command *const *commands, size_t count,
                    const struct option *global);

#endif

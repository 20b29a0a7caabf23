/*
 * bulk.h - `thctl enqueue --bulk`: many jobs from one file.
 */
#ifndef THCTL_BULK_H
#define THCTL_BULK_H

#include "thctl/command.h"
#include "thctl/session.h"

/* `options` are those of template.h; `type` is of lines that do not say, or NULL. */
enum status bulk_run(struct session *session, const struct option_value *options, const char *type);

#endif

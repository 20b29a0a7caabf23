/*
 * bulk.h - `thctl enqueue --bulk` and `--lines`: many jobs from one file.
 */
#ifndef THCTL_BULK_H
#define THCTL_BULK_H

#include "thctl/command.h"
#include "thctl/session.h"

/* What a line is. */
enum bulk_form {
    BULK_JOBS,     /* a JSON object that says all about a job */
    BULK_PAYLOADS, /* a payload; the rest is in the options */
};

struct bulk_source {
    enum bulk_form form;
    const char *path; /* "-" is stdin */
    const char *type; /* of lines that do not say, or NULL */
};

/* `options` are those of template.h. */
enum status bulk_run(struct session *session, const struct option_value *options,
                     const struct bulk_source *source);

#endif

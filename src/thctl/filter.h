/*
 * filter.h - the options that pick jobs, the same words in every command.
 *
 * A command's table begins with these rows: the values are read by their index.
 */
#ifndef THCTL_FILTER_H
#define THCTL_FILTER_H

#include "base/base.h"
#include "cli/options.h"
#include "store/store.h"
#include "thctl/session.h"

enum filter_option {
    FILTER_QUEUE,
    FILTER_TYPE,
    FILTER_TAG,
    FILTER_KEY,
    FILTER_ERROR,
    FILTER_SINCE,
    FILTER_UNTIL,
    FILTER_OPTIONS, /* the first of the command's own */
};

/* clang-format off */
#define FILTER_ROWS                                                                                                    \
    [FILTER_QUEUE] = {"queue", 'q', "NAME", "only of this queue", OPTION_NAME},                                        \
    [FILTER_TYPE] = {"type", 't', "TYPE", "only of this type", OPTION_NAME},                                           \
    [FILTER_TAG] = {"tag", 0, "NAME", "only with this tag", OPTION_NAME},                                              \
    [FILTER_KEY] = {"key", 'k', "KEY", "only with this key", OPTION_TEXT},                                             \
    [FILTER_ERROR] = {"error", 'e', "TEXT", "only with this in its last error", OPTION_TEXT},                          \
    [FILTER_SINCE] = {"since", 0, "WHEN", "from then on: -1h, 09:00, 2026-01-31T10:00:00Z", OPTION_TEXT},              \
    [FILTER_UNTIL] = {"until", 0, "WHEN", "and before: in the same words", OPTION_TEXT}
/* clang-format on */

/* Which time since and until mean, for the help of a command. */
#define FILTER_HELP                                                                                \
    "since and until mean the time that the order goes by: when a waiting job is\n"                \
    "due, a running one started, an ended one ended; without a state, or with a tag,\n"            \
    "when the job's id was made.\n"

/* What was given; state, order and the rest are the caller's. The error is a sentence. */
bool filter_read(const struct option_value *options, usec_t now, struct job_filter *filter_out,
                 struct error *err) MUST_CHECK;

bool filter_is_given(const struct option_value *options);

#define FILTER_QUESTION_SIZE (JOB_NAME_MAX + 48)

/* For a person who picked no jobs at all: " (did you mean '--queue mail'?)", or "" if no queue or
 * type in use has a name like the one given. */
const char *filter_question(struct session *session, const struct option_value *options,
                            char text[FILTER_QUESTION_SIZE]);

#endif

/*
 * command.h - a command of thctl: its name, its options, its function.
 *
 * Everything a user is told about a command is read from its table: the parser, the help, the
 * manual's usage line and "did you mean". A command's file ends with its table.
 */
#ifndef THCTL_COMMAND_H
#define THCTL_COMMAND_H

#include "base/base.h"
#include "cli/options.h"
#include "cli/status.h"

struct session;

#define COMMAND_OPTIONS_MAX 24 /* rows in the table of one command */

struct command {
    const char *name;
    const char *summary;         /* for the list of commands */
    const char *arguments;       /* "TYPE [PAYLOAD | -]", or "" */
    const char *details;         /* a paragraph for its help, lines ended; NULL: none */
    const char *const *examples; /* what follows "thctl "; ended by NULL */
    const struct option *options;
    size_t min_arguments, max_arguments;
    bool needs_no_backend;
    bool takes_command;       /* its arguments are names of commands */
    const char *const *words; /* that its first argument may be; ended by NULL. NULL: any */
    enum status (*run)(struct session *session, const struct option_value *options,
                       const struct words *arguments);
};

extern const struct command command_enqueue;
extern const struct command command_ls;
extern const struct command command_show;
extern const struct command command_why;
extern const struct command command_logs;
extern const struct command command_cancel;
extern const struct command command_run_now;
extern const struct command command_retry;
extern const struct command command_rm;
extern const struct command command_stats;
extern const struct command command_queues;
extern const struct command command_pools;
extern const struct command command_cron;
extern const struct command command_top;
extern const struct command command_pause;
extern const struct command command_resume;
extern const struct command command_init;
extern const struct command command_migrate;

#endif

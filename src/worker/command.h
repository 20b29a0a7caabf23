/*
 * command.h - runs a job as a command: a process per job.
 *
 *     payload -> stdin      what it prints -> lines, tails      descriptor 3 -> steering
 *
 * and its end becomes an outcome:
 *
 *     stopped on request          cancelled; released when the lease is lost or the pool drains
 *     timeout, signal             failed, whatever it said before
 *     the last of dead, snooze    as it said, whatever the exit code
 *     exit 0                      done
 *     exit 65, dead_exit_codes    permanent
 *     exit 75                     snoozed by base_delay
 *     126, 127 of a shell string  within a second: not started
 *     any other exit code         failed
 *
 * A command that could not be started is released and marked as such: it is not the job's fault.
 */
#ifndef WORKER_COMMAND_H
#define WORKER_COMMAND_H

#include "base/base.h"
#include "process/spawn.h"
#include "worker/handler.h"

struct error;
struct execution;

#define COMMAND_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

struct command_variable {
    const char *name;
    const char *value;
};

/* A handler, as its configuration says. Zeroed is "not set", except for the umask. */
struct command {
    const char *const *argv; /* ends in NULL; or NULL and a shell string: */
    const char *shell;
    const struct command_variable *env;
    size_t env_count;
    const char *const *pass_env; /* names of variables of our own */
    size_t pass_env_count;
    const int *dead_exit_codes;
    size_t dead_exit_code_count;
    bool result_is_stdout;
    bool may_gain_privileges;
    const struct account *account; /* whom it runs as; account_find(NULL) is ourselves */
    const char *cwd;
    int umask; /* or SPAWN_KEEP */
    int nice;
    struct spawn_limits limits;
    usec_t base_delay; /* what exit 75 waits */
};

/* How it is started; descriptors aside. */
struct spawn command_spawn(const struct command *command, const char *const *argv,
                           const char *const *environment);

/* To its end, in the loop of `execution`. False when this process cannot go on. */
bool command_run(const struct command *command, const struct handler_job *job,
                 struct execution *execution, const struct handler_listener *listener,
                 struct handler_report *report_out, struct error *err) MUST_CHECK;

#endif

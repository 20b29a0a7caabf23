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

#include "base/arena.h"
#include "base/base.h"
#include "job/outcome.h"
#include "process/spawn.h"

struct error;
struct execution;

#define COMMAND_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

struct command_variable {
    const char *name;
    const char *value;
};

/* A handler, as its configuration says. Zeroed is "not set", but for the umask. */
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

/* One execution of one job. Limits are resolved, counts are those of this run. */
struct command_job {
    const char *id;
    const char *type;
    const char *queue;
    const char *pool_id;
    int attempt; /* 1 is the first */
    int max_attempts;
    int64_t execution;
    struct bytes payload;
    usec_t timeout; /* 0: none */
    usec_t kill_grace;
    usec_t started_at; /* the database's time, for the record */
    int worker;
};

/* Who is told while it runs. Each may be NULL. */
struct command_listener {
    /* At most OUTPUT_LINE_MAX bytes of a line, not terminated; `dropped` is how many more it had.
     */
    void (*line)(void *context, bool is_error, struct bytes line, uint64_t dropped);
    void (*progress)(void *context, int percent, const char *text);
    void (*garbage)(void *context, const char *problem); /* on descriptor 3, once */
    void *context;
};

struct command_report {
    struct outcome outcome; /* points into `arena` */
    bool could_not_start;   /* then it is OUTCOME_RELEASED, and the error says why */
    int progress_percent;   /* the last one; -1: none */
    const char *progress_text;
    uint64_t output_bytes; /* all that was printed */
    struct arena arena;
};

/* To its end, in the loop of `execution`. False when this process cannot go on. */
bool command_run(const struct command *command, const struct command_job *job,
                 struct execution *execution, const struct command_listener *listener,
                 struct command_report *report_out, struct error *err) MUST_CHECK;

void command_report_done(struct command_report *report);

#endif

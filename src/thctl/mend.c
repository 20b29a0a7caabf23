/*
 * mend.c - `thctl cancel`, `run`, `retry` and `rm`: what each of them does to jobs, and to which.
 */
#include "thctl/repair.h"

/* ---- cancel ---- */

static const char *const unfinished_names[] = {"scheduled", "ready", "blocked",
                                               "running",   "retry", NULL};

static const struct repair cancel = {
    .verb = "Cancel",
    .done = "cancelled",
    .done_many = "cancelled or asked to stop",
    .done_if_running = "is running: it was asked to stop",
    .if_done = "there is nothing to cancel",
    .if_dead_or_cancelled = "there is nothing to cancel",
    .which = "unfinished",
    .action = BULK_CANCEL,
};

static const struct option cancel_options[] = {
    REPAIR_ROWS("unfinished", "scheduled ready blocked running retry", unfinished_names),
    {.name = NULL},
};

static enum status run_cancel(struct session *session, const struct option_value *options,
                              const struct words *arguments)
{
    const struct repair_plan plan = {
        .repair = &cancel, .table = cancel_options, .options = options};

    return repair_carry_out(session, &plan, arguments);
}

static const char *const cancel_examples[] = {
    "cancel 0193f0a2-7c1d-7abc-8def-0123456789ab",
    "cancel --all --type email:send --dry-run",
    "cancel --all --queue import --state scheduled",
    NULL,
};

const struct command command_cancel = {
    .name = "cancel",
    .summary = "cancel waiting jobs, stop running ones",
    .arguments = "ID... | --all",
    .details = "A running job is stopped when its pool hears of it, with its next heartbeat.\n"
               "since and until mean when a waiting job is due, and when a running one started.\n",
    .examples = cancel_examples,
    .options = cancel_options,
    .max_arguments = SIZE_MAX,
    .run = run_cancel,
};

/* ---- run ---- */

static const char *const early_names[] = {"scheduled", "retry", NULL};

static const struct repair hasten = {
    .verb = "Run",
    .done = "due now",
    .if_waiting = "the job with its key that runs comes first",
    .if_running = "it runs already",
    .if_done = "only jobs that wait can be run",
    .if_dead_or_cancelled = "thctl retry runs it again",
    .which = "scheduled or retry",
    .action = BULK_RUN,
};

static const struct option run_options[] = {
    REPAIR_ROWS("scheduled and retry", "scheduled retry", early_names),
    {.name = NULL},
};

static enum status run_run(struct session *session, const struct option_value *options,
                           const struct words *arguments)
{
    const struct repair_plan plan = {.repair = &hasten, .table = run_options, .options = options};

    return repair_carry_out(session, &plan, arguments);
}

static const char *const run_examples[] = {
    "run 0193f0a2-7c1d-7abc-8def-0123456789ab",
    "run --all --state retry --type email:send",
    NULL,
};

const struct command command_run_now = {
    .name = "run",
    .summary = "let jobs that wait for their time, or for a retry, run now",
    .arguments = "ID... | --all",
    .details = "Their attempts, stalls and errors stay. A job that is ready stays so.\n"
               "since and until mean when they are due.\n",
    .examples = run_examples,
    .options = run_options,
    .max_arguments = SIZE_MAX,
    .run = run_run,
};

/* ---- retry ---- */

static const char *const revivable_names[] = {"dead", "cancelled", NULL};

static const struct repair retry = {
    .verb = "Retry",
    .done = "queued again",
    .if_early = "--run-at is for dead and cancelled jobs, without it this one runs now",
    .if_waiting = "it will run by itself",
    .if_running = "there is nothing to retry",
    .if_done = "only dead and cancelled jobs can run again",
    .if_dead_or_cancelled = "another job with its key is waiting",
    .for_early = &hasten,
    .which = "dead",
    .action = BULK_RETRY,
};

enum retry_option { RETRY_RUN_AT = REPAIR_OPTIONS };

/* clang-format off */
static const struct option retry_options[] = {
    REPAIR_ROWS("dead", "dead (default) cancelled", revivable_names),
    [RETRY_RUN_AT] = {"run-at", 0, "WHEN", "not before: +5m, 09:00, 'tomorrow 09:00', 2026-01-31T10:00:00Z", OPTION_TEXT},
    {.name = NULL},
};
/* clang-format on */

static enum status run_retry(struct session *session, const struct option_value *options,
                             const struct words *arguments)
{
    const struct repair_plan plan = {.repair = &retry,
                                     .table = retry_options,
                                     .options = options,
                                     .run_at = options[RETRY_RUN_AT].text};

    return repair_carry_out(session, &plan, arguments);
}

static const char *const retry_examples[] = {
    "retry 0193f0a2-7c1d-7abc-8def-0123456789ab",
    "retry --all --type email:send --run-at +10m",
    "retry --all --error 'connection refused' --since -1h",
    NULL,
};

const struct command command_retry = {
    .name = "retry",
    .summary = "run dead or cancelled jobs again",
    .arguments = "ID... | --all",
    .details = "Their attempts, stalls and errors are cleared. A job that waits for its time, or\n"
               "for a retry, runs now, as by run: what it has counted stays.\n"
               "since and until mean when they ended.\n",
    .examples = retry_examples,
    .options = retry_options,
    .max_arguments = SIZE_MAX,
    .run = run_retry,
};

/* ---- rm ---- */

static const struct repair removal = {
    .verb = "Delete",
    .done = "deleted",
    .if_early = "cancel it first",
    .if_waiting = "cancel it first",
    .if_running = "cancel it first",
    .which = "dead",
    .action = BULK_DELETE,
};

static const char *const ended_names[] = {"done", "dead", "cancelled", NULL};

static const struct option rm_options[] = {
    REPAIR_ROWS("dead", "dead (default) done cancelled", ended_names),
    {.name = NULL},
};

static enum status run_rm(struct session *session, const struct option_value *options,
                          const struct words *arguments)
{
    const struct repair_plan plan = {.repair = &removal, .table = rm_options, .options = options};

    return repair_carry_out(session, &plan, arguments);
}

static const char *const rm_examples[] = {
    "rm 0193f0a2-7c1d-7abc-8def-0123456789ab",
    "rm --all --queue mail",
    "rm --all --state done --yes",
    NULL,
};

const struct command command_rm = {
    .name = "rm",
    .summary = "delete jobs that have ended",
    .arguments = "ID... | --all",
    .details = "The idempotency keys of deleted jobs are free again.\n"
               "since and until mean when they ended.\n",
    .examples = rm_examples,
    .options = rm_options,
    .max_arguments = SIZE_MAX,
    .run = run_rm,
};

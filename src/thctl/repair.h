/*
 * repair.h - changing what became of jobs: what `cancel`, `run`, `retry` and `rm` share.
 *
 * All take ids, try every one of them and say of each what became of it. `--all` first
 * collects the ids of all jobs that match, then asks, then does the same in batches.
 */
#ifndef THCTL_REPAIR_H
#define THCTL_REPAIR_H

#include "base/base.h"
#include "client/bulk.h"
#include "thctl/filter.h"
#include "thctl/session.h"

/* What differs between them. */
struct repair {
    const char *verb;      /* "Delete", for the question */
    const char *done;      /* "deleted" */
    const char *done_many; /* the same of all that match; NULL: as `done` */

    /* What to say instead of `done` of a job that runs, although nothing was refused; or NULL. */
    const char *done_if_running;

    /* What to say where the store refuses, by the state of the job; NULL: it must have changed.
     * Early ones are scheduled or wait for a retry, the other waiting ones are ready or blocked. */
    const char *if_early, *if_waiting, *if_running, *if_done, *if_dead_or_cancelled;

    /* What is done by id to an early job instead, unless a time was given; or NULL. */
    const struct repair *for_early;

    /* Which jobs --all means without a state. */
    const char *which; /* "dead", as bulk_states() has it */

    enum bulk_action action;
};

/* Their options begin with these rows. */
enum repair_option {
    REPAIR_STATE = FILTER_OPTIONS,
    REPAIR_ALL,
    REPAIR_DRY_RUN,
    REPAIR_YES,
    REPAIR_OPTIONS, /* the first of the command's own */
};

/* clang-format off */
#define REPAIR_ROWS(which, state_words, state_names)                                                                   \
    FILTER_ROWS,                                                                                                       \
    [REPAIR_STATE] = {"state", 's', "STATE", "only in this state: " state_words, OPTION_CHOICE, .choices = state_names}, \
    [REPAIR_ALL] = {"all", 0, NULL, "all " which " jobs, or what the filters pick of them", OPTION_FLAG},              \
    [REPAIR_DRY_RUN] = {"dry-run", 0, NULL, "with --all: only count them", OPTION_FLAG},                               \
    [REPAIR_YES] = {"yes", 'y', NULL, "do not ask", OPTION_FLAG}
/* clang-format on */

/* What the command line asks for. */
struct repair_plan {
    const struct repair *repair;
    const struct option *table; /* of the options, which begin with REPAIR_ROWS */
    const struct option_value *options;
    const char *run_at; /* as written, or NULL */
};

enum status repair_carry_out(struct session *session, const struct repair_plan *plan,
                             const struct words *arguments);

#endif

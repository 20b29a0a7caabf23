/*
 * bulk.h - one thing done to many jobs, in pages: to those that a filter picks, or to ids.
 *
 *     bulk_open() -> bulk_count() ...  how many would it be          (a page for each call)
 *                 -> bulk_step() ...   until state is BULK_DONE      (a page for each call)
 *
 * Only jobs that were there, in their state, when it was opened: what came, or went on to another
 * state, since then is passed over. Nothing is kept but the place in the list, however many jobs
 * there are; when the process dies it can be repeated.
 */
#ifndef CLIENT_BULK_H
#define CLIENT_BULK_H

#include "base/base.h"
#include "store/store.h"

#define BULK_COUNT_MAX 100000
#define BULK_PAGE      JOB_PAGE_MAX

enum bulk_action {
    BULK_CANCEL, /* waiting jobs are cancelled, running ones asked to stop */
    BULK_RETRY,  /* dead and cancelled jobs wait again */
    BULK_RUN,    /* scheduled jobs and those that wait for a retry run now */
    BULK_DELETE, /* ended jobs go */
};

#define BULK_ACTIONS (BULK_DELETE + 1)

const char *bulk_action_name(enum bulk_action action);
bool bulk_action_parse(const char *name, enum bulk_action *action_out) MUST_CHECK;

/* Which jobs it takes unless a state is named. */
const enum job_state *bulk_states(enum bulk_action action, size_t *count_out);

/* One page of it; a verdict for each id. `run_at` is when those to be retried are due; 0 is now. */
bool bulk_apply(enum bulk_action action, struct store *store, const struct uuid *ids, size_t count,
                usec_t run_at, usec_t now, enum th_error_code *verdicts_out,
                struct error *err) MUST_CHECK;

enum bulk_state { BULK_COUNTING, BULK_RUNNING, BULK_DONE };

struct bulk {
    enum bulk_action action;
    enum bulk_state state;
    usec_t run_at; /* of BULK_RETRY; 0 is now */

    size_t matched; /* as far as it was counted */
    bool capped;    /* at BULK_COUNT_MAX: there are more */
    size_t done;
    size_t failed;      /* refused: gone, or in conflict, though nobody has touched them */
    size_t passed_over; /* moved on meanwhile */

    /* Either of them: */
    const struct uuid *ids; /* the caller's, until the end */
    size_t id_count;
    struct job_filter filter;
    const enum job_state *states; /* that it takes, one after the other */
    size_t state_count;

    usec_t opened_at;
    size_t at_state; /* where it is */
    size_t at_id;
    struct job_cursor at;
};

/* Without a state in the filter it takes those of its action: unfinished jobs to cancel, scheduled
 * and retry to run, dead to retry and to delete. TH_E_INVALID: it cannot do that to such a state.
 * What the filter points to stays until the end. */
bool bulk_open(struct bulk *bulk_out, enum bulk_action action, const struct job_filter *filter,
               usec_t now, struct error *err) MUST_CHECK;

void bulk_open_ids(struct bulk *bulk_out, enum bulk_action action, const struct uuid *ids,
                   size_t count, usec_t now);

/* Counts a page more; *more_out: it is not all of them yet. */
bool bulk_count(struct bulk *bulk, struct store *store, bool *more_out,
                struct error *err) MUST_CHECK;

/* Does a page. When it fails it can be called again: what was done already is no harm. */
bool bulk_step(struct bulk *bulk, struct store *store, usec_t now, struct error *err) MUST_CHECK;

#endif

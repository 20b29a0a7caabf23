/*
 * bulk.c - one thing done to many jobs, in pages.
 */
#include "client/bulk.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <assert.h>

static bool cancel(struct store *store, const struct uuid *ids, size_t count, usec_t run_at,
                   usec_t now, enum th_error_code *verdicts_out, struct error *err)
{
    (void)run_at;
    return store_cancel(store, ids, count, now, verdicts_out, err);
}

static bool hasten(struct store *store, const struct uuid *ids, size_t count, usec_t run_at,
                   usec_t now, enum th_error_code *verdicts_out, struct error *err)
{
    (void)run_at;
    return store_run_now(store, ids, count, now, verdicts_out, err);
}

static bool delete (struct store *store, const struct uuid *ids, size_t count, usec_t run_at,
                    usec_t now, enum th_error_code *verdicts_out, struct error *err)
{
    (void)run_at;
    (void)now;
    return store_remove(store, ids, count, verdicts_out, err);
}

/* In the order in which a job passes through them, so that none escapes by going on. */
static const enum job_state unfinished[] = {JOB_SCHEDULED, JOB_RETRY, JOB_BLOCKED, JOB_READY,
                                            JOB_RUNNING};
static const enum job_state early[] = {JOB_SCHEDULED, JOB_RETRY};
static const enum job_state ended[] = {JOB_DEAD, JOB_CANCELLED, JOB_DONE};

/* clang-format off */
static const struct {
    const char *name;
    const enum job_state *states; /* that it is for; the first are what it takes unless one is named */
    size_t usual, possible;
    const char *words;
    bool (*apply)(struct store *store, const struct uuid *ids, size_t count, usec_t run_at,
                  usec_t now, enum th_error_code *verdicts_out, struct error *err);
} actions[BULK_ACTIONS] = {
    [BULK_CANCEL] = {"cancel", unfinished, 5, 5, "scheduled, retry, blocked, ready and running", cancel},
    [BULK_RETRY]  = {"retry",  ended,      1, 2, "dead and cancelled",                           store_requeue},
    [BULK_RUN]    = {"run",    early,      2, 2, "scheduled and retry",                          hasten},
    [BULK_DELETE] = {"delete", ended,      1, 3, "dead, cancelled and done",                     delete},
};
/* clang-format on */

const char *bulk_action_name(enum bulk_action action)
{
    assert((unsigned)action < BULK_ACTIONS);
    return actions[action].name;
}

bool bulk_action_parse(const char *name, enum bulk_action *action_out)
{
    for (size_t i = 0; i < BULK_ACTIONS; i++)
        if (text_equal(name, actions[i].name)) {
            *action_out = (enum bulk_action)i;
            return true;
        }
    return false;
}

const enum job_state *bulk_states(enum bulk_action action, size_t *count_out)
{
    *count_out = actions[action].usual;
    return actions[action].states;
}

bool bulk_apply(enum bulk_action action, struct store *store, const struct uuid *ids, size_t count,
                usec_t run_at, usec_t now, enum th_error_code *verdicts_out, struct error *err)
{
    return actions[action].apply(store, ids, count, run_at, now, verdicts_out, err);
}

/* ---- open ---- */

/* One state of those that it is for, by its place among them. */
static bool take_state(struct bulk *bulk, enum job_state state, struct error *err)
{
    for (size_t i = 0; i < actions[bulk->action].possible; i++)
        if (actions[bulk->action].states[i] == state) {
            bulk->states = &actions[bulk->action].states[i];
            bulk->state_count = 1;
            return true;
        }
    return error_set(err, TH_E_INVALID, "state: %s is for %s jobs, not for %s ones",
                     actions[bulk->action].name, actions[bulk->action].words,
                     job_state_name(state));
}

bool bulk_open(struct bulk *bulk_out, enum bulk_action action, const struct job_filter *filter,
               usec_t now, struct error *err)
{
    *bulk_out = (struct bulk){.action = action, .filter = *filter, .opened_at = now};
    bulk_out->filter.oldest_first = true;
    bulk_out->filter.brief = true;
    if (filter->by_state)
        return take_state(bulk_out, filter->state, err);
    bulk_out->states = bulk_states(action, &bulk_out->state_count);
    return true;
}

void bulk_open_ids(struct bulk *bulk_out, enum bulk_action action, const struct uuid *ids,
                   size_t count, usec_t now)
{
    *bulk_out = (struct bulk){.action = action, .ids = ids, .id_count = count, .opened_at = now};
}

/* ---- one page ---- */

static bool is_ended(enum job_state state)
{
    return state == JOB_DONE || state == JOB_DEAD || state == JOB_CANCELLED;
}

/* When it came to where it is, as far as its record tells. */
static usec_t entered_at(const struct job *job)
{
    if (is_ended(job->state))
        return job->ended_at;
    if (job->state == JOB_RUNNING)
        return job->started_at;
    return job->state == JOB_RETRY ? job->failed_at : job->created_at;
}

/* What is to be cancelled in any state may go on from one to the next. */
static bool was_there(const struct bulk *bulk, const struct job *job)
{
    if (job->created_at > bulk->opened_at)
        return false;
    return (bulk->action == BULK_CANCEL && bulk->state_count > 1) ||
           entered_at(job) <= bulk->opened_at;
}

static bool is_over(const struct bulk *bulk)
{
    return bulk->at_state == bulk->state_count;
}

/* The place after this page, of this state or the next. */
static void move_on(struct bulk *bulk, const struct job_cursor *next)
{
    bulk->at = *next;
    if (!next->is_set)
        bulk->at_state++;
}

/* The jobs of a page that were there, in place of all that are on it. */
static bool read_page(const struct bulk *bulk, struct store *store, struct job_list *jobs,
                      struct job_cursor *next_out, struct error *err)
{
    struct job_filter filter = bulk->filter;
    size_t kept = 0;

    filter.by_state = true;
    filter.state = bulk->states[bulk->at_state];
    filter.after = bulk->at;
    filter.limit = BULK_PAGE;
    if (is_ended(filter.state) && (filter.until == 0 || filter.until > bulk->opened_at))
        filter.until = bulk->opened_at + 1;
    if (!store_list(store, &filter, jobs, next_out, err))
        return false;
    for (size_t i = 0; i < jobs->count; i++)
        if (was_there(bulk, &jobs->items[i]))
            jobs->items[kept++] = jobs->items[i];
    jobs->count = kept;
    return true;
}

/* ---- count ---- */

static void start(struct bulk *bulk)
{
    bulk->state = BULK_RUNNING;
    bulk->at_state = bulk->at_id = 0;
    bulk->at = (struct job_cursor){0};
}

bool bulk_count(struct bulk *bulk, struct store *store, bool *more_out, struct error *err)
{
    CLEANUP(job_list_done) struct job_list jobs = {0};
    struct job_cursor next;

    *more_out = false;
    if (bulk->ids) {
        bulk->matched = bulk->id_count;
        return true;
    }
    if (is_over(bulk))
        return true;
    if (!read_page(bulk, store, &jobs, &next, err))
        return false;
    bulk->matched += jobs.count;
    move_on(bulk, &next);
    bulk->capped = bulk->matched > BULK_COUNT_MAX;
    if (bulk->capped)
        bulk->matched = BULK_COUNT_MAX;
    *more_out = !bulk->capped && !is_over(bulk);
    return true;
}

/* ---- do ---- */

/* What was listed and is refused now has moved on, if it is not as it was. */
static bool has_moved_on(struct store *store, const struct job *listed)
{
    CLEANUP(job_list_done) struct job_list found = {0};
    struct error err;

    if (!store_get(store, &listed->id, &found, &err))
        return err.code == TH_E_NOT_FOUND;
    return found.items[0].state != listed->state ||
           entered_at(&found.items[0]) != entered_at(listed);
}

/* `listed` is NULL for ids. */
static void judge(struct bulk *bulk, struct store *store, const struct job *listed,
                  enum th_error_code verdict)
{
    if (verdict == TH_OK)
        bulk->done++;
    else if (listed && (verdict == TH_E_NOT_FOUND || has_moved_on(store, listed)))
        bulk->passed_over++;
    else
        bulk->failed++;
}

static bool apply_page(struct bulk *bulk, struct store *store, const struct uuid *ids, size_t count,
                       const struct job *listed, usec_t now, struct error *err)
{
    enum th_error_code verdicts[BULK_PAGE];

    if (count > 0 && !bulk_apply(bulk->action, store, ids, count, bulk->run_at, now, verdicts, err))
        return false;
    for (size_t i = 0; i < count; i++)
        judge(bulk, store, listed ? &listed[i] : NULL, verdicts[i]);
    return true;
}

static bool step_ids(struct bulk *bulk, struct store *store, usec_t now, struct error *err)
{
    const size_t left = bulk->id_count - bulk->at_id;
    const size_t count = left < BULK_PAGE ? left : BULK_PAGE;

    if (!apply_page(bulk, store, bulk->ids + bulk->at_id, count, NULL, now, err))
        return false;
    bulk->at_id += count;
    if (bulk->at_id == bulk->id_count)
        bulk->state = BULK_DONE;
    return true;
}

static bool step_list(struct bulk *bulk, struct store *store, usec_t now, struct error *err)
{
    CLEANUP(job_list_done) struct job_list jobs = {0};
    struct uuid ids[BULK_PAGE];
    struct job_cursor next;

    if (!read_page(bulk, store, &jobs, &next, err))
        return false;
    for (size_t i = 0; i < jobs.count; i++)
        ids[i] = jobs.items[i].id;
    if (!apply_page(bulk, store, ids, jobs.count, jobs.items, now, err))
        return false;
    move_on(bulk, &next);
    if (is_over(bulk))
        bulk->state = BULK_DONE;
    return true;
}

bool bulk_step(struct bulk *bulk, struct store *store, usec_t now, struct error *err)
{
    if (bulk->state == BULK_COUNTING)
        start(bulk);
    if (bulk->state == BULK_DONE)
        return true;
    return bulk->ids ? step_ids(bulk, store, now, err) : step_list(bulk, store, now, err);
}

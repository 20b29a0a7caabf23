/*
 * job.c - one job: all there is to know of it, and what people do to it.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "browse/looks.h"
#include "client/bulk.h"
#include "client/why_look.h"
#include "door/job_query.h"
#include "job/job_json.h"

#include <assert.h>

static bool show(struct look *look, struct job *job, struct error *err)
{
    struct why why;

    if (!why_look(look->store, job, look->arena, &why, err))
        return false;
    job->why = &why;
    job_json_add(look->body, job);
    job->why = NULL;
    return true;
}

static bool show_stored(struct look *look, const struct uuid *id, struct error *err)
{
    CLEANUP(job_list_done) struct job_list found = {0};

    return store_get(look->store, id, &found, err) && show(look, &found.items[0], err);
}

bool look_at_job(struct look *look, struct error *err)
{
    const struct uuid id = unpack_uuid(&look->wish);

    return unpack_end(&look->wish, "a job to look at", err) && show_stored(look, &id, err);
}

/* ---- mending ---- */

/* Of the wire, and of the client. */
static_assert(JOB_CANCEL == (int)BULK_CANCEL && JOB_RETRY_AGAIN == (int)BULK_RETRY &&
                  JOB_RUN_NOW == (int)BULK_RUN && JOB_DELETE == (int)BULK_DELETE &&
                  JOB_MENDS == BULK_ACTIONS,
              "both have the same");

/* Why not, by the state that the job has. */
/* clang-format off */
static const char *const reasons[JOB_MENDS][JOB_STATES] = {
    [JOB_CANCEL] = {
        [JOB_DONE]      = "there is nothing to cancel",
        [JOB_DEAD]      = "there is nothing to cancel",
        [JOB_CANCELLED] = "there is nothing to cancel",
    },
    [JOB_RETRY_AGAIN] = {
        [JOB_RUNNING]   = "there is nothing to retry",
        [JOB_DONE]      = "only dead and cancelled jobs can run again",
        [JOB_DEAD]      = "another job with its key is waiting",
        [JOB_CANCELLED] = "another job with its key is waiting",
    },
    [JOB_RUN_NOW] = {
        [JOB_BLOCKED]   = "the job with its key that runs comes first",
        [JOB_RUNNING]   = "it runs already",
        [JOB_DONE]      = "only jobs that wait can be run",
        [JOB_DEAD]      = "only jobs that wait can be run, a retry lets it run again",
        [JOB_CANCELLED] = "only jobs that wait can be run, a retry lets it run again",
    },
    [JOB_DELETE] = {
        [JOB_SCHEDULED] = "only jobs that have ended can be deleted",
        [JOB_READY]     = "only jobs that have ended can be deleted",
        [JOB_BLOCKED]   = "only jobs that have ended can be deleted",
        [JOB_RUNNING]   = "only jobs that have ended can be deleted",
        [JOB_RETRY]     = "only jobs that have ended can be deleted",
    },
};
/* clang-format on */

static bool refuse(const struct job *job, enum job_mend mend, struct error *err)
{
    const char *reason = reasons[mend][job->state];
    char id[UUID_TEXT_SIZE];

    return error_set(err, TH_E_CONFLICT, "job %s is %s: %s", uuid_format(&job->id, id),
                     job_state_name(job->state),
                     reason ? reason : "it has changed meanwhile, try again");
}

static bool apply(struct store *store, enum job_mend mend, const struct uuid *id,
                  enum th_error_code *verdict_out, struct error *err)
{
    return bulk_apply((enum bulk_action)mend, store, id, 1, 0, store_now(store), verdict_out, err);
}

/* A path below /api/dead is for dead jobs alone. */
static bool check_is_dead(struct store *store, const struct uuid *id, struct error *err)
{
    CLEANUP(job_list_done) struct job_list found = {0};
    char text[UUID_TEXT_SIZE];

    if (!store_get(store, id, &found, err))
        return false;
    const enum job_state state = found.items[0].state;
    return state == JOB_DEAD || error_set(err, TH_E_CONFLICT, "job %s is %s, not dead",
                                          uuid_format(id, text), job_state_name(state));
}

/* The verdict as an error. One that waits cannot be retried: it runs now instead. */
static bool settle(struct store *store, const struct uuid *id, enum job_mend mend,
                   enum th_error_code verdict, struct error *err)
{
    CLEANUP(job_list_done) struct job_list found = {0};

    if (verdict == TH_OK)
        return true;
    if (!store_get(store, id, &found, err))
        return false;
    if (mend == JOB_RETRY_AGAIN && job_state_is_waiting(found.items[0].state)) {
        mend = JOB_RUN_NOW;
        if (!apply(store, mend, id, &verdict, err))
            return false;
    }
    return verdict == TH_OK || refuse(&found.items[0], mend, err);
}

bool look_and_mend(struct look *look, struct error *err)
{
    const struct uuid id = unpack_uuid(&look->wish);
    const enum job_mend mend = (enum job_mend)unpack_number(&look->wish, 0, JOB_MENDS - 1);
    const bool only_dead = unpack_flag(&look->wish);
    enum th_error_code verdict;

    if (!unpack_end(&look->wish, "a job to mend", err) ||
        (only_dead && !check_is_dead(look->store, &id, err)) ||
        !apply(look->store, mend, &id, &verdict, err) ||
        !settle(look->store, &id, mend, verdict, err))
        return false;
    if (mend != JOB_DELETE)
        return show_stored(look, &id, err);
    look->status = 204;
    return true;
}

/*
 * store_people.c - what people look at and change: checked, and passed on to the driver.
 */
#include "base/timestamp.h"
#include "store/checks.h"
#include "store/driver.h"

bool store_get(struct store *store, const struct uuid *id, struct job_list *job_out,
               struct error *err)
{
    char text[UUID_TEXT_SIZE];
    size_t before = job_out->count;

    if (!checks_open(store, err) || !store->driver->get(store, id, job_out, err))
        return false;
    return job_out->count > before ||
           error_set(err, TH_E_NOT_FOUND, "no job %s", uuid_format(id, text));
}

static bool check_limit(size_t limit, struct error *err)
{
    return (limit >= 1 && limit <= JOB_PAGE_MAX) ||
           error_set(err, TH_E_INVALID, "limit: a page has 1 to %d jobs", JOB_PAGE_MAX);
}

static bool check_moments(const struct job_filter *filter, struct error *err)
{
    return (filter->since >= 0 && filter->since <= TIMESTAMP_MAX && filter->until >= 0 &&
            filter->until <= TIMESTAMP_MAX) ||
           error_set(err, TH_E_INVALID,
                     "since and until are out of range: use the years 1970 to 9999");
}

static bool check_tag(const char *tag, struct error *err)
{
    return !tag || job_name_check(tag, JOB_NAME_MAX, err) || error_prefix(err, "tag");
}

bool store_list(struct store *store, const struct job_filter *filter, struct job_list *jobs_out,
                struct job_cursor *next_out, struct error *err)
{
    *next_out = (struct job_cursor){0};
    return checks_open(store, err) && check_limit(filter->limit, err) &&
           check_moments(filter, err) && check_tag(filter->tag, err) &&
           store->driver->list(store, filter, jobs_out, next_out, err);
}

bool store_failures(struct store *store, size_t limit, struct job_list *jobs_out, struct error *err)
{
    return checks_open(store, err) && check_limit(limit, err) &&
           store->driver->failures(store, limit, jobs_out, err);
}

bool store_stats(struct store *store, struct queue_stats_list *stats_out, struct error *err)
{
    if (!checks_open(store, err) || !store->driver->stats(store, stats_out, err))
        return false;
    store_clock_refresh(store);
    return true;
}

bool store_cancel(struct store *store, const struct uuid *ids, size_t count, usec_t now,
                  enum th_error_code *verdicts_out, struct error *err)
{
    return checks_open(store, err) &&
           store->driver->cancel(store, ids, count, now, verdicts_out, err);
}

bool store_run_now(struct store *store, const struct uuid *ids, size_t count, usec_t now,
                   enum th_error_code *verdicts_out, struct error *err)
{
    return checks_open(store, err) &&
           store->driver->run_now(store, ids, count, now, verdicts_out, err);
}

bool store_requeue(struct store *store, const struct uuid *ids, size_t count, usec_t run_at,
                   usec_t now, enum th_error_code *verdicts_out, struct error *err)
{
    return checks_open(store, err) && checks_run_at(run_at, err) &&
           store->driver->requeue(store, ids, count, run_at, now, verdicts_out, err);
}

bool store_remove(struct store *store, const struct uuid *ids, size_t count,
                  enum th_error_code *verdicts_out, struct error *err)
{
    return checks_open(store, err) && store->driver->remove(store, ids, count, verdicts_out, err);
}

bool store_count_before(struct store *store, const struct job *job, size_t limit, size_t *count_out,
                        struct error *err)
{
    *count_out = 0;
    return checks_open(store, err) && checks_queue(job->queue, err) &&
           store->driver->count_before(store, job, limit, count_out, err);
}

bool store_pause(struct store *store, const char *queue, const char *by, usec_t now,
                 struct error *err)
{
    return checks_open(store, err) && checks_queue(queue, err) && checks_by(by, err) &&
           store->driver->set_paused(store, queue, now, by, err);
}

bool store_resume(struct store *store, const char *queue, struct error *err)
{
    return checks_open(store, err) && checks_queue(queue, err) &&
           store->driver->set_paused(store, queue, 0, NULL, err);
}

bool store_hide_queue(struct store *store, const char *queue, struct error *err)
{
    enum th_error_code verdict = TH_OK;

    if (!checks_open(store, err) || !checks_queue(queue, err) ||
        !store->driver->hide_queue(store, queue, &verdict, err))
        return false;
    if (verdict == TH_E_NOT_FOUND)
        return error_set(err, verdict, "there is no queue '%s'", queue);
    return verdict == TH_OK || error_set(err, verdict, "queue '%s' has jobs", queue);
}

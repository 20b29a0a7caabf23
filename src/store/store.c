/*
 * store.c - finds the driver, checks what callers hand in, and passes it on.
 *
 * Checks that do not need the database are made here, once for all drivers, before anything is
 * touched.
 */
#include "store/store.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "job/rate.h"
#include "store/driver.h"

#include <stdlib.h>
#include <string.h>

static const struct store_driver *const drivers[] = {
    &store_sqlite, &store_memory,         &store_postgres, &store_postgresql,
    &store_redis,  &store_redis_sentinel, &store_rediss,
};

/* ---- open and close ---- */

static bool find_driver(const char *scheme, const struct store_driver **driver_out)
{
    for (size_t i = 0; i < COUNT_OF(drivers); i++) {
        *driver_out = drivers[i];
        if (text_equal(drivers[i]->scheme, scheme))
            return true;
    }
    return false;
}

static bool refuse_scheme(const struct store_url *url, struct error *err)
{
    CLEANUP(buffer_done) struct buffer known = BUFFER(256);

    for (size_t i = 0; i < COUNT_OF(drivers); i++)
        if (drivers[i]->open != NULL)
            buffer_printf(&known, "%s%s:", i == 0 ? "" : ", ", drivers[i]->scheme);
    return error_set(err, TH_E_INVALID, "%s: this build has no backend '%s' (it has %s)",
                     url->shown, url->scheme, buffer_str(&known));
}

bool store_check_url(const char *url_text, struct error *err)
{
    CLEANUP(url_done) struct store_url url = {0};
    const struct store_driver *driver;

    if (!url_parse(url_text, &url, err))
        return false;
    if (!find_driver(url.scheme, &driver))
        return refuse_scheme(&url, err);
    return driver->check_url(&url, err);
}

usec_t store_patience(const struct store_options *options)
{
    return options->deadline > 0 && options->deadline < CALL_DEADLINE ? options->deadline
                                                                      : CALL_DEADLINE;
}

usec_t store_deadline(const struct store *store)
{
    return clock_boot() + (store->deadline != 0 ? store->deadline : CALL_DEADLINE);
}

bool store_open(const char *url_text, const struct store_options *options, struct store **store_out,
                struct error *err)
{
    CLEANUP(url_done) struct store_url url = {0};
    const struct store_driver *driver;
    struct store *store = NULL;

    *store_out = NULL;
    if (!url_parse(url_text, &url, err))
        return false;
    if (!find_driver(url.scheme, &driver))
        return refuse_scheme(&url, err);
    if (driver->open == NULL)
        return driver->check_url(&url, err);
    if (!driver->open(&url, options, &store, err))
        return false;
    store->deadline = store_patience(options);
    store->max_payload = options->max_payload != 0 ? options->max_payload : JOB_PAYLOAD_DEFAULT;
    store->name = strdup(url.shown);
    store->clock = options->clock != NULL ? options->clock : &store->own_clock;
    if (store->name == NULL || !store_clock_measure(store, err)) {
        bool named = store->name != NULL;
        store_close(&store);
        return named ? false : error_no_memory(err);
    }
    *store_out = store;
    return true;
}

void store_close(struct store **store)
{
    if (*store != NULL)
        (*store)->driver->close(*store);
    *store = NULL;
}

static bool is_open(const struct store *store, struct error *err)
{
    return store != NULL || error_set(err, TH_E_INVALID, "the store is closed");
}

const char *store_name(const struct store *store)
{
    return store->name;
}

bool store_schema(struct store *store, struct store_schema *schema_out, struct error *err)
{
    *schema_out = (struct store_schema){0};
    return is_open(store, err) && store->driver->schema(store, schema_out, err);
}

bool store_publish(struct store *store, const struct store_limits *limits, struct error *err)
{
    if (!is_open(store, err))
        return false;
    return store->driver->publish == NULL || store->driver->publish(store, limits, err);
}

bool store_durability(struct store *store, char text[STORE_DURABILITY_SIZE], bool *is_safe_out,
                      struct error *err)
{
    text[0] = '\0';
    *is_safe_out = true;
    if (!is_open(store, err))
        return false;
    return store->driver->durability == NULL ||
           store->driver->durability(store, text, is_safe_out, err);
}

/* ---- checks ---- */

static bool check_queue(const char *queue, struct error *err)
{
    return job_name_is_valid(queue) ||
           error_set(err, TH_E_INVALID, "queue: a name is 1 to %d of A-Z a-z 0-9 _ . : -",
                     JOB_NAME_MAX);
}

static bool check_pool(const char *pool, struct error *err)
{
    return job_name_is_valid(pool) ||
           error_set(err, TH_E_INVALID, "pool: a name is 1 to %d of A-Z a-z 0-9 _ . : -",
                     JOB_NAME_MAX);
}

static bool check_lease_for(usec_t lease_for, struct error *err)
{
    return (lease_for > 0 && lease_for <= JOB_TIMEOUT_MAX) ||
           error_set(err, TH_E_INVALID, "lease: must be longer than 0 and at most a year");
}

static bool check_share(const struct queue_share *share, struct error *err)
{
    return check_queue(share->queue, err) &&
           (rate_is_valid(&share->rate) ||
            error_set(err, TH_E_INVALID, "queue %s: a rate is 1 to a billion in a second to a day",
                      share->queue));
}

static bool check_reservation(const struct reservation *wanted, struct error *err)
{
    for (size_t i = 0; i < wanted->queue_count; i++)
        if (!check_share(&wanted->queues[i], err))
            return false;
    return check_pool(wanted->pool, err) && check_lease_for(wanted->lease_for, err);
}

static bool check_job(const struct store *store, const struct job *job, struct error *err)
{
    struct job copy = *job;

    return job_validate(&copy, store->max_payload, err);
}

static bool check_run_at(usec_t run_at, struct error *err)
{
    return (run_at >= 0 && run_at <= TIMESTAMP_MAX) ||
           error_set(err, TH_E_INVALID, "run_at is out of range: use the years 1970 to 9999");
}

static bool check_settlement(const struct store *store, const struct settlement *settlement,
                             struct error *err)
{
    if (!check_queue(settlement->queue, err) || !check_run_at(settlement->run_at, err))
        return false;
    if (settlement->on_dead == NULL)
        return true;
    /* A key could be refused by what is stored, and a dead job must always get its end. */
    if (settlement->on_dead->key != NULL)
        return error_set(err, TH_E_INVALID, "on_dead: the job must not have a key");
    return check_job(store, settlement->on_dead, err) || error_prefix(err, "on_dead");
}

static bool check_settlements(const struct store *store, const struct settlement_list *finished,
                              struct error *err)
{
    for (size_t i = 0; i < finished->count; i++)
        if (!check_settlement(store, &finished->items[i], err))
            return error_prefix(err, "settlement %zu", i + 1);
    return true;
}

/* ---- the path of a job ---- */

/* Behind each call that worked. */
static bool follow(struct store *store)
{
    store_clock_refresh(store);
    return true;
}

/* So that a lease holds whichever of two clocks somebody goes by. */
static usec_t lengthen(const struct store *store, usec_t lease_for)
{
    return lease_for + timekeeper_lead(store->clock, clock_boot());
}

bool store_enqueue(struct store *store, struct job *jobs, size_t count, usec_t now,
                   struct enqueued *enqueued_out, struct error *err)
{
    if (!is_open(store, err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!job_validate(&jobs[i], store->max_payload, err))
            return count == 1 ? false : error_prefix(err, "job %zu", i + 1);
    return count == 0 ||
           (store->driver->enqueue(store, jobs, count, now, enqueued_out, err) && follow(store));
}

bool store_exchange(struct store *store, const struct settlement_list *finished,
                    const struct reservation *wanted, usec_t now, enum th_error_code *verdicts_out,
                    struct job_list *jobs_out, struct error *err)
{
    struct reservation leased = *wanted;

    if (!is_open(store, err) || !check_settlements(store, finished, err) ||
        !check_reservation(wanted, err))
        return false;
    leased.lease_for = lengthen(store, wanted->lease_for);
    return store->driver->exchange(store, finished, &leased, now, verdicts_out, jobs_out, err) &&
           follow(store);
}

bool store_reserve(struct store *store, const struct reservation *wanted, usec_t now,
                   struct job_list *jobs_out, struct error *err)
{
    const struct settlement_list nothing = {0};

    return store_exchange(store, &nothing, wanted, now, NULL, jobs_out, err);
}

bool store_settle(struct store *store, const struct settlement_list *finished, usec_t now,
                  enum th_error_code *verdicts_out, struct error *err)
{
    if (!is_open(store, err) || !check_settlements(store, finished, err))
        return false;
    return finished->count == 0 ||
           (store->driver->exchange(store, finished, NULL, now, verdicts_out, NULL, err) &&
            follow(store));
}

bool store_held(struct store *store, const char *pool, struct job_list *jobs_out, struct error *err)
{
    return is_open(store, err) && check_pool(pool, err) &&
           store->driver->held(store, pool, jobs_out, err);
}

bool store_heartbeat(struct store *store, const struct heartbeat *heartbeat, usec_t now,
                     struct lease_answer *answers_out, bool *registered_out, struct error *err)
{
    struct heartbeat longer = *heartbeat;

    if (!is_open(store, err) || !check_pool(heartbeat->pool, err) ||
        !check_lease_for(heartbeat->lease_for, err))
        return false;
    longer.lease_for = lengthen(store, heartbeat->lease_for);
    return store->driver->heartbeat(store, &longer, now, answers_out, registered_out, err) &&
           follow(store);
}

/* ---- upkeep ---- */

bool store_promote(struct store *store, enum job_state state, usec_t now, size_t limit,
                   size_t *moved_out, usec_t *next_due_out, struct error *err)
{
    if (!is_open(store, err))
        return false;
    if (state != JOB_SCHEDULED && state != JOB_RETRY)
        return error_set(err, TH_E_INVALID, "promote: %s jobs do not become due",
                         job_state_name(state));
    return store->driver->promote(store, state, now, limit, moved_out, next_due_out, err) &&
           follow(store);
}

bool store_reclaim(struct store *store, usec_t now, size_t limit, size_t *moved_out,
                   struct error *err)
{
    return is_open(store, err) && store->driver->reclaim(store, now, limit, moved_out, err) &&
           follow(store);
}

bool store_prune(struct store *store, const struct retention *keep, usec_t now, size_t limit,
                 size_t *removed_out, struct error *err)
{
    return is_open(store, err) && store->driver->prune(store, keep, now, limit, removed_out, err) &&
           follow(store);
}

static bool check_schedule(const char *name, struct error *err)
{
    return job_name_is_valid(name) ||
           error_set(err, TH_E_INVALID, "cron: a name is 1 to %d of A-Z a-z 0-9 _ . : -",
                     JOB_NAME_MAX);
}

bool store_cron_enqueue(struct store *store, const char *name, usec_t slot, struct job *job,
                        usec_t now, bool *stored_out, struct error *err)
{
    return is_open(store, err) && job_validate(job, store->max_payload, err) &&
           check_schedule(name, err) &&
           store->driver->cron_enqueue(store, name, slot, job, now, stored_out, err) &&
           follow(store);
}

bool store_cron_last(struct store *store, const char *name, usec_t now, usec_t *slot_out,
                     usec_t *doubted_out, struct error *err)
{
    return is_open(store, err) && check_schedule(name, err) &&
           store->driver->cron_last(store, name, now, slot_out, doubted_out, err);
}

bool store_cron_mark(struct store *store, const char *name, usec_t slot, usec_t now,
                     struct error *err)
{
    return is_open(store, err) && check_schedule(name, err) &&
           store->driver->cron_mark(store, name, slot, now, err);
}

/* ---- pools ---- */

bool store_pool_register(struct store *store, const struct pool *pool, usec_t now,
                         struct error *err)
{
    return is_open(store, err) && check_pool(pool->name, err) &&
           store->driver->pool_register(store, pool, now, err);
}

bool store_pools(struct store *store, struct pool_list *pools_out, struct error *err)
{
    return is_open(store, err) && store->driver->pools(store, pools_out, err) && follow(store);
}

bool store_pool_remove(struct store *store, const char *name, struct error *err)
{
    return is_open(store, err) && check_pool(name, err) &&
           store->driver->pool_remove(store, name, err);
}

bool store_pool_remove_silent(struct store *store, usec_t before, struct pool_list *removed_out,
                              struct error *err)
{
    return is_open(store, err) &&
           store->driver->pool_remove_silent(store, before, removed_out, err);
}

/* ---- sleep and wake ---- */

bool store_wait_fd(struct store *store, int *fd_out, struct error *err)
{
    return is_open(store, err) && store->driver->wait_fd(store, fd_out, err);
}

bool store_wait(struct store *store, usec_t timeout, bool *rang_out, struct error *err)
{
    return is_open(store, err) && store->driver->wait(store, timeout, rang_out, err);
}

bool store_check_bell(struct store *store, struct error *err)
{
    return is_open(store, err) &&
           (store->driver->check_bell == NULL || store->driver->check_bell(store, err));
}

/* ---- for people ---- */

bool store_get(struct store *store, const struct uuid *id, struct job_list *job_out,
               struct error *err)
{
    return is_open(store, err) && store->driver->get(store, id, job_out, err);
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

bool store_list(struct store *store, const struct job_filter *filter, struct job_list *jobs_out,
                struct job_cursor *next_out, struct error *err)
{
    *next_out = (struct job_cursor){0};
    return is_open(store, err) && check_limit(filter->limit, err) && check_moments(filter, err) &&
           store->driver->list(store, filter, jobs_out, next_out, err);
}

bool store_failures(struct store *store, size_t limit, struct job_list *jobs_out, struct error *err)
{
    return is_open(store, err) && check_limit(limit, err) &&
           store->driver->failures(store, limit, jobs_out, err);
}

bool store_stats(struct store *store, struct queue_stats_list *stats_out, struct error *err)
{
    return is_open(store, err) && store->driver->stats(store, stats_out, err) && follow(store);
}

bool store_cancel(struct store *store, const struct uuid *ids, size_t count, usec_t now,
                  enum th_error_code *verdicts_out, struct error *err)
{
    return is_open(store, err) && store->driver->cancel(store, ids, count, now, verdicts_out, err);
}

bool store_requeue(struct store *store, const struct uuid *ids, size_t count, usec_t run_at,
                   usec_t now, enum th_error_code *verdicts_out, struct error *err)
{
    return is_open(store, err) && check_run_at(run_at, err) &&
           store->driver->requeue(store, ids, count, run_at, now, verdicts_out, err);
}

bool store_remove(struct store *store, const struct uuid *ids, size_t count,
                  enum th_error_code *verdicts_out, struct error *err)
{
    return is_open(store, err) && store->driver->remove(store, ids, count, verdicts_out, err);
}

bool store_pause(struct store *store, const char *queue, usec_t now, struct error *err)
{
    return is_open(store, err) && check_queue(queue, err) &&
           store->driver->set_paused(store, queue, now, err);
}

bool store_resume(struct store *store, const char *queue, struct error *err)
{
    return is_open(store, err) && check_queue(queue, err) &&
           store->driver->set_paused(store, queue, 0, err);
}

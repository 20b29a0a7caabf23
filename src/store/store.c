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
#include "job/cron_due.h"
#include "job/rate.h"
#include "store/anchor.h"
#include "store/checks.h"
#include "store/driver.h"
#include "store/scheme.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const struct store_driver *const drivers[] = {
    &store_sqlite, &store_memory,         &store_postgres, &store_postgresql,
    &store_redis,  &store_redis_sentinel, &store_rediss,   &store_rediss_sentinel,
};

#define URL_MAX ((size_t)64 * 1024)

/* ---- open and close ---- */

/* NULL: there is none. */
static const struct store_driver *find_driver(const char *scheme)
{
    for (size_t i = 0; i < COUNT_OF(drivers); i++)
        if (text_equal(drivers[i]->scheme, scheme))
            return drivers[i];
    return NULL;
}

static void add_schemes(struct buffer *known)
{
    for (size_t i = 0; i < COUNT_OF(drivers); i++)
        buffer_printf(known, "%s%s:", i == 0 ? "" : ", ", drivers[i]->scheme);
}

static const char *closest_scheme(const char *scheme)
{
    const char *schemes[COUNT_OF(drivers)];

    for (size_t i = 0; i < COUNT_OF(drivers); i++)
        schemes[i] = drivers[i]->scheme;
    return text_closest(scheme, schemes, COUNT_OF(schemes));
}

static void refuse_scheme(const struct store_url *url, struct error *err)
{
    CLEANUP(buffer_done) struct buffer known = BUFFER(256);
    const char *advice = scheme_advice(url->scheme);
    const char *closest = closest_scheme(url->scheme);

    add_schemes(&known);
    if (advice)
        error_set(err, TH_E_INVALID, "%s: there is no backend '%s': %s", url->shown, url->scheme,
                  advice);
    else if (closest)
        error_set(err, TH_E_INVALID, "%s: there is no backend '%s' (did you mean '%s'?)",
                  url->shown, url->scheme, closest);
    else
        error_set(err, TH_E_INVALID, "%s: this build has no backend '%s' (it has %s)", url->shown,
                  url->scheme, buffer_str(&known));
}

/* NULL when it failed. */
static const struct store_driver *understand(const char *text, const char *folder,
                                             struct store_url *url_out, struct error *err)
{
    CLEANUP(buffer_done) struct buffer anchored = BUFFER(URL_MAX);
    CLEANUP(buffer_done) struct buffer plain = BUFFER(URL_MAX);

    anchor_url(text, folder, &anchored);
    scheme_add_url(&plain, buffer_str(&anchored));
    if (!buffer_ok(&anchored, err) || !buffer_ok(&plain, err)) {
        error_prefix(err, "backend URL");
        return NULL;
    }
    if (!url_parse(buffer_str(&plain), url_out, err))
        return NULL;
    const struct store_driver *driver = find_driver(url_out->scheme);
    if (!driver)
        refuse_scheme(url_out, err);
    return driver;
}

bool store_check_url(const char *url_text, const char *folder, struct error *err)
{
    CLEANUP(url_done) struct store_url url = {0};
    const struct store_driver *driver = understand(url_text, folder, &url, err);

    return driver && driver->check_url(&url, err);
}

usec_t store_patience(const struct store_options *options)
{
    return options->deadline > 0 && options->deadline < CALL_DEADLINE ? options->deadline
                                                                      : CALL_DEADLINE;
}

const char *store_caller(const struct store_options *options)
{
    return options->caller ? options->caller : "taskharbor";
}

usec_t store_deadline(const struct store *store)
{
    return clock_boot() + (store->deadline != 0 ? store->deadline : CALL_DEADLINE);
}

bool store_open(const char *url_text, const struct store_options *options, struct store **store_out,
                struct error *err)
{
    CLEANUP(url_done) struct store_url url = {0};
    const struct store_driver *driver = understand(url_text, options->folder, &url, err);
    struct store *store = NULL;

    *store_out = NULL;
    if (!driver || !driver->open(&url, options, &store, err))
        return false;
    store->deadline = store_patience(options);
    store->max_payload = options->max_payload != 0 ? options->max_payload : JOB_PAYLOAD_DEFAULT;
    store->batch_min = options->batch_min != 0 ? options->batch_min : BATCH_MIN;
    store->name = strdup(url.shown);
    store->clock = options->clock ? options->clock : &store->own_clock;
    store->is_clocked = options->clock != NULL;
    if (!store->name || !store_clock_measure(store, err)) {
        bool named = store->name != NULL;
        store_close(&store);
        return named ? false : error_no_memory(err);
    }
    *store_out = store;
    return true;
}

void store_close(struct store **store)
{
    if (*store)
        (*store)->driver->close(*store);
    *store = NULL;
}

const char *store_name(const struct store *store)
{
    return store->name;
}

bool store_schema(struct store *store, struct store_schema *schema_out, struct error *err)
{
    *schema_out = (struct store_schema){0};
    return checks_open(store, err) && store->driver->schema(store, schema_out, err);
}

bool store_publish(struct store *store, const struct store_limits *limits, struct error *err)
{
    if (!checks_open(store, err))
        return false;
    return !store->driver->publish || store->driver->publish(store, limits, err);
}

bool store_durability(struct store *store, char text[STORE_DURABILITY_SIZE], bool *is_safe_out,
                      struct error *err)
{
    text[0] = '\0';
    *is_safe_out = true;
    if (!checks_open(store, err))
        return false;
    return !store->driver->durability || store->driver->durability(store, text, is_safe_out, err);
}

/* ---- checks ---- */

static bool check_share(const struct queue_share *share, struct error *err)
{
    return checks_queue(share->queue, err) &&
           (rate_is_valid(&share->rate) ||
            error_set(err, TH_E_INVALID, "queue %s: a rate is 1 to a billion in a second to a day",
                      share->queue));
}

static bool check_reservation(const struct reservation *wanted, struct error *err)
{
    for (size_t i = 0; i < wanted->queue_count; i++)
        if (!check_share(&wanted->queues[i], err))
            return false;
    return checks_pool(wanted->pool, err) &&
           checks_lease(wanted->lease_for != 0 ? wanted->lease_for : wanted->lease_default, err);
}

static bool check_job(const struct store *store, const struct job *job, struct error *err)
{
    struct job copy = *job;

    return job_validate(&copy, store->max_payload, err);
}

static bool check_aside(const struct settlement *settlement, struct error *err)
{
    return settlement->kind != SETTLE_ASIDE || settlement->aside != ASIDE_NONE ||
           error_set(err, TH_E_INVALID, "a job is set aside for a reason");
}

static bool check_settlement(const struct store *store, const struct settlement *settlement,
                             struct error *err)
{
    if (!checks_queue(settlement->queue, err) || !checks_run_at(settlement->run_at, err) ||
        !check_aside(settlement, err))
        return false;
    if (!settlement->on_dead)
        return true;
    /* A key could be refused by what is stored, and a dead job must always get its end. */
    if (settlement->on_dead->key)
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

/* After each call that worked. */
static bool follow(struct store *store)
{
    store_clock_refresh(store);
    return true;
}

bool store_exchange(struct store *store, const struct settlement_list *finished,
                    const struct reservation *wanted, size_t wanted_count, usec_t now,
                    enum th_error_code *verdicts_out, struct job_list *jobs_out, struct error *err)
{
    const size_t before = jobs_out->count;

    if (!checks_open(store, err) || !check_settlements(store, finished, err))
        return false;
    for (size_t i = 0; i < wanted_count; i++)
        if (!check_reservation(&wanted[i], err))
            return wanted_count == 1 ? false : error_prefix(err, "reservation %zu", i + 1);
    if (store->driver->exchange(store, finished, wanted, wanted_count, now, verdicts_out, jobs_out,
                                err))
        return follow(store);
    /* Whoever tries again with the same list must not find jobs in it that it does not hold. */
    jobs_out->count = before;
    return false;
}

bool store_can_overlap(const struct store *store)
{
    return store && store->driver->exchange_begin;
}

bool store_exchange_begin(struct store *store, const struct settlement_list *finished,
                          const struct reservation *wanted, usec_t now,
                          enum th_error_code *verdicts_out, struct job_list *jobs_out,
                          struct error *err)
{
    if (!checks_open(store, err) || !check_settlements(store, finished, err) ||
        !check_reservation(wanted, err))
        return false;
    if (!store->driver->exchange_begin(store, finished, wanted->queue_count > 0 ? wanted : NULL,
                                       now, verdicts_out, jobs_out, err))
        return false;
    store->out++;
    return true;
}

/* Only the last one asks for the time: while others are out, the answer would have to wait. */
bool store_exchange_end(struct store *store, struct error *err)
{
    assert(store->out > 0);
    store->out--;
    return store->driver->exchange_end(store, err) && (store->out > 0 || follow(store));
}

int store_exchange_fd(const struct store *store)
{
    return store->driver->exchange_fd(store);
}

bool store_reserve(struct store *store, const struct reservation *wanted, usec_t now,
                   struct job_list *jobs_out, struct error *err)
{
    const struct settlement_list nothing = {0};

    return store_exchange(store, &nothing, wanted, 1, now, NULL, jobs_out, err);
}

bool store_settle(struct store *store, const struct settlement_list *finished, usec_t now,
                  enum th_error_code *verdicts_out, struct error *err)
{
    if (!checks_open(store, err) || !check_settlements(store, finished, err))
        return false;
    return finished->count == 0 ||
           (store->driver->exchange(store, finished, NULL, 0, now, verdicts_out, NULL, err) &&
            follow(store));
}

bool store_held(struct store *store, const char *pool, struct job_list *jobs_out, struct error *err)
{
    return checks_open(store, err) && checks_pool(pool, err) &&
           store->driver->held(store, pool, jobs_out, err);
}

bool store_watch(struct store *store, const struct watch *watch, usec_t until, usec_t now,
                 struct error *err)
{
    if (!checks_open(store, err))
        return false;
    return (watch->count == 0 && !watch->pools) ||
           store->driver->watch(store, watch, until, now, err);
}

/* ---- upkeep ---- */

bool store_promote(struct store *store, enum job_state state, usec_t now, size_t limit,
                   size_t *moved_out, usec_t *next_due_out, struct error *err)
{
    if (!checks_open(store, err))
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
    return checks_open(store, err) && store->driver->reclaim(store, now, limit, moved_out, err) &&
           follow(store);
}

bool store_prune(struct store *store, const struct retention *keep, usec_t now, size_t limit,
                 size_t *removed_out, struct error *err)
{
    return checks_open(store, err) &&
           store->driver->prune(store, keep, now, limit, removed_out, err) && follow(store);
}

static bool check_schedule(const char *name, struct error *err)
{
    return job_name_check(name, JOB_NAME_MAX, err) || error_prefix(err, "cron");
}

bool store_cron_enqueue(struct store *store, const char *name, usec_t slot, struct job *job,
                        usec_t now, bool *stored_out, struct error *err)
{
    return checks_open(store, err) && job_validate(job, store->max_payload, err) &&
           check_schedule(name, err) &&
           store->driver->cron_enqueue(store, name, slot, job, now, stored_out, err) &&
           follow(store);
}

bool store_cron_last(struct store *store, const char *name, usec_t now, struct cron_past *past_out,
                     struct error *err)
{
    *past_out = (struct cron_past){0};
    return checks_open(store, err) && check_schedule(name, err) &&
           store->driver->cron_last(store, name, now, past_out, err);
}

bool store_cron_mark(struct store *store, const char *name, usec_t slot, usec_t now,
                     struct error *err)
{
    return checks_open(store, err) && check_schedule(name, err) &&
           store->driver->cron_mark(store, name, slot, now, err);
}

bool store_cron_pause(struct store *store, const char *name, const char *by, usec_t now,
                      struct error *err)
{
    return checks_open(store, err) && check_schedule(name, err) && checks_by(by, err) &&
           store->driver->cron_pause(store, name, by, cron_first_mark(now), now, err);
}

bool store_cron_resume(struct store *store, const char *name, usec_t now, struct error *err)
{
    return checks_open(store, err) && check_schedule(name, err) &&
           store->driver->cron_resume(store, name, cron_first_mark(now), now, err);
}

/* ---- sleep and wake ---- */

bool store_wait_fd(struct store *store, int *fd_out, struct error *err)
{
    return checks_open(store, err) && store->driver->wait_fd(store, fd_out, err);
}

bool store_wait(struct store *store, usec_t timeout, bool *rang_out, struct error *err)
{
    return checks_open(store, err) && store->driver->wait(store, timeout, rang_out, err);
}

bool store_check_bell(struct store *store, struct error *err)
{
    return checks_open(store, err) &&
           (!store->driver->check_bell || store->driver->check_bell(store, err));
}

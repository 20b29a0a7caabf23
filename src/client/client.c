/*
 * client.c - the functions of <taskharbor/client.h>.
 *
 * Each one checks what it was given (request.c), calls the store, and hands out what came back
 * (record.c). Nothing is decided here.
 *
 * Invariants:
 *   - A handle is used by the process that opened it and no other: a database connection that two
 *     processes share corrupts what it writes.
 *   - A pointer that a call should have returned is NULL when the call failed.
 */
#include <taskharbor/client.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "client/enqueue.h"
#include "client/follow.h"
#include "client/record.h"
#include "client/request.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <taskharbor/version.h>
#include <unistd.h>

struct th_client {
    struct store *store; /* owned */
    struct enqueue enqueue;
    pid_t opened_by;
};

static_assert(TH_ID_SIZE >= UUID_TEXT_SIZE, "an id does not fit TH_ID_SIZE");
static_assert(TH_FAILURE_TEXT_SIZE >= ERROR_TEXT_SIZE, "a text does not fit struct th_failure");

/* ---- what all calls share ---- */

/* The last step of a call that failed. */
static bool report(const struct error *err, struct th_failure *failure)
{
    if (!failure)
        return false;
    failure->code = err->code;
    memcpy(failure->text, err->text, sizeof err->text);
    return false;
}

/* The first step of every call on a client. */
static bool may_use(const struct th_client *client, struct error *err)
{
    if (!client)
        return error_set(err, TH_E_INVALID, "client is NULL");
    if (client->opened_by != getpid())
        return error_set(err, TH_E_INVALID,
                         "client was opened by process %d: fork first, open afterwards",
                         (int)client->opened_by);
    return true;
}

static bool has_place(const void *out, const char *name, struct error *err)
{
    return out || error_set(err, TH_E_INVALID, "%s is NULL", name);
}

/* What a store says about one id. */
static bool accept_verdict(enum th_error_code verdict, const char *id, const char *conflict,
                           struct error *err)
{
    if (verdict == TH_OK)
        return true;
    if (verdict == TH_E_NOT_FOUND)
        return error_set(err, verdict, "there is no job %s", id);
    if (verdict == TH_E_CONFLICT)
        return error_set(err, verdict, "job %s %s", id, conflict);
    return error_set(err, verdict, "job %s: %s", id, error_code_name(verdict));
}

/* ---- names ---- */

const char *th_error_name(enum th_error_code code)
{
    return error_code_name(code);
}

const char *th_version(void)
{
    return TH_VERSION;
}

const char *th_state_name(enum th_state state)
{
    enum job_state stored;

    if (state == TH_STATE_ANY)
        return "any";
    return record_to_job_state(state, &stored) ? job_state_name(stored) : "unknown";
}

bool th_state_has_ended(enum th_state state)
{
    enum job_state stored;

    return record_to_job_state(state, &stored) && job_state_has_ended(stored);
}

/* ---- open and close ---- */

static bool open_client(const char *url, const struct th_options *given, struct th_client *client,
                        struct error *err)
{
    struct th_options options;
    const char *backend = url ? url : secure_getenv("TASKHARBOR_BACKEND");

    if (text_is_blank(backend))
        return error_set(err, TH_E_INVALID, "url is missing, and TASKHARBOR_BACKEND is not set");
    if (!request_options(given, &options, err))
        return false;

    const struct store_options store_options = {
        .migrate = options.migrate != 0,
        .max_payload = options.max_payload,
    };

    client->opened_by = getpid();
    client->enqueue = enqueue_defaults();
    client->enqueue.idempotency_window = options.idempotency_window;
    return store_open(backend, &store_options, &client->store, err);
}

bool th_open(const char *url, const struct th_options *options, struct th_client **client_out,
             struct th_failure *failure)
{
    struct error err;

    if (!has_place(client_out, "client_out", &err))
        return report(&err, failure);
    *client_out = NULL;

    struct th_client *client = calloc(1, sizeof *client);

    if (!client) {
        error_no_memory(&err);
        return report(&err, failure);
    }
    if (!open_client(url, options, client, &err)) {
        free(client);
        return report(&err, failure);
    }
    *client_out = client;
    return true;
}

void th_close(struct th_client *client)
{
    if (!client)
        return;
    if (client->opened_by == getpid())
        store_close(&client->store);
    free(client);
}

th_usec th_now(const struct th_client *client)
{
    return client ? store_now(client->store) : 0;
}

/* ---- enqueue ---- */

static void fill_receipts(const struct enqueued *answers, size_t count, struct th_receipt *out)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = (struct th_receipt){
            .state = record_state(answers[i].state),
            .existed = answers[i].existed,
            .updated = answers[i].updated,
        };
        uuid_format(&answers[i].id, out[i].id);
    }
}

/* Nobody knows whether the jobs were stored: the ids are what the caller needs to ask again. */
static void fill_ids(const struct job *jobs, size_t count, struct th_receipt *out)
{
    for (size_t i = 0; i < count; i++)
        uuid_format(&jobs[i].id, out[i].id);
}

static void *allocate(struct arena *arena, size_t count, size_t size)
{
    return count > SIZE_MAX / size ? NULL : arena_alloc(arena, count * size);
}

static bool enqueue(struct th_client *client, const struct th_new_job *given, size_t count,
                    struct th_receipt *receipts_out, struct error *err)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct job *jobs = allocate(&arena, count, sizeof *jobs);
    struct enqueued *answers = allocate(&arena, count, sizeof *answers);

    if (!jobs || !answers)
        return error_no_memory(err);
    if (!request_jobs(given, count, jobs, err))
        return false;

    bool stored = enqueue_jobs(&client->enqueue, client->store, jobs, count,
                               store_now(client->store), answers, err);

    if (receipts_out && stored)
        fill_receipts(answers, count, receipts_out);
    if (receipts_out && !stored && err->code == TH_E_UNCERTAIN)
        fill_ids(jobs, count, receipts_out);
    return stored;
}

bool th_enqueue(struct th_client *client, const struct th_new_job *job,
                struct th_receipt *receipt_out, struct th_failure *failure)
{
    return th_enqueue_many(client, job, 1, receipt_out, failure);
}

bool th_enqueue_many(struct th_client *client, const struct th_new_job *jobs, size_t count,
                     struct th_receipt *receipts_out, struct th_failure *failure)
{
    struct error err;

    if (receipts_out && count > 0)
        memset(receipts_out, 0, count * sizeof *receipts_out);
    if (!may_use(client, &err))
        return report(&err, failure);
    if (count == 0 || enqueue(client, jobs, count, receipts_out, &err))
        return true;
    return report(&err, failure);
}

/* ---- look ---- */

static bool get(struct th_client *client, const char *id, struct th_job_info **job_out,
                struct error *err)
{
    CLEANUP(job_list_done) struct job_list found = {0};
    struct uuid job;

    return request_id("id", id, &job, err) && store_get(client->store, &job, &found, err) &&
           record_new_job(&found, job_out, err);
}

bool th_get(struct th_client *client, const char *id, struct th_job_info **job_out,
            struct th_failure *failure)
{
    struct error err;

    if (!has_place(job_out, "job_out", &err))
        return report(&err, failure);
    *job_out = NULL;
    return (may_use(client, &err) && get(client, id, job_out, &err)) || report(&err, failure);
}

void th_job_info_free(struct th_job_info *job)
{
    record_free_job(job);
}

static bool list(struct th_client *client, const struct th_filter *given, struct th_page **page_out,
                 struct error *err)
{
    CLEANUP(job_list_done) struct job_list found = {0};
    struct job_filter filter;
    struct job_cursor next;

    return request_filter(given, &filter, err) &&
           store_list(client->store, &filter, &found, &next, err) &&
           record_new_page(&found, &next, page_out, err);
}

bool th_list(struct th_client *client, const struct th_filter *filter, struct th_page **page_out,
             struct th_failure *failure)
{
    struct error err;

    if (!has_place(page_out, "page_out", &err))
        return report(&err, failure);
    *page_out = NULL;
    return (may_use(client, &err) && list(client, filter, page_out, &err)) || report(&err, failure);
}

void th_page_free(struct th_page *page)
{
    record_free_page(page);
}

/* Who follows a job, between follow.c and the caller's function. */
struct watcher {
    th_seen seen;
    void *context;
    struct error *err;
    bool failed;
};

static bool show(const struct job *job, void *context)
{
    struct watcher *watcher = context;
    CLEANUP(arena_done) struct arena arena = {0};
    struct th_job_info info;

    if (!watcher->seen)
        return true;
    watcher->failed = !record_fill_job(job, &arena, &info, watcher->err);
    return !watcher->failed && watcher->seen(&info, watcher->context);
}

static bool wait_for(struct th_client *client, const char *id, usec_t timeout,
                     struct watcher *watcher, struct th_job_info **job_out)
{
    CLEANUP(job_list_done) struct job_list found = {0};
    const struct follow follow = {.seen = show, .context = watcher};
    struct uuid job;
    bool ended = false;

    if (timeout < 0)
        return error_set(watcher->err, TH_E_INVALID, "timeout is negative");
    return request_id("id", id, &job, watcher->err) &&
           follow_job(client->store, &job, timeout, &follow, &found, &ended, watcher->err) &&
           !watcher->failed && record_new_job(&found, job_out, watcher->err);
}

bool th_wait(struct th_client *client, const char *id, th_usec timeout, th_seen seen, void *context,
             struct th_job_info **job_out, struct th_failure *failure)
{
    struct error err;
    struct watcher watcher = {.seen = seen, .context = context, .err = &err};

    if (!has_place(job_out, "job_out", &err))
        return report(&err, failure);
    *job_out = NULL;
    return (may_use(client, &err) && wait_for(client, id, timeout, &watcher, job_out)) ||
           report(&err, failure);
}

static bool stats(struct th_client *client, struct th_stats **stats_out, struct error *err)
{
    CLEANUP(queue_stats_list_done) struct queue_stats_list queues = {0};

    return store_stats(client->store, &queues, err) && record_new_stats(&queues, stats_out, err);
}

bool th_stats(struct th_client *client, struct th_stats **stats_out, struct th_failure *failure)
{
    struct error err;

    if (!has_place(stats_out, "stats_out", &err))
        return report(&err, failure);
    *stats_out = NULL;
    return (may_use(client, &err) && stats(client, stats_out, &err)) || report(&err, failure);
}

void th_stats_free(struct th_stats *stats)
{
    record_free_stats(stats);
}

/* ---- settle and steer ---- */

bool th_cancel(struct th_client *client, const char *id, struct th_failure *failure)
{
    enum th_error_code verdict = TH_OK;
    struct uuid job;
    struct error err;

    return (may_use(client, &err) && request_id("id", id, &job, &err) &&
            store_cancel(client->store, &job, 1, store_now(client->store), &verdict, &err) &&
            accept_verdict(verdict, id, "has ended", &err)) ||
           report(&err, failure);
}

bool th_retry(struct th_client *client, const char *id, th_usec run_at, struct th_failure *failure)
{
    enum th_error_code verdict = TH_OK;
    struct uuid job;
    struct error err;

    return (may_use(client, &err) && request_id("id", id, &job, &err) &&
            request_run_at(run_at, &err) &&
            store_requeue(client->store, &job, 1, run_at, store_now(client->store), &verdict,
                          &err) &&
            accept_verdict(verdict, id,
                           "is neither dead nor cancelled, or another one with its key waits",
                           &err)) ||
           report(&err, failure);
}

bool th_run(struct th_client *client, const char *id, struct th_failure *failure)
{
    enum th_error_code verdict = TH_OK;
    struct uuid job;
    struct error err;

    return (may_use(client, &err) && request_id("id", id, &job, &err) &&
            store_run_now(client->store, &job, 1, store_now(client->store), &verdict, &err) &&
            accept_verdict(verdict, id, "is blocked or running, or has ended", &err)) ||
           report(&err, failure);
}

bool th_remove(struct th_client *client, const char *id, struct th_failure *failure)
{
    enum th_error_code verdict = TH_OK;
    struct uuid job;
    struct error err;

    return (may_use(client, &err) && request_id("id", id, &job, &err) &&
            store_remove(client->store, &job, 1, &verdict, &err) &&
            accept_verdict(verdict, id, "has not ended", &err)) ||
           report(&err, failure);
}

bool th_pause(struct th_client *client, const char *queue, struct th_failure *failure)
{
    struct error err;

    return (may_use(client, &err) && request_queue(queue, &err) &&
            store_pause(client->store, queue, NULL, store_now(client->store), &err)) ||
           report(&err, failure);
}

bool th_resume(struct th_client *client, const char *queue, struct th_failure *failure)
{
    struct error err;

    return (may_use(client, &err) && request_queue(queue, &err) &&
            store_resume(client->store, queue, &err)) ||
           report(&err, failure);
}

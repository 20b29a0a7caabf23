/*
 * scene.h - what a case starts with: a handle, a queue of its own, and the few moves that nearly
 * every case makes.
 *
 *     CLEANUP(scene_close) struct scene scene = scene_open();
 *     struct uuid id = scene_add(&scene);
 *     struct claim claim = scene_take(&scene, NOW);
 *     scene_finish(&scene, &claim, SETTLE_ACK, NOW);
 *     ASSERT_STATE(&scene, &id, JOB_DONE);
 *
 * Functions named scene_* assert that the store did what it was asked to; what a case expects to
 * be refused it asks of the store itself. They are for the test's own process: see companion.h
 * for the others.
 */
#ifndef TESTS_CONTRACT_SCENE_H
#define TESTS_CONTRACT_SCENE_H

#include "backends.h"
#include "base/base.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/uuid.h"
#include "child.h"
#include "job/job.h"
#include "job/lease.h"
#include "job/settlement.h"
#include "store/store.h"

#include <check.h>

#define NOW        ((usec_t)1893553445123456) /* 2030-01-02T03:04:05.123456Z */
#define SECONDS(n) ((usec_t)(n)*USEC_PER_SEC)
#define LEASE      SECONDS(30)
#define LATER      (NOW + SECONDS(600)) /* when what a scene postpones is due */
#define POOL       "pool-1"
#define MANY       1000 /* more than a scene ever has of anything, unless it says so */

/* `err` is the caller's struct error. */
#define MUST(call) ck_assert_msg(call, "%s", err.text)
#define MUST_FAIL(expected, call)                                                                  \
    do {                                                                                           \
        ck_assert_msg(!(call), "it was not refused");                                              \
        ASSERT_VERDICT(err.code, expected);                                                        \
    } while (0)

#define ASSERT_VERDICT(actual, expected)                                                           \
    ck_assert_str_eq(error_code_name(actual), error_code_name(expected))
#define ASSERT_STATE(scene, id, expected)                                                          \
    ck_assert_str_eq(job_state_name(scene_state(scene, id)), job_state_name(expected))
#define ASSERT_SAME_ID(actual, expected) ck_assert_mem_eq((actual), (expected), sizeof(struct uuid))
#define ASSERT_TIME(actual, expected)    ck_assert_int_eq((actual), (expected))

struct scene {
    struct store *store;
    struct keeper keeper; /* of a database of its own, while the handle is closed */
    usec_t deadline;      /* of a handle that is opened from now on; 0: the usual one */
    char url[BACKEND_URL_SIZE];
    char queue[JOB_NAME_MAX + 1];
    struct uuid_maker ids;
    struct queue_share share; /* what scene_wants() points to */
};

/* What somebody who reserved a job knows of it. */
struct claim {
    struct uuid id;
    const char *queue;
    struct lease_token token;
    int64_t ref;
    int64_t executions;
    int stalls;
    usec_t expires_at;
};

/* Once, before the first case and after the last one. Libcheck passes nothing to a test, so
 * scene.c keeps it. */
void scene_use_backend(const struct backend *backend, const char *root);
void scene_leave_backend(void);

/* From now on cases have one process, and hand the handle to the shared database on to the next. */
void scene_share_handle(void);

/* Before a fork: a handle belongs to one process. */
void scene_drop_handle(void);

const struct backend *scene_backend(void);

/* On the database that all cases of a run share, or on one of its own, for cases that look at all
 * of it. scene_name_fresh() only names it: nothing is there, and the scene has no handle. */
struct scene scene_open(void);
struct scene scene_open_fresh(void);
struct scene scene_name_fresh(void);
void scene_close(struct scene *scene);
void scene_reopen(struct scene *scene);

/* ---- enqueue ---- */

/* A valid job for the scene's queue, with an id and not stored. */
struct job scene_job(struct scene *scene);

struct enqueued scene_enqueue(struct scene *scene, struct job job, usec_t now);

/* A plain job, ready at NOW. */
struct uuid scene_add(struct scene *scene);
void scene_add_many(struct scene *scene, size_t count, struct uuid *ids_out);

/* ---- reserve and settle ---- */

struct batch_token batch_fresh(void);

/* Up to `max` jobs of the scene's queue for POOL. Valid until the next call. */
struct reservation scene_wants(struct scene *scene, size_t max);

void scene_reserve(struct scene *scene, const struct reservation *wanted, usec_t now,
                   struct job_list *jobs_out);

/* Exactly one job: the next of the queue, of a type, or the next which has to be this one. */
struct claim scene_take(struct scene *scene, usec_t now);
struct claim scene_take_type(struct scene *scene, const char *type, usec_t now, usec_t lease_for);
struct claim scene_take_this(struct scene *scene, const struct uuid *id, usec_t now);
void scene_take_nothing(struct scene *scene, usec_t now);

struct claim claim_of(const struct scene *scene, const struct job *job);

/* A settlement as plain as the kind allows: retry and snooze until LATER. */
struct settlement claim_settlement(const struct claim *claim, enum settlement_kind kind);
enum th_error_code scene_settle(struct scene *scene, const struct settlement *settlement,
                                usec_t now);

/* Settles it, plainly and with success. */
void scene_finish(struct scene *scene, const struct claim *claim, enum settlement_kind kind,
                  usec_t now);

/* ---- upkeep and people ---- */

size_t scene_promote(struct scene *scene, enum job_state state, usec_t now);
size_t scene_reclaim(struct scene *scene, usec_t now);
struct job_cursor scene_list(struct scene *scene, const struct job_filter *filter,
                             struct job_list *list);
enum th_error_code scene_cancel(struct scene *scene, const struct uuid *id, usec_t now);
enum th_error_code scene_run_now(struct scene *scene, const struct uuid *id, usec_t now);
enum th_error_code scene_requeue(struct scene *scene, const struct uuid *id, usec_t run_at,
                                 usec_t now);
enum th_error_code scene_remove(struct scene *scene, const struct uuid *id);

/* The job as `list` holds it from now on. */
const struct job *scene_get(struct scene *scene, const struct uuid *id, struct job_list *list);
enum job_state scene_state(struct scene *scene, const struct uuid *id);
bool scene_has(struct scene *scene, const struct uuid *id);

/* How many jobs the scene's queue has, in all states. */
size_t scene_count(struct scene *scene);

struct queue_stats scene_stats(struct scene *scene);

/* ---- the whole record, as text: what a call that failed must not change ---- */

/* The caller frees it. "gone" for a job that is not there. */
char *scene_snapshot(struct scene *scene, const struct uuid *id);
char *scene_snapshot_queue(struct scene *scene);
void assert_unchanged(struct scene *scene, const struct uuid *id, const char *before);
void assert_queue_unchanged(struct scene *scene, const char *before);
void assert_same_record(const struct job *a, const struct job *b);

#endif

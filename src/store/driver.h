/*
 * driver.h - what a backend implements.
 *
 * Callers include "store/store.h", which says what each operation means; store.c checks the
 * arguments and calls the operation of the same name here. Only the drivers in this folder
 * include this file. To add a backend: fill in one struct store_driver in a folder of its own,
 * list it in store.c, add a row to tests/contract/backends.c, and run the contract suite.
 *
 * Every driver keeps these promises, and the contract tests check each of them:
 *
 *   P1  At most one valid lease exists per job. Its token is the proof; it is valid while
 *       now < expires_at, and at expires_at it has ended.
 *   P2  A settlement needs the valid lease, takes effect once, and is safe to repeat: an ended
 *       job answers the same kind with the same token with TH_OK. Checked in this order:
 *       not_found, not_running, lease_expired, lease_mismatch. A release of what was never
 *       started (settlement_is_unstarted()) needs only the token, until somebody else has the job.
 *   P3  Within one queue, jobs are reserved by (priority, due, sequence). Release, reclaim and
 *       setting aside keep the place; retry, snooze and updates set due anew. What is aside is not
 *       reserved, costs a reserve nothing, and comes back to its place.
 *   P4  A call that returns false changed nothing, unless err->code is TH_E_UNCERTAIN: the
 *       connection broke after the request was sent. An item whose verdict is not TH_OK changed
 *       nothing, and does not spoil the others. A group of enqueue is an item. A store of several
 *       parts, such as a cluster, says of the items of a part that does not answer that they are
 *       TH_E_UNAVAILABLE, or TH_E_UNCERTAIN, and serves the others.
 *   P5  `now` is handed in. A driver never reads the machine's clock but in read_clock, and to ask
 *       the database whether a lease is over for a caller that follows its clock
 *       (store.is_clocked).
 *   P6  A driver counts and moves; it never computes a delay, never compares a job's counts with
 *       their limits, never decides that a job is dead, never chooses between queues. The limits
 *       of a share are kept by it, as job/rate.h says: only the store sees all pools.
 *   P7  Per queue and key at most one job waits and at most one runs; per queue and idempotency
 *       key one job is stored until the record expires. Both hold among any number of racers.
 *   P8  A running job that was asked to cancel ends as cancelled, whatever returns it but ack.
 *   P9  What is answered is durable, as far as the backend can: enqueue and settle answer after the
 *       commit. Whoever sleeps in wait is woken after the commit, never before.
 *   P10 Times are int64 microseconds and payloads are bytes: both come back exactly.
 *   P11 Every call ends within the store's deadline; what could not be done is TH_E_UNAVAILABLE.
 *   P12 Headers and tags go with a job wherever it goes, and with its payload when that is merged.
 * A tag leads to exactly those jobs that have it, in every state. Jobs without either cost nothing
 * more.
 */
#ifndef STORE_DRIVER_H
#define STORE_DRIVER_H

#include "base/base.h"
#include "store/store.h"
#include "store/url.h"

/* How long a call may wait for the backend before it gives up, if nobody wants it sooner. */
#define CALL_DEADLINE (5 * USEC_PER_SEC)

/* Fewer leases cost less one by one than as a batch. */
#define BATCH_MIN 16

struct store_driver;

/* The part of a store that every driver has in common: the first member of its own struct. */
struct store {
    const struct store_driver *driver; /* set by open */
    char *name;                        /* owned; the URL without secrets */
    size_t max_payload;
    /* From so many plain jobs of one queue on a reserve gives them one lease. */
    size_t batch_min;
    usec_t deadline; /* of each call; 0, while it is opened: CALL_DEADLINE */
    /* Whoever calls follows the database's clock: a lease is over, to be taken back or refused,
     * only when the database's own clock says so, too. */
    bool is_clocked;
    struct timekeeper *clock; /* the caller's, or its own */
    struct timekeeper own_clock;
    size_t out; /* exchanges that were begun, and not ended */
};

struct store_driver {
    const char *scheme; /* "sqlite", as in sqlite:./jobs.db */

    /* Whether such a URL can be meant, and the files that it names can be read; connects to nobody.
     */
    bool (*check_url)(const struct store_url *url, struct error *err);
    bool (*open)(const struct store_url *url, const struct store_options *options,
                 struct store **store_out, struct error *err);
    void (*close)(struct store *store);
    bool (*schema)(struct store *store, struct store_schema *schema_out, struct error *err);
    /* NULL: the database is on this machine, and so is its clock. */
    bool (*read_clock)(struct store *store, usec_t *now_out, struct error *err);
    bool (*durability)(struct store *store, char text[STORE_DURABILITY_SIZE], bool *is_safe_out,
                       struct error *err); /* NULL: what is confirmed is always kept */

    /* The path of a job, in order. exchange with nothing finished is reserve, with nothing wanted
     * (wanted_count is 0) is settle. Leases last longer than asked for by store_lead(). */
    bool (*enqueue)(struct store *store, struct enqueue_group *const *groups, size_t count,
                    usec_t now, struct error *err); /* of valid jobs; the verdicts are TH_OK */
    bool (*exchange)(struct store *store, const struct settlement_list *finished,
                     const struct reservation *wanted, size_t wanted_count, usec_t now,
                     enum th_error_code *verdicts_out, struct job_list *jobs_out,
                     struct error *err);
    /* NULL, all three: every exchange is waited for. `wanted` is one reservation, or NULL. What it
     * points to stays until the end, and so do the other arguments; `wanted` itself does not. */
    bool (*exchange_begin)(struct store *store, const struct settlement_list *finished,
                           const struct reservation *wanted, usec_t now,
                           enum th_error_code *verdicts_out, struct job_list *jobs_out,
                           struct error *err);
    bool (*exchange_end)(struct store *store, struct error *err);
    int (*exchange_fd)(const struct store *store);
    bool (*held)(struct store *store, const char *pool, struct job_list *jobs_out,
                 struct error *err);
    bool (*heartbeat)(struct store *store, const struct heartbeat *heartbeats, size_t count,
                      usec_t now, struct lease_answer *answers_out, struct pool_answer *pools_out,
                      struct error *err);
    bool (*watch)(struct store *store, const struct watch *watch, usec_t until, usec_t now,
                  struct error *err);

    /* NULL: nobody comes in but by this driver. */
    bool (*publish)(struct store *store, const struct store_limits *limits, struct error *err);

    /* Upkeep. */
    bool (*promote)(struct store *store, enum job_state state, usec_t now, size_t limit,
                    size_t *moved_out, usec_t *next_due_out, struct error *err);
    bool (*reclaim)(struct store *store, usec_t now, size_t limit, size_t *moved_out,
                    struct error *err);
    bool (*aside)(struct store *store, const char *const *queues, size_t count,
                  struct aside_list *types_out, struct error *err); /* count 0: all queues */
    bool (*bring_back)(struct store *store, const struct aside_type *type, usec_t before,
                       size_t limit, size_t *moved_out, struct error *err); /* before 0: any */
    bool (*give_up)(struct store *store, const struct aside_type *type, usec_t before, usec_t now,
                    size_t limit, size_t *ended_out, struct error *err);
    bool (*prune)(struct store *store, const struct retention *keep, usec_t now, size_t limit,
                  size_t *removed_out, struct error *err);
    bool (*cron_enqueue)(struct store *store, const char *name, usec_t slot, const struct job *job,
                         usec_t now, bool *stored_out, struct error *err);
    bool (*cron_last)(struct store *store, const char *name, usec_t now, struct cron_past *past_out,
                      struct error *err);
    /* `mark` becomes the last slot: of a schedule that has none, or when it is resumed and has no
     * later one. */
    bool (*cron_pause)(struct store *store, const char *name, const char *by, usec_t mark,
                       usec_t now, struct error *err);
    bool (*cron_resume)(struct store *store, const char *name, usec_t mark, usec_t now,
                        struct error *err);
    bool (*cron_mark)(struct store *store, const char *name, usec_t slot, usec_t now,
                      struct error *err);

    bool (*pool_register)(struct store *store, const struct pool *pool, usec_t now,
                          struct error *err);
    bool (*pools)(struct store *store, struct pool_list *pools_out, struct error *err);
    bool (*pool_remove)(struct store *store, const char *name, struct error *err);
    /* TH_E_NOT_FOUND as pool_remove says it: checks_no_pool(). */
    bool (*pool_want)(struct store *store, const char *name, enum pool_want want, const char *by,
                      usec_t now, struct error *err);
    bool (*pool_remove_silent)(struct store *store, usec_t before, struct pool_list *removed_out,
                               struct error *err);

    bool (*wait_fd)(struct store *store, int *fd_out, struct error *err);
    bool (*wait)(struct store *store, usec_t timeout, bool *rang_out, struct error *err);
    /* NULL: every other call proves it. */
    bool (*check_bell)(struct store *store, struct error *err);

    /* For people. */
    bool (*get)(struct store *store, const struct uuid *id, struct job_list *job_out,
                struct error *err); /* adds nothing when there is none */
    bool (*list)(struct store *store, const struct job_filter *filter, struct job_list *jobs_out,
                 struct job_cursor *next_out, struct error *err); /* see listing.h */
    bool (*failures)(struct store *store, size_t limit, struct job_list *jobs_out,
                     struct error *err);
    bool (*stats)(struct store *store, struct queue_stats_list *stats_out, struct error *err);
    bool (*cancel)(struct store *store, const struct uuid *ids, size_t count, usec_t now,
                   enum th_error_code *verdicts_out, struct error *err);
    bool (*run_now)(struct store *store, const struct uuid *ids, size_t count, usec_t now,
                    enum th_error_code *verdicts_out, struct error *err);
    bool (*requeue)(struct store *store, const struct uuid *ids, size_t count, usec_t run_at,
                    usec_t now, enum th_error_code *verdicts_out, struct error *err);
    bool (*remove)(struct store *store, const struct uuid *ids, size_t count,
                   enum th_error_code *verdicts_out, struct error *err);
    bool (*count_before)(struct store *store, const struct job *job, size_t limit,
                         size_t *count_out, struct error *err);
    bool (*set_paused)(struct store *store, const char *queue, usec_t paused_at, const char *by,
                       struct error *err); /* 0 resumes */
    /* *verdict_out: TH_OK, TH_E_NOT_FOUND or TH_E_CONFLICT. */
    bool (*hide_queue)(struct store *store, const char *queue, enum th_error_code *verdict_out,
                       struct error *err);
};

/* store_clock.c: asks what time it is; refresh, after every call, only if that was long ago. */
bool store_clock_measure(struct store *store, struct error *err) MUST_CHECK;
void store_clock_refresh(struct store *store);

/* Of a database on this machine: leases that end by this moment are over. The caller may have
 * waited for long since `now` was read. */
usec_t store_over_at(const struct store *store, usec_t now);

/* What is added to each lease, so that it holds whichever of two clocks somebody goes by. */
usec_t store_lead(const struct store *store);

/* When a call that begins now has to give up, on clock_boot(). */
usec_t store_deadline(const struct store *store);

/* The time that each call of a store has that is opened with these. */
usec_t store_patience(const struct store_options *options);

/* Who opens it, for the server's list of clients. */
const char *store_caller(const struct store_options *options);

/* store_enqueue.c: nothing of this group is stored, for the reason in its err. */
void enqueue_group_refuse(struct enqueue_group *group, size_t at_fault);

/* The same for those that were not tried, because of what another one met. */
void enqueue_groups_give_up(struct enqueue_group *const *groups, size_t count,
                            const struct error *err);

/* For a store that cannot take several at once: one after the other, until it does not answer. */
void enqueue_groups_singly(struct store *store, struct enqueue_group *const *groups, size_t count,
                           usec_t now,
                           bool (*enqueue)(struct store *store, struct enqueue_group *group,
                                           usec_t now, size_t *at_fault_out, struct error *err));

/* As it is stored; what nobody can have stored is nothing. */
enum pool_want pool_want_of(int64_t number);

/* A zeroed item at the end; NULL when out of memory. The items move when the list grows. */
struct pool *pool_list_add(struct pool_list *list) MUST_CHECK;
struct aside_type *aside_list_add(struct aside_list *list) MUST_CHECK;
struct queue_stats *queue_stats_list_add(struct queue_stats_list *list) MUST_CHECK;

/* A run after the others, zeroed; NULL when out of memory. Of more than JOB_RUNS_KEPT the oldest
 * goes. */
struct job_run *job_run_add(struct job *job, struct arena *arena) MUST_CHECK;

extern const struct store_driver store_sqlite;
extern const struct store_driver store_memory;
extern const struct store_driver store_postgres;
extern const struct store_driver store_postgresql; /* the same by its other name */
extern const struct store_driver store_redis;
extern const struct store_driver store_redis_sentinel;
extern const struct store_driver store_rediss; /* the same by TLS */
extern const struct store_driver store_rediss_sentinel;

#endif

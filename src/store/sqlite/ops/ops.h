/*
 * ops.h - the operations of the SQLite driver, by file. store/store.h says what each means.
 */
#ifndef SQLITE_OPS_H
#define SQLITE_OPS_H

#include "base/base.h"
#include "store/driver.h"
#include "store/sqlite/file/connection.h"

/* enqueue.c */
bool sqlite_enqueue(struct store *store, struct enqueue_group *const *groups, size_t count,
                    usec_t now, struct error *err);

/* One job, inside the caller's transaction. */
bool sqlite_enqueue_one(struct sqlite *sqlite, const struct job *job, usec_t now,
                        struct enqueued *enqueued_out, struct error *err) MUST_CHECK;

/* cron.c */
bool sqlite_cron_enqueue(struct store *store, const char *name, usec_t slot, const struct job *job,
                         usec_t now, bool *stored_out, struct error *err);
bool sqlite_cron_last(struct store *store, const char *name, usec_t now, struct cron_past *past_out,
                      struct error *err);
bool sqlite_cron_pause(struct store *store, const char *name, const char *by, usec_t mark,
                       usec_t now, struct error *err);
bool sqlite_cron_resume(struct store *store, const char *name, usec_t mark, usec_t now,
                        struct error *err);
bool sqlite_cron_mark(struct store *store, const char *name, usec_t slot, usec_t now,
                      struct error *err);

/* exchange.c */
bool sqlite_exchange(struct store *store, const struct settlement_list *finished,
                     const struct reservation *wanted, size_t wanted_count, usec_t now,
                     enum th_error_code *verdicts_out, struct job_list *jobs_out,
                     struct error *err);

/* settle.c: inside the caller's transaction. */
bool sqlite_settle_all(struct sqlite *sqlite, const struct settlement_list *finished, usec_t now,
                       enum th_error_code *verdicts_out, struct error *err) MUST_CHECK;

/* reserve.c: inside the caller's transaction. */
bool sqlite_reserve_all(struct sqlite *sqlite, const struct reservation *wanted, size_t count,
                        usec_t now, struct job_list *jobs_out, struct error *err) MUST_CHECK;

/* held.c */
bool sqlite_held(struct store *store, const char *pool, struct job_list *jobs_out,
                 struct error *err);

/* watch.c */
bool sqlite_watch(struct store *store, const struct watch *watch, usec_t until, usec_t now,
                  struct error *err);

/* Which jobs, by their seq, somebody watches now, and perhaps the pools. The caller frees them. */
#define WATCH_POOLS ((int64_t)0) /* no job has this number */
bool sqlite_watch_read(struct sqlite *sqlite, usec_t now, int64_t **seqs_out, size_t *count_out,
                       struct error *err) MUST_CHECK;

/* heartbeat.c */
bool sqlite_heartbeat(struct store *store, const struct heartbeat *heartbeats, size_t count,
                      usec_t now, struct lease_answer *answers_out, struct pool_answer *pools_out,
                      struct error *err);

/* upkeep.c */
bool sqlite_promote(struct store *store, enum job_state state, usec_t now, size_t limit,
                    size_t *moved_out, usec_t *next_due_out, struct error *err);
bool sqlite_reclaim(struct store *store, usec_t now, size_t limit, size_t *moved_out,
                    struct error *err);

/* aside.c */
bool sqlite_aside(struct store *store, const char *const *queues, size_t count,
                  struct aside_list *types_out, struct error *err);
bool sqlite_bring_back(struct store *store, const struct aside_type *type, usec_t before,
                       size_t limit, size_t *moved_out, struct error *err);
bool sqlite_give_up(struct store *store, const struct aside_type *type, usec_t before, usec_t now,
                    size_t limit, size_t *ended_out, struct error *err);

/* prune.c */
bool sqlite_prune(struct store *store, const struct retention *keep, usec_t now, size_t limit,
                  size_t *removed_out, struct error *err);

/* pools.c */
bool sqlite_pool_register(struct store *store, const struct pool *pool, usec_t now,
                          struct error *err);
bool sqlite_pools(struct store *store, struct pool_list *pools_out, struct error *err);
bool sqlite_pool_remove(struct store *store, const char *name, struct error *err);
bool sqlite_pool_want(struct store *store, const char *name, enum pool_want want, const char *by,
                      usec_t now, struct error *err);
bool sqlite_pool_remove_silent(struct store *store, usec_t before, struct pool_list *removed_out,
                               struct error *err);

/* browse.c */
bool sqlite_get(struct store *store, const struct uuid *id, struct job_list *job_out,
                struct error *err);
bool sqlite_list(struct store *store, const struct job_filter *filter, struct job_list *jobs_out,
                 struct job_cursor *next_out, struct error *err);

/* failures.c */
bool sqlite_failures(struct store *store, size_t limit, struct job_list *jobs_out,
                     struct error *err);

/* stats.c */
bool sqlite_stats(struct store *store, struct queue_stats_list *stats_out, struct error *err);
bool sqlite_count_before(struct store *store, const struct job *job, size_t limit,
                         size_t *count_out, struct error *err);

/* repair.c */
bool sqlite_cancel(struct store *store, const struct uuid *ids, size_t count, usec_t now,
                   enum th_error_code *verdicts_out, struct error *err);
bool sqlite_run_now(struct store *store, const struct uuid *ids, size_t count, usec_t now,
                    enum th_error_code *verdicts_out, struct error *err);
bool sqlite_requeue(struct store *store, const struct uuid *ids, size_t count, usec_t run_at,
                    usec_t now, enum th_error_code *verdicts_out, struct error *err);
bool sqlite_remove(struct store *store, const struct uuid *ids, size_t count,
                   enum th_error_code *verdicts_out, struct error *err);
bool sqlite_set_paused(struct store *store, const char *queue, usec_t paused_at, const char *by,
                       struct error *err);
bool sqlite_hide_queue(struct store *store, const char *queue, enum th_error_code *verdict_out,
                       struct error *err);

static inline struct sqlite *sqlite_of(struct store *store)
{
    return (struct sqlite *)store;
}

#endif

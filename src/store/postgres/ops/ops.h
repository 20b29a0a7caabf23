/*
 * ops.h - the operations of the PostgreSQL driver, by file. store/store.h says what each means;
 * what the server does is in functions/.
 */
#ifndef POSTGRES_OPS_H
#define POSTGRES_OPS_H

#include "base/base.h"
#include "base/buffer.h"
#include "base/json_writer.h"
#include "store/driver.h"
#include "store/postgres/net/connection.h"

/* enqueue.c */
bool pg_enqueue(struct store *store, struct enqueue_group *const *groups, size_t count, usec_t now,
                struct error *err);

/* exchange.c */
bool pg_exchange(struct store *store, const struct settlement_list *finished,
                 const struct reservation *wanted, size_t wanted_count, usec_t now,
                 enum th_error_code *verdicts_out, struct job_list *jobs_out, struct error *err);

bool pg_exchange_begin(struct store *store, const struct settlement_list *finished,
                       const struct reservation *wanted, usec_t now,
                       enum th_error_code *verdicts_out, struct job_list *jobs_out,
                       struct error *err);
bool pg_exchange_end(struct store *store, struct error *err);
int pg_exchange_fd(const struct store *store);
void pg_exchanges_forget(struct postgres *postgres); /* those that are out */

/* held.c */
bool pg_held(struct store *store, const char *pool, struct job_list *jobs_out, struct error *err);

/* heartbeat.c */
bool pg_heartbeat(struct store *store, const struct heartbeat *heartbeats, size_t count, usec_t now,
                  struct lease_answer *answers_out, struct pool_answer *pools_out,
                  struct error *err);

/* watch.c */
bool pg_watch(struct store *store, const struct watch *watch, usec_t until, usec_t now,
              struct error *err);

/* aside.c */
bool pg_aside(struct store *store, const char *const *queues, size_t count,
              struct aside_list *types_out, struct error *err);
bool pg_bring_back(struct store *store, const struct aside_type *type, usec_t before, size_t limit,
                   size_t *moved_out, struct error *err);
bool pg_give_up(struct store *store, const struct aside_type *type, usec_t before, usec_t now,
                size_t limit, size_t *ended_out, struct error *err);

/* upkeep.c */
bool pg_promote(struct store *store, enum job_state state, usec_t now, size_t limit,
                size_t *moved_out, usec_t *next_due_out, struct error *err);
bool pg_reclaim(struct store *store, usec_t now, size_t limit, size_t *moved_out,
                struct error *err);
bool pg_prune(struct store *store, const struct retention *keep, usec_t now, size_t limit,
              size_t *removed_out, struct error *err);
bool pg_publish(struct store *store, const struct store_limits *limits,
                struct error *err) MUST_CHECK;

/* cron.c */
bool pg_cron_enqueue(struct store *store, const char *name, usec_t slot, const struct job *job,
                     usec_t now, bool *stored_out, struct error *err);
bool pg_cron_last(struct store *store, const char *name, usec_t now, struct cron_past *past_out,
                  struct error *err);
bool pg_cron_pause(struct store *store, const char *name, const char *by, usec_t mark, usec_t now,
                   struct error *err);
bool pg_cron_resume(struct store *store, const char *name, usec_t mark, usec_t now,
                    struct error *err);
bool pg_cron_mark(struct store *store, const char *name, usec_t slot, usec_t now,
                  struct error *err);

/* pools.c */
bool pg_pool_register(struct store *store, const struct pool *pool, usec_t now, struct error *err);
bool pg_pools(struct store *store, struct pool_list *pools_out, struct error *err);
bool pg_pool_remove(struct store *store, const char *name, struct error *err);
bool pg_pool_want(struct store *store, const char *name, enum pool_want want, const char *by,
                  usec_t now, struct error *err);
bool pg_pool_remove_silent(struct store *store, usec_t before, struct pool_list *removed_out,
                           struct error *err);

/* browse.c */
bool pg_get(struct store *store, const struct uuid *id, struct job_list *job_out,
            struct error *err);
bool pg_list(struct store *store, const struct job_filter *filter, struct job_list *jobs_out,
             struct job_cursor *next_out, struct error *err);

/* failures.c */
bool pg_failures(struct store *store, size_t limit, struct job_list *jobs_out, struct error *err);

/* stats.c */
bool pg_stats(struct store *store, struct queue_stats_list *stats_out, struct error *err);
bool pg_count_before(struct store *store, const struct job *job, size_t limit, size_t *count_out,
                     struct error *err);

/* repair.c */
bool pg_cancel(struct store *store, const struct uuid *ids, size_t count, usec_t now,
               enum th_error_code *verdicts_out, struct error *err);
bool pg_run_now(struct store *store, const struct uuid *ids, size_t count, usec_t now,
                enum th_error_code *verdicts_out, struct error *err);
bool pg_requeue(struct store *store, const struct uuid *ids, size_t count, usec_t run_at,
                usec_t now, enum th_error_code *verdicts_out, struct error *err);
bool pg_remove(struct store *store, const struct uuid *ids, size_t count,
               enum th_error_code *verdicts_out, struct error *err);
bool pg_set_paused(struct store *store, const char *queue, usec_t paused_at, const char *by,
                   struct error *err);
bool pg_hide_queue(struct store *store, const char *queue, enum th_error_code *verdict_out,
                   struct error *err);

static inline struct postgres *pg_of(struct store *store)
{
    return (struct postgres *)store;
}

#endif

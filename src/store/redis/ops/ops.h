/*
 * ops.h - the operations of the Redis driver, by file. store/store.h says what each means.
 */
#ifndef REDIS_OPS_H
#define REDIS_OPS_H

#include "base/base.h"
#include "store/driver.h"
#include "store/redis/codec/record.h"
#include "store/redis/net/run.h"

/* enqueue.c */
bool redis_enqueue_group(struct store *store, struct enqueue_group *group, usec_t now,
                         size_t *at_fault_out, struct error *err) MUST_CHECK;

/* Whether it has nothing to be looked at but its id, and enqueue_one.lua can take it. */
bool redis_enqueue_is_simple(const struct job *job, usec_t now);

/* The command that stores such a job, or a group that one script can reach as a whole. */
bool redis_enqueue_add_one(struct redis *redis, struct redis_batch *batch, const struct job *job,
                           usec_t now, struct error *err) MUST_CHECK;
bool redis_enqueue_add_group(struct redis *redis, struct redis_batch *batch,
                             const struct enqueue_group *group, usec_t now,
                             struct error *err) MUST_CHECK;

/* What became of the group: the answer to that. */
bool redis_enqueue_hear_group(const redisReply *reply, const struct enqueue_group *group,
                              size_t *at_fault_out, struct error *err) MUST_CHECK;

/* Until what was stored in these queues is on as many replicas as the URL says. */
bool redis_enqueue_replicate(struct redis *redis, const char *const *queues, size_t count,
                             struct error *err) MUST_CHECK;

/* enqueue_many.c */
bool redis_enqueue(struct store *store, struct enqueue_group *const *groups, size_t count,
                   usec_t now, struct error *err);

/* How the last job of a command comes, and to which of its queues; zeroes: there is none yet. */
struct redis_coming {
    char how[REDIS_HOW_SIZE];
    size_t queue_number; /* from 1 on */
};

/* The words that tell a script of a job: scripts/parts/simple.lua. */
void redis_enqueue_words(struct redis_command *command, struct redis_coming *before,
                         size_t queue_number, const struct job *job, usec_t now);

/* What the script said when it stored nothing because of a twin; `job` is the one it named. */
bool redis_enqueue_conflict(const redisReply *answer, const struct job *job, struct error *err);

/* cron.c */
bool redis_cron_enqueue(struct store *store, const char *name, usec_t slot, const struct job *job,
                        usec_t now, bool *stored_out, struct error *err);
bool redis_cron_last(struct store *store, const char *name, usec_t now, struct cron_past *past_out,
                     struct error *err);
bool redis_cron_pause(struct store *store, const char *name, const char *by, usec_t mark,
                      usec_t now, struct error *err);
bool redis_cron_resume(struct store *store, const char *name, usec_t mark, usec_t now,
                       struct error *err);
bool redis_cron_mark(struct store *store, const char *name, usec_t slot, usec_t now,
                     struct error *err);

/* exchange.c */
bool redis_exchange(struct store *store, const struct settlement_list *finished,
                    const struct reservation *wanted, size_t wanted_count, usec_t now,
                    enum th_error_code *verdicts_out, struct job_list *jobs_out, struct error *err);
bool redis_exchange_begin(struct store *store, const struct settlement_list *finished,
                          const struct reservation *wanted, usec_t now,
                          enum th_error_code *verdicts_out, struct job_list *jobs_out,
                          struct error *err);
bool redis_exchange_end(struct store *store, struct error *err);
int redis_exchange_fd(const struct store *store);
void redis_exchanges_forget(struct redis *redis); /* those that are out */

/* held.c */
bool redis_held(struct store *store, const char *pool, struct job_list *jobs_out,
                struct error *err);

/* heartbeat.c */
bool redis_heartbeat(struct store *store, const struct heartbeat *heartbeats, size_t count,
                     usec_t now, struct lease_answer *answers_out, struct pool_answer *pools_out,
                     struct error *err);

/* watch.c */
bool redis_watch(struct store *store, const struct watch *watch, usec_t until, usec_t now,
                 struct error *err);

/* upkeep.c */
bool redis_promote(struct store *store, enum job_state state, usec_t now, size_t limit,
                   size_t *moved_out, usec_t *next_due_out, struct error *err);
bool redis_reclaim(struct store *store, usec_t now, size_t limit, size_t *moved_out,
                   struct error *err);
bool redis_prune(struct store *store, const struct retention *keep, usec_t now, size_t limit,
                 size_t *removed_out, struct error *err);
bool redis_publish(struct store *store, const struct store_limits *limits, struct error *err);

/* aside.c */
bool redis_aside(struct store *store, const char *const *queues, size_t count,
                 struct aside_list *types_out, struct error *err);
bool redis_bring_back(struct store *store, const struct aside_type *type, usec_t before,
                      size_t limit, size_t *moved_out, struct error *err);
bool redis_give_up(struct store *store, const struct aside_type *type, usec_t before, usec_t now,
                   size_t limit, size_t *ended_out, struct error *err);

/* pools.c */
bool redis_pool_register(struct store *store, const struct pool *pool, usec_t now,
                         struct error *err);
bool redis_pools(struct store *store, struct pool_list *pools_out, struct error *err);
bool redis_pool_remove(struct store *store, const char *name, struct error *err);
bool redis_pool_want(struct store *store, const char *name, enum pool_want want, const char *by,
                     usec_t now, struct error *err);
bool redis_pool_remove_silent(struct store *store, usec_t before, struct pool_list *removed_out,
                              struct error *err);

/* A pool's beat, as a command among others, and what it answers. */
struct redis_command *redis_pools_beat(struct redis *redis, struct redis_batch *batch,
                                       const struct heartbeat *heartbeat, usec_t now) MUST_CHECK;
struct pool_answer redis_pools_answer(const struct redis_command *command);

/* Says that somebody watches them, as a command among others. False when out of memory. */
bool redis_pools_watch(struct redis *redis, struct redis_batch *batch, usec_t until) MUST_CHECK;

/* browse.c */
bool redis_get(struct store *store, const struct uuid *id, struct job_list *job_out,
               struct error *err);
bool redis_list(struct store *store, const struct job_filter *filter, struct job_list *jobs_out,
                struct job_cursor *next_out, struct error *err);

/* failures.c */
bool redis_failures(struct store *store, size_t limit, struct job_list *jobs_out,
                    struct error *err);

/* stats.c */
bool redis_stats(struct store *store, struct queue_stats_list *stats_out, struct error *err);
bool redis_count_before(struct store *store, const struct job *job, size_t limit, size_t *count_out,
                        struct error *err);

/* repair.c */
bool redis_cancel(struct store *store, const struct uuid *ids, size_t count, usec_t now,
                  enum th_error_code *verdicts_out, struct error *err);
bool redis_run_now(struct store *store, const struct uuid *ids, size_t count, usec_t now,
                   enum th_error_code *verdicts_out, struct error *err);
bool redis_requeue(struct store *store, const struct uuid *ids, size_t count, usec_t run_at,
                   usec_t now, enum th_error_code *verdicts_out, struct error *err);
bool redis_remove(struct store *store, const struct uuid *ids, size_t count,
                  enum th_error_code *verdicts_out, struct error *err);
bool redis_set_paused(struct store *store, const char *queue, usec_t paused_at, const char *by,
                      struct error *err);
bool redis_hide_queue(struct store *store, const char *queue, enum th_error_code *verdict_out,
                      struct error *err);

/* durability.c */
bool redis_durability(struct store *store, char text[STORE_DURABILITY_SIZE], bool *is_safe_out,
                      struct error *err);

#endif

/*
 * store.h - where jobs live: what callers use.
 *
 * A store is opened by its URL and behaves the same whatever is behind it; driver.h says what it
 * promises. `now` is the database's time, handed in by the caller, mostly store_now(). Calls on
 * the path of a job take arrays: an array is one round trip and one transaction.
 *
 * A call returns false when it could not be carried out as a whole; what became of single items
 * is in their verdicts. A handle belongs to one process and one thread: fork first, open after.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/arena.h"
#include "base/base.h"
#include "base/error.h"
#include "base/units.h"
#include "base/uuid.h"
#include "job/job.h"
#include "job/lease.h"
#include "job/settlement.h"
#include "job/state.h"
#include "job/timekeeper.h"
#include "store/store_pools.h"

struct store;

/* ---- open and close ---- */

struct store_options {
    const char *folder; /* relative paths in the URL start here; NULL is the current folder */
    bool migrate;       /* create what is missing and bring the schema up to date */
    bool repair;        /* migrate: also put right our code in it that somebody has changed */
    bool any_schema;    /* open it whatever its version is: only for store_schema() */
    bool writable;      /* refuse a PostgreSQL server that can only be read from */
    size_t max_payload; /* 0 is JOB_PAYLOAD_DEFAULT */
    size_t batch_min;   /* so many plain jobs of one queue and reserve share a lease; 0 is 16 */
    usec_t deadline;    /* of each call once it is open: after so long it gives up; 0 is 5 s, and
                         * nothing is longer */
    /* What the caller knew of the database's clock through another handle, and will know through
     * this one; NULL: nothing, and it holds no leases. */
    struct timekeeper *clock;
    const char *caller; /* who we are in the server's list of clients; NULL: taskharbor */
};

/* Whether this build has a backend for such a URL, which takes its options and can read the
 * certificates that it names; nobody is connected to. */
bool store_check_url(const char *url, const char *folder, struct error *err) MUST_CHECK;

bool store_open(const char *url, const struct store_options *options, struct store **store_out,
                struct error *err) MUST_CHECK;

/* Sets *store to NULL. Every call on a store that is NULL fails with TH_E_INVALID. */
void store_close(struct store **store);

#define STORE_REMARK_SIZE 256

struct store_schema {
    int version;                    /* of what is stored */
    int usable_from;                /* the lowest binary that may use it */
    int newest;                     /* what this binary would migrate to */
    char remark[STORE_REMARK_SIZE]; /* what migrating could not do, for people; "" is nothing */
};

bool store_schema(struct store *store, struct store_schema *schema_out,
                  struct error *err) MUST_CHECK;

/* What the config says to all who enqueue, kept in the store for those who come by SQL or by a
 * script of their own. The last one who publishes is right. */
struct store_limits {
    size_t max_payload;
    usec_t idempotency_window;
};

bool store_publish(struct store *store, const struct store_limits *limits,
                   struct error *err) MUST_CHECK;

/* What the backend's settings make of a confirmed job when a process or a machine dies, as a
 * sentence for people; "" where it is always kept. `is_safe_out`: nobody has to be warned. */
#define STORE_DURABILITY_SIZE 256
bool store_durability(struct store *store, char text[STORE_DURABILITY_SIZE], bool *is_safe_out,
                      struct error *err) MUST_CHECK;

/* The URL for people, without secrets. */
const char *store_name(const struct store *store);

/* The database's clock. store_now() goes by what was measured when the store was opened, and every
 * few seconds since, by whatever was called: so it does no harm if this machine's clock is wrong,
 * or is set. After the database's was set, whoever holds leases goes by both for a while:
 * timekeeper.h.
 */
bool store_read_clock(struct store *store, usec_t *now_out, struct error *err) MUST_CHECK;
usec_t store_now(struct store *store);

/* Measures it, if that was so long ago: for those who are about to take something back. */
bool store_follow_clock(struct store *store, usec_t age, struct error *err) MUST_CHECK;

/* How long a lease that ends then is ours, whichever clock somebody goes by. */
usec_t store_lease_left(struct store *store, usec_t expires_at);

/* For people: what is known of it; and how far this machine's clock is ahead, as far as that is
 * certain. 0 where the database is on this machine. */
const struct timekeeper *store_clock(const struct store *store);
usec_t store_clock_error(const struct store *store);

/* ---- the path of a job, in order ---- */

struct enqueued {
    struct uuid id;       /* of the job that now stands for this request */
    enum job_state state; /* of that job */
    bool existed;         /* a duplicate by idempotency key or id: nothing was changed */
    bool updated;         /* a waiting job with the same key was changed instead */
};

/* All of them or none, in order; enqueued_out has room for `count`. Jobs are validated first, and
 * their blank idempotency keys cleared. An id that is stored already counts as existed, so a
 * call whose answer was lost can be repeated. That is so in whatever queue it is, where
 * id_is_given; an id that was made for the job is looked for in the job's own queue alone. */
bool store_enqueue(struct store *store, struct job *jobs, size_t count, usec_t now,
                   struct enqueued *enqueued_out, struct error *err) MUST_CHECK;

/* What one of several callers wants stored: all of it or nothing, whatever becomes of the others.
 */
struct enqueue_group {
    struct job *jobs;
    size_t count;                  /* 1 or more */
    struct enqueued *enqueued_out; /* room for `count` */
    struct error *err;             /* its own words, when the verdict is not TH_OK */
    enum th_error_code verdict;    /* TH_OK: it is stored */
    size_t at_fault;               /* which of its jobs the words are about; `count`: all of them */
};

/* The groups in order, in one transaction: an id or a key of one counts for those after it. A group
 * whose jobs are invalid, or in conflict, has that as its verdict; TH_E_UNAVAILABLE is one that was
 * not tried, or whose part of the store does not answer; TH_E_UNCERTAIN is to be repeated. */
bool store_enqueue_groups(struct store *store, struct enqueue_group *groups, size_t count,
                          usec_t now, struct error *err) MUST_CHECK;

struct queue_share {
    const char *queue;
    size_t max;             /* how many jobs at most; 0 is none */
    size_t max_running;     /* live leases of this queue in all pools; 0 is unlimited */
    struct units_rate rate; /* reservations of this queue in all pools; count 0 is unlimited */
};

/* Why a share was not given all that it asked for, though more is ready. */
struct share_limit {
    bool is_full; /* by max_running: the bell rings when there is room again */
    bool is_away; /* the part of the store that has this queue does not answer: what it may have
                   * reserved is found by store_held() */
    usec_t limited_until; /* by rate, or while it is away: the database's time at which there may
                           * be more, or 0 */
};

struct reservation {
    const struct queue_share *queues; /* served in this order; a driver never chooses */
    size_t queue_count;
    size_t max_total;               /* of all queues together; 0: no more than the shares say */
    struct share_limit *limits_out; /* NULL, or room for queue_count */
    struct error *away_out;   /* where to say why a share is away; NULL: then the call fails */
    const char *const *types; /* only these, of the first JOB_LOOK_MAX of a queue; NULL is any */
    size_t type_count;
    const char *pool;
    struct batch_token batch; /* fresh for each reservation of each call */
    usec_t lease_for;         /* 0: each lease is as long as its job may run */
    usec_t lease_default;     /* then, of a job without a timeout */
};

/* Adds to jobs_out what was reserved, each job with its lease, executions counted, `ref` set and
 * no runs or output. Nothing there is not an error. Leases of these queues that ran out are taken
 * back on the way. What is reserved counts for the rate, even if it is released unstarted. */
bool store_reserve(struct store *store, const struct reservation *wanted, usec_t now,
                   struct job_list *jobs_out, struct error *err) MUST_CHECK;

/* Every running job of this pool, as reserve returned it, whether or not its lease still holds. */
bool store_held(struct store *store, const char *pool, struct job_list *jobs_out,
                struct error *err) MUST_CHECK;

/* verdicts_out has room for finished->count: TH_OK or why nothing was changed for that item. Where
 * a store has several parts, TH_E_UNAVAILABLE and TH_E_UNCERTAIN mean that this one's does not
 * answer: it is to be repeated. */
bool store_settle(struct store *store, const struct settlement_list *finished, usec_t now,
                  enum th_error_code *verdicts_out, struct error *err) MUST_CHECK;

/* Settle, then reserve, in one round trip and one transaction, where the store is one. There may be
 * several reservations, of several pools or of one: they are served in their order, and each of
 * their jobs says by `reservation` whose it is. max_total over several queues may take further
 * round trips on Redis. */
bool store_exchange(struct store *store, const struct settlement_list *finished,
                    const struct reservation *wanted, size_t wanted_count, usec_t now,
                    enum th_error_code *verdicts_out, struct job_list *jobs_out,
                    struct error *err) MUST_CHECK;

/* The same with one reservation in two steps, so that the caller can go on meanwhile: begin sends
 * it, end takes the answer of the oldest that is out, and waits for it. The store carries them out
 * one after the other. All that begin is handed stays where it is until the end; whoever closes the
 * store before gets no answer. Other calls may be made in between, and wait for all that is out.
 *
 * Not every backend can. No more than a few should be out: what is sent while the store does not
 * listen may have to be waited for. */
bool store_can_overlap(const struct store *store);
bool store_exchange_begin(struct store *store, const struct settlement_list *finished,
                          const struct reservation *wanted, usec_t now,
                          enum th_error_code *verdicts_out, struct job_list *jobs_out,
                          struct error *err) MUST_CHECK;
bool store_exchange_end(struct store *store, struct error *err) MUST_CHECK;

/* Readable when the oldest answer begins to come, or never will; -1: it is here already. It is the
 * store's, and good until the next call: poll it, nothing else. */
int store_exchange_fd(const struct store *store);

/* What somebody looks at. */
struct watched_job {
    struct uuid id;
    const char *queue;
};

struct watch {
    const struct watched_job *jobs;
    size_t count;
    bool pools; /* all of them, and what their processes do */
};

/* Leaves a mark that heartbeats answer until then, so that whoever runs the jobs reports more
 * often. A mark that is there is made to last longer, never shorter. Unknown jobs are passed over.
 */
bool store_watch(struct store *store, const struct watch *watch, usec_t until, usec_t now,
                 struct error *err) MUST_CHECK;

/* ---- upkeep: each pass handles at most `limit` jobs and says how many ---- */

/* Due `scheduled` or `retry` jobs become ready. *next_due_out: when the next one is due, or 0. */
bool store_promote(struct store *store, enum job_state state, usec_t now, size_t limit,
                   size_t *moved_out, usec_t *next_due_out, struct error *err) MUST_CHECK;

/* Leases that ran out, whoever held them: ready again at the old place, one stall more. */
bool store_reclaim(struct store *store, usec_t now, size_t limit, size_t *moved_out,
                   struct error *err) MUST_CHECK;

/* Ready jobs that were set aside (job/aside.h): of one queue, type and reason. */
struct aside_type {
    const char *queue, *type;
    enum job_aside why;
    usec_t since; /* of the one that has been aside for longest */
};

struct aside_list {
    struct arena arena;
    struct aside_type *items;
    size_t count;
};

void aside_list_done(struct aside_list *list);

/* What is aside in these queues; `count` 0: in all of them. The cost grows with the number of
 * types, not of jobs. A queue that is away is left out. */
bool store_aside(struct store *store, const char *const *queues, size_t count,
                 struct aside_list *types_out, struct error *err) MUST_CHECK;

/* At most `limit` of them can be reserved again, in their place: the first in line, or if `before`
 * is not 0, those that were set aside at or before it, the oldest first. */
bool store_bring_back(struct store *store, const struct aside_type *type, usec_t before,
                      size_t limit, size_t *moved_out, struct error *err) MUST_CHECK;

/* Those that were set aside at or before `before`, at most `limit`, are dead, with the reason and
 * the words of aside.h, or the error that they were set aside with. */
bool store_give_up(struct store *store, const struct aside_type *type, usec_t before, usec_t now,
                   size_t limit, size_t *ended_out, struct error *err) MUST_CHECK;

struct retention {
    usec_t done;     /* age at which done and cancelled jobs go; USEC_MAX is never */
    size_t done_max; /* how many of each of the two a queue keeps; SIZE_MAX is all */
    usec_t dead;     /* age at which dead jobs go */
};

/* Ended jobs past their retention and idempotency records past their expiry go; *removed_out is
 * their sum, so a pass that reaches the limit has more to do. */
bool store_prune(struct store *store, const struct retention *keep, usec_t now, size_t limit,
                 size_t *removed_out, struct error *err) MUST_CHECK;

/* Stores the job if and only if `slot` is later than the last slot of this name. Here and below a
 * stored slot beyond cron_horizon(now) counts for nothing: a clock was wrong when it was stored. */
bool store_cron_enqueue(struct store *store, const char *name, usec_t slot, struct job *job,
                        usec_t now, bool *stored_out, struct error *err) MUST_CHECK;

/* Who paused something, as they call themselves: user@host. */
#define STORE_BY_SIZE 257

/* What is known of a schedule. */
struct cron_past {
    usec_t last;                   /* its last slot; 0: there is none yet */
    usec_t doubted;                /* a stored one that counts for nothing, or 0 */
    usec_t paused_at;              /* 0: it is not paused */
    char paused_by[STORE_BY_SIZE]; /* "": nobody said */
};

bool store_cron_last(struct store *store, const char *name, usec_t now, struct cron_past *past_out,
                     struct error *err) MUST_CHECK;

/* A schedule that is paused is passed over by whoever enqueues for it; a second pause changes
 * nothing. What it missed until it is resumed is not made up for. `by` may be NULL. */
bool store_cron_pause(struct store *store, const char *name, const char *by, usec_t now,
                      struct error *err) MUST_CHECK;
bool store_cron_resume(struct store *store, const char *name, usec_t now,
                       struct error *err) MUST_CHECK;

/* Keeps `slot` as the last one of a name that has none yet, without a job. */
bool store_cron_mark(struct store *store, const char *name, usec_t slot, usec_t now,
                     struct error *err) MUST_CHECK;

/* ---- sleep and wake ---- */

/* A descriptor that becomes readable when something may be ready, a job has come that is due soon
 * (JOB_SOON), or a queue that was full has room; store_wait() quiets it. It is the store's: poll
 * it, nothing else. The first call says that something may be ready.
 *
 * Whoever was woken looks, by a reserve, before it waits again: what comes in between rings no
 * more, and is found by that look. */
bool store_wait_fd(struct store *store, int *fd_out, struct error *err) MUST_CHECK;

/* Sleeps until something may be ready, or the timeout. */
bool store_wait(struct store *store, usec_t timeout, bool *rang_out, struct error *err) MUST_CHECK;

/* Makes sure that whoever sleeps would be woken. To be called now and then: a bell can break
 * without a word. One that would not be heard is made anew, rings, and is logged (`bell_lost`). */
bool store_check_bell(struct store *store, struct error *err) MUST_CHECK;

/* ---- for people ---- */

/* With runs and output; TH_E_NOT_FOUND when there is none. */
bool store_get(struct store *store, const struct uuid *id, struct job_list *job_out,
               struct error *err) MUST_CHECK;

#define JOB_PAGE_MAX 1000

/* A position in the order of a list; the job there need not exist any more. */
struct job_cursor {
    bool is_set;
    usec_t at;   /* of the time that the order goes by; 0 where it goes by id */
    int64_t ref; /* breaks ties as the driver likes; 0 where it is not needed */
    struct uuid id;
};

struct job_filter {
    bool by_state;
    enum job_state state;
    const char *queue, *type, *key; /* NULL is any */
    const char *error;              /* a part of last_error; NULL is any */
    const char *tag;                /* one of its tags; NULL is any */
    usec_t since, until;            /* since <= t < until of the time that the order goes by; 0 is
                                     * unbounded */
    bool oldest_first;              /* else newest first */
    bool brief;                     /* without payload, headers, result, output and runs */
    struct job_cursor after;        /* the `next` of the page before */
    size_t limit;                   /* 1 to JOB_PAGE_MAX */
};

/* In order of what the state is about: waiting jobs by `due`, running ones by started_at, ended
 * ones by ended_at. Without a state, and with a tag, all go by id, whose time is the one that it
 * was made at. A page costs what is on it, whatever else is stored. It may be short, or empty, and
 * still have a `next`: one call looks at 10,000 jobs at most when type, key or error, a queue
 * without a state, or beside a tag the state or queue, pass most of them over, and a page ends at
 * 16 MiB. next_out->is_set says that there may be more. */
bool store_list(struct store *store, const struct job_filter *filter, struct job_list *jobs_out,
                struct job_cursor *next_out, struct error *err) MUST_CHECK;

/* The jobs that failed last, the newest failure first, whatever became of them since: dead, waiting
 * for another try, done at last. Each once, by its last failure, and without payload, runs and
 * output. At most `limit` (1 to JOB_PAGE_MAX), and no more work than that. */
bool store_failures(struct store *store, size_t limit, struct job_list *jobs_out,
                    struct error *err) MUST_CHECK;

struct queue_stats {
    const char *queue;
    usec_t paused_at;      /* 0: not paused */
    const char *paused_by; /* NULL: not paused, or nobody said */
    usec_t spent_until;    /* of its rate: see job/rate.h; 0: it never had one */
    int64_t jobs[JOB_STATES];
    int64_t no_handler, cannot_start; /* of the ready ones, those that are aside */
    usec_t oldest_ready;              /* the earliest due of its ready jobs, or 0 */
    int64_t done_total;
    int64_t failed_total; /* executions that failed, whatever became of the job */
};

struct queue_stats_list {
    struct arena arena;
    struct queue_stats *items;
    size_t count;
};

void queue_stats_list_done(struct queue_stats_list *list);

/* Every queue that was ever used and is not hidden, by name. */
bool store_stats(struct store *store, struct queue_stats_list *stats_out,
                 struct error *err) MUST_CHECK;

/* Each takes ids and answers a verdict per id: TH_OK, TH_E_NOT_FOUND, TH_E_CONFLICT.
 *   cancel    a waiting job is cancelled; a running one is asked to stop
 *   run_now   a scheduled or retry job is ready, as if it had been enqueued for `now`; its counts
 *             stay. A ready one stays as it is
 *   requeue   a dead or cancelled job waits again, from `run_at` on (0 is now); counts and errors
 *             are cleared, executions and runs stay. A keyed one is blocked while its twin runs,
 *             and a conflict while its twin waits
 *   remove    an ended job goes, and its idempotency record with it */
bool store_cancel(struct store *store, const struct uuid *ids, size_t count, usec_t now,
                  enum th_error_code *verdicts_out, struct error *err) MUST_CHECK;
bool store_run_now(struct store *store, const struct uuid *ids, size_t count, usec_t now,
                   enum th_error_code *verdicts_out, struct error *err) MUST_CHECK;
bool store_requeue(struct store *store, const struct uuid *ids, size_t count, usec_t run_at,
                   usec_t now, enum th_error_code *verdicts_out, struct error *err) MUST_CHECK;
bool store_remove(struct store *store, const struct uuid *ids, size_t count,
                  enum th_error_code *verdicts_out, struct error *err) MUST_CHECK;

/* How many ready jobs of its queue stand before this one, counted up to `limit`. A job that is not
 * ready stands where it would if it were. */
bool store_count_before(struct store *store, const struct job *job, size_t limit, size_t *count_out,
                        struct error *err) MUST_CHECK;

/* A paused queue is not reserved from. Creates the queue if need be; repeating it is fine, and the
 * first one counts. `by` says who, or is NULL. */
bool store_pause(struct store *store, const char *queue, const char *by, usec_t now,
                 struct error *err) MUST_CHECK;
bool store_resume(struct store *store, const char *queue, struct error *err) MUST_CHECK;

/* An empty queue is in no list until its next job comes; a pause of it ends. TH_E_NOT_FOUND: there
 * is none of this name. TH_E_CONFLICT: it has jobs, ended ones included. */
bool store_hide_queue(struct store *store, const char *queue, struct error *err) MUST_CHECK;

#endif

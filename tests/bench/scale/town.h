/*
 * town.h - a store with so many jobs of every kind in it, and the calls that the measured
 * operations are made of.
 *
 * Of S jobs around, a third each are scheduled, done and (nearly) ready, and a thirtieth dead: half
 * of each kind in the queue that is worked on, the others in nine more. A tenth is aside in a queue
 * of its own. A few jobs are in each of the rare states, and a queue has a few of every kind: both
 * have to be found among all the others.
 */
#ifndef BENCH_SCALE_TOWN_H
#define BENCH_SCALE_TOWN_H

#include "base/base.h"
#include "base/uuid.h"
#include "job/job.h"
#include "job/settlement.h"
#include "store/store.h"

#define TOWN_BATCH  100       /* jobs of one measured call */
#define TOWN_QUEUE  "main"    /* where the work is */
#define TOWN_OTHER  "other0"  /* where nobody works, and jobs have names */
#define TOWN_NAME   "name-50" /* of its first ready job, and of its first scheduled one */
#define TOWN_RARE   "rare"    /* a queue with TOWN_FEW jobs of each kind */
#define TOWN_TAG    "few"     /* what the jobs of that queue have */
#define TOWN_SHELF  "shelf"   /* a queue whose jobs are all aside */
#define TOWN_TYPE   "scale:job"
#define TOWN_POOL   "bench"  /* who works */
#define TOWN_HOLDER "holder" /* a pool with TOWN_BATCH running jobs */
#define TOWN_FEW    20

enum town_kind { TOWN_DEAD, TOWN_SCHEDULED, TOWN_DONE, TOWN_READY, TOWN_KINDS };

struct town {
    const char *url;
    struct store *store;
    size_t around;
    struct uuid_maker ids;
    struct uuid known[TOWN_KINDS]; /* one of each kind, from the middle */
    usec_t middle[TOWN_KINDS];     /* its place in the order of its state */
    size_t done;                   /* done jobs in TOWN_QUEUE */
    struct job_list held;          /* what TOWN_HOLDER runs */
    usec_t slot;                   /* of the cron entry */
};

/* Opens the store, which has to be empty, and fills it. */
void town_build(struct town *town, const char *url, size_t around);
void town_close(struct town *town);

/* So many done jobs and nothing else, in the default queue of an empty store: for
 * retention_bench.py. */
void town_build_done(const char *url, size_t count);

/* Ends the program unless the call worked. */
void town_must(bool worked, const char *what, const struct error *err);

struct job town_job(struct town *town, const char *queue);

/* The calls. Each ends the program when it fails. */
void town_enqueue(struct town *town, struct job *jobs, size_t count, usec_t now);
void town_reserve(struct town *town, const char *queue, const char *pool, size_t max,
                  usec_t lease_for, usec_t now, struct job_list *jobs_out);
struct settlement town_settlement(const struct job *job, enum settlement_kind kind, usec_t now);
void town_settle(struct town *town, const struct job_list *jobs, enum settlement_kind kind,
                 usec_t run_at, usec_t now);

/* Settles all of `jobs` as done and has the next ones in it. */
void town_exchange(struct town *town, struct job_list *jobs, const struct queue_share *share,
                   usec_t now);

/* New jobs in the working queue: ready, or scheduled for run_at. Their ids if asked for. */
void town_add(struct town *town, usec_t run_at, struct uuid ids_out[TOWN_BATCH]);

#endif

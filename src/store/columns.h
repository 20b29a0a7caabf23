/*
 * columns.h - a row of a database as a struct of ours: what all drivers that speak SQL read alike.
 *
 * A driver says how the next column is read. Which columns there are, and in which order, is said
 * here, once; its statements select them so.
 */
#ifndef STORE_COLUMNS_H
#define STORE_COLUMNS_H

#include "base/arena.h"
#include "base/base.h"
#include "base/uuid.h"
#include "job/job.h"
#include "store/store.h"

/* Each reads the next column of the row and moves on, but for is_null. */
struct columns_reader {
    bool (*is_null)(const void *row);
    int64_t (*number)(void *row);                        /* NULL is 0 */
    const char *(*text)(void *row, struct arena *arena); /* NULL is NULL */
    struct bytes (*bytes)(void *row, struct arena *arena);
    struct uuid (*uuid)(void *row);         /* nil when it is not one */
    struct lease_token (*token)(void *row); /* zero when it is not one */
};

struct columns {
    const struct columns_reader *reader;
    void *row;           /* the driver's own */
    struct arena *arena; /* where texts and bytes live; it says whether there was memory */
};

/* Added to the encoding of a job that has headers or tags, where a driver wants to know it without
 * looking at them. */
#define COLUMNS_EXTRAS 2

/* What a worker needs of most jobs, from ref to payload. What makes it impossible to run is put
 * into job->defect. True when the encoding says that there are extras. */
bool columns_reserved(struct columns *columns, struct job *job);

/* Headers and tags. */
void columns_extras(struct columns *columns, struct job *job);

/* As columns_reserved(), then the queue and the lease. */
void columns_held(struct columns *columns, struct job *job);

/* job_view: all that is known of a job but its runs; headers and tags come last. */
void columns_job(struct columns *columns, struct job *job);
void columns_run(struct columns *columns, struct job_run *run);

void columns_failure(struct columns *columns, struct job *job);
void columns_pool(struct columns *columns, struct pool *pool);
void columns_stats(struct columns *columns, struct queue_stats *stats);

#endif

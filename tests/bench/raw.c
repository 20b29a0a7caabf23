/*
 * raw.c - the store's own statements on the store's own schema, stepped without the driver: what
 * SQLite itself takes for the work.
 */
#define SQL_TEXTS
#include "sqlite_statements.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/uuid.h"
#include "bench/bare.h"
#include "bench/store_ways.h"
#include "bench/ways.h"

#include <stdlib.h>
#include <string.h>

#define QUEUE_ID 1

/* The store makes the schema and the queue, and is closed again. */
static const char *make_schema(const char *folder, struct bench_size size)
{
    const char *path = bench_fresh_path(folder);
    CLEANUP(store_close) struct store *store = bench_store(path);

    bench_fill(store, size);
    return path;
}

static void bind_all(sqlite3_stmt *statement, const sqlite3_int64 *values, int count)
{
    for (int i = 0; i < count; i++)
        sqlite3_bind_int64(statement, i + 1, values[i]);
}

static void insert_job(sqlite3_stmt *add, struct uuid_maker *ids, usec_t now)
{
    struct uuid id = uuid_make(ids, now);
    struct bytes payload = bench_payload();

    sqlite3_bind_blob(add, 1, id.bytes, sizeof id.bytes, SQLITE_STATIC);
    sqlite3_bind_int64(add, 2, QUEUE_ID);
    sqlite3_bind_text(add, 3, "noop:job", -1, SQLITE_STATIC);
    sqlite3_bind_int64(add, 4, 0);
    sqlite3_bind_int64(add, 5, 5);
    sqlite3_bind_int64(add, 6, now);
    sqlite3_bind_int64(add, 11, 0);
    sqlite3_bind_int64(add, 12, 0);
    sqlite3_bind_int64(add, 13, now);
    sqlite3_bind_blob(add, 17, payload.data, (int)payload.length, SQLITE_STATIC);
    bare_step(add);
}

usec_t raw_enqueue(const char *folder, struct bench_size size)
{
    sqlite3 *db = bare_open(make_schema(folder, (struct bench_size){1, 1}));
    sqlite3_stmt *add = bare_prepare(db, sql_texts[SQL_JOB_ADD]);
    sqlite3_stmt *ready = bare_prepare(db, sql_texts[SQL_READY_ADD]);
    struct uuid_maker ids = {0};
    usec_t start = clock_boot();

    for (size_t done = 0; done < size.jobs; done += size.batch) {
        usec_t now = clock_wall();
        bare_exec(db, "BEGIN IMMEDIATE");
        for (size_t i = 0; i < size.batch; i++) {
            insert_job(add, &ids, now);
            bind_all(ready, (sqlite3_int64[]){QUEUE_ID, 5, now, sqlite3_last_insert_rowid(db)}, 4);
            bare_step(ready);
        }
        bare_exec(db, "COMMIT");
    }
    usec_t elapsed = clock_boot() - start;
    bench_expect("raw: ready jobs", (size_t)bare_int(db, "SELECT count(*) FROM ready"),
                 size.jobs + 1);
    sqlite3_finalize(add);
    sqlite3_finalize(ready);
    bare_close(db);
    return elapsed;
}

struct raw_job {
    sqlite3_int64 seq, due;
    unsigned char token[20];
};

struct raw_loop {
    sqlite3_stmt *take, *leave, *lease, *finish, *end;
    bool forget;
    struct raw_job *jobs;
    size_t count;
    usec_t now;
};

static void bind_end(struct raw_loop *loop, const struct raw_job *job)
{
    sqlite3_stmt *end = loop->end;

    bind_all(end, (sqlite3_int64[]){job->seq, 5, QUEUE_ID, loop->now, 1, 0, 0}, 7);
    sqlite3_bind_blob(end, 8, job->token, sizeof job->token, SQLITE_STATIC);
    sqlite3_bind_int64(end, 9, 0);
    sqlite3_bind_int64(end, 10, 0);
    sqlite3_bind_text(end, 11, "bench", -1, SQLITE_STATIC);
    sqlite3_bind_int64(end, 12, 1);
    sqlite3_bind_int64(end, 13, loop->now);
    for (int i = 14; i <= 17; i++)
        sqlite3_bind_int64(end, i, 1000);
    sqlite3_bind_int64(end, 18, 0);
}

static void finish_last(struct raw_loop *loop)
{
    for (size_t i = 0; i < loop->count; i++) {
        const struct raw_job *job = &loop->jobs[i];
        sqlite3_bind_int64(loop->finish, 1, job->seq);
        sqlite3_bind_int64(loop->finish, 2, QUEUE_ID);
        sqlite3_bind_blob(loop->finish, 3, job->token, sizeof job->token, SQLITE_STATIC);
        sqlite3_bind_int64(loop->finish, 4, loop->now);
        bare_step(loop->finish);
        if (loop->forget)
            sqlite3_bind_int64(loop->end, 1, job->seq);
        else
            bind_end(loop, job);
        bare_step(loop->end);
    }
}

static void read_next(struct raw_loop *loop, size_t batch)
{
    unsigned char payload[BENCH_PAYLOAD];

    loop->count = 0;
    bind_all(loop->take, (sqlite3_int64[]){QUEUE_ID, (sqlite3_int64)batch}, 2);
    while (sqlite3_step(loop->take) == SQLITE_ROW) {
        struct raw_job *job = &loop->jobs[loop->count++];
        job->seq = sqlite3_column_int64(loop->take, 0);
        job->due = sqlite3_column_int64(loop->take, 5);
        memcpy(payload, sqlite3_column_blob(loop->take, 17), sizeof payload);
    }
    sqlite3_reset(loop->take);
}

static void lease_next(struct raw_loop *loop)
{
    random_bytes(loop->jobs[0].token, 16);
    for (size_t i = 0; i < loop->count; i++) {
        struct raw_job *job = &loop->jobs[i];
        memcpy(job->token, loop->jobs[0].token, 16);
        job->token[18] = (unsigned char)(i >> 8);
        job->token[19] = (unsigned char)i;
        bind_all(loop->leave, (sqlite3_int64[]){QUEUE_ID, 5, job->due, job->seq}, 4);
        bare_step(loop->leave);
        bind_all(loop->lease, (sqlite3_int64[]){job->seq, QUEUE_ID, 1}, 3);
        sqlite3_bind_blob(loop->lease, 4, job->token, sizeof job->token, SQLITE_STATIC);
        sqlite3_bind_int64(loop->lease, 5, loop->now + BENCH_LEASE);
        sqlite3_bind_text(loop->lease, 6, "bench", -1, SQLITE_STATIC);
        sqlite3_bind_int64(loop->lease, 7, loop->now);
        sqlite3_bind_int64(loop->lease, 8, 0);
        bare_step(loop->lease);
    }
}

static usec_t exchange(const char *folder, struct bench_size size, bool forget)
{
    size_t fill = size.batch < 100 ? 100 : size.batch;
    sqlite3 *db = bare_open(make_schema(folder, (struct bench_size){size.jobs, fill}));
    struct raw_loop loop = {
        .take = bare_prepare(db, sql_texts[SQL_RESERVE_PICK]),
        .leave = bare_prepare(db, sql_texts[SQL_READY_REMOVE]),
        .lease = bare_prepare(db, sql_texts[SQL_LEASE_ADD]),
        .finish = bare_prepare(db, sql_texts[SQL_LEASE_TAKE_PLAIN]),
        .end = bare_prepare(db, sql_texts[forget ? SQL_JOB_REMOVE : SQL_ENDED_ADD]),
        .forget = forget,
        .jobs = calloc(size.batch, sizeof *loop.jobs),
    };
    size_t taken = 0;
    usec_t start = clock_boot();

    do {
        loop.now = clock_wall();
        bare_exec(db, "BEGIN IMMEDIATE");
        finish_last(&loop);
        read_next(&loop, size.batch);
        lease_next(&loop);
        bare_exec(db, "COMMIT");
        taken += loop.count;
    } while (loop.count > 0);
    usec_t elapsed = clock_boot() - start;
    bench_expect("raw: jobs taken", taken, size.jobs);
    bench_expect("raw: leases left", (size_t)bare_int(db, "SELECT count(*) FROM lease"), 0);
    sqlite3_finalize(loop.take);
    sqlite3_finalize(loop.leave);
    sqlite3_finalize(loop.lease);
    sqlite3_finalize(loop.finish);
    sqlite3_finalize(loop.end);
    bare_close(db);
    free(loop.jobs);
    return elapsed;
}

usec_t raw_exchange_keep(const char *folder, struct bench_size size)
{
    return exchange(folder, size, false);
}

usec_t raw_exchange_forget(const char *folder, struct bench_size size)
{
    return exchange(folder, size, true);
}

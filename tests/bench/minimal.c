/*
 * minimal.c - the least that could be called a queue: an integer key, a state, a payload, and one
 * index on what is ready. No tokens, no leases, no ids, no history.
 */
#include "base/clock.h"
#include "bench/bare.h"
#include "bench/bench.h"
#include "bench/ways.h"

#include <stdlib.h>
#include <string.h>

static sqlite3 *open_fresh(const char *folder)
{
    sqlite3 *db = bare_open(bench_fresh_path(folder));

    bare_exec(db, "CREATE TABLE job (id INTEGER PRIMARY KEY, state INTEGER, payload BLOB)");
    bare_exec(db, "CREATE INDEX ready ON job (id) WHERE state = 0");
    return db;
}

static void fill(sqlite3 *db, struct bench_size size)
{
    sqlite3_stmt *insert = bare_prepare(db, "INSERT INTO job (state, payload) VALUES (0, ?)");
    struct bytes payload = bench_payload();

    for (size_t done = 0; done < size.jobs; done += size.batch) {
        bare_exec(db, "BEGIN IMMEDIATE");
        for (size_t i = 0; i < size.batch; i++) {
            sqlite3_bind_blob(insert, 1, payload.data, (int)payload.length, SQLITE_STATIC);
            bare_step(insert);
        }
        bare_exec(db, "COMMIT");
    }
    sqlite3_finalize(insert);
}

usec_t minimal_enqueue(const char *folder, struct bench_size size)
{
    sqlite3 *db = open_fresh(folder);
    usec_t start = clock_boot();

    fill(db, size);
    usec_t elapsed = clock_boot() - start;
    bare_close(db);
    return elapsed;
}

struct minimal_loop {
    sqlite3_stmt *take, *mark, *finish;
    sqlite3_int64 *ids;
    size_t count;
};

static void finish_last(struct minimal_loop *loop)
{
    for (size_t i = 0; i < loop->count; i++) {
        sqlite3_bind_int64(loop->finish, 1, loop->ids[i]);
        bare_step(loop->finish);
    }
}

static void take_next(struct minimal_loop *loop, size_t batch)
{
    unsigned char payload[BENCH_PAYLOAD];

    loop->count = 0;
    sqlite3_bind_int64(loop->take, 1, (sqlite3_int64)batch);
    while (sqlite3_step(loop->take) == SQLITE_ROW) {
        loop->ids[loop->count++] = sqlite3_column_int64(loop->take, 0);
        memcpy(payload, sqlite3_column_blob(loop->take, 1), sizeof payload);
    }
    sqlite3_reset(loop->take);
    for (size_t i = 0; i < loop->count; i++) {
        sqlite3_bind_int64(loop->mark, 1, loop->ids[i]);
        bare_step(loop->mark);
    }
}

static usec_t exchange(const char *folder, struct bench_size size, const char *finish)
{
    sqlite3 *db = open_fresh(folder);
    struct minimal_loop loop = {.ids = calloc(size.batch, sizeof *loop.ids)};

    fill(db, (struct bench_size){size.jobs, size.batch < 100 ? 100 : size.batch});
    bare_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)");
    loop.take = bare_prepare(db, "SELECT id, payload FROM job WHERE state = 0 ORDER BY id LIMIT ?");
    loop.mark = bare_prepare(db, "UPDATE job SET state = 1 WHERE id = ?");
    loop.finish = bare_prepare(db, finish);
    usec_t start = clock_boot();
    do {
        bare_exec(db, "BEGIN IMMEDIATE");
        finish_last(&loop);
        take_next(&loop, size.batch);
        bare_exec(db, "COMMIT");
    } while (loop.count > 0);
    usec_t elapsed = clock_boot() - start;
    sqlite3_finalize(loop.take);
    sqlite3_finalize(loop.mark);
    sqlite3_finalize(loop.finish);
    bare_close(db);
    free(loop.ids);
    return elapsed;
}

usec_t minimal_exchange_keep(const char *folder, struct bench_size size)
{
    return exchange(folder, size, "UPDATE job SET state = 2 WHERE id = ?");
}

usec_t minimal_exchange_forget(const char *folder, struct bench_size size)
{
    return exchange(folder, size, "DELETE FROM job WHERE id = ?");
}

/*
 * pg_raw.c - one statement on the store's own layout that does what an exchange of plain jobs does,
 * and nothing else: what PostgreSQL itself takes for the work.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/uuid.h"
#include "bench/postgres/pg_bare.h"
#include "bench/postgres/pg_ways.h"
#include "bench/store_ways.h"

#include <endian.h>
#include <string.h>

#define BATCH_MAX 1000

#define TAKE                                                                                       \
    " next AS (SELECT ctid AS place FROM ready WHERE queue_id = 1"                                 \
    " AND (priority, due, seq) > (5, $5::bigint, $6::bigint)"                                      \
    " ORDER BY priority, due, seq LIMIT $2::bigint FOR UPDATE SKIP LOCKED),"                       \
    " gone AS (DELETE FROM ready WHERE ctid = ANY (ARRAY(SELECT place FROM next))"                 \
    " RETURNING seq, priority, due, traces),"                                                      \
    " taken AS MATERIALIZED (SELECT g.seq, g.due, g.traces, j.id, j.type, j.executions, "          \
    "j.payload,"                                                                                   \
    " (row_number() OVER (ORDER BY g.priority, g.due, g.seq))::int AS n"                           \
    " FROM gone g JOIN job j ON j.seq = g.seq),"                                                   \
    " leased AS (INSERT INTO lease (queue_id, seq, execution, token, expires_at, pool, "           \
    "started_at,"                                                                                  \
    " traces) SELECT 1, seq, executions + 1, $4::bytea || int4send(n), $3::bigint + 30000000,"     \
    " 'bench', $3, traces FROM taken)"                                                             \
    " SELECT seq, payload, due, id, type FROM taken ORDER BY n"

#define KEEP                                                                                       \
    "WITH done AS (DELETE FROM lease WHERE queue_id = 1 AND seq = ANY ($1::bigint[])"              \
    " AND expires_at > $3 AND NOT traces RETURNING seq, token, pool, started_at),"                 \
    " kept AS (INSERT INTO ended (seq, state, queue_id, ended_at, executions, attempts, stalls,"   \
    " token, ended_by, pool, worker, started_at, wall, user_time, system_time, max_rss_kb,"        \
    " exit_code) SELECT seq, 5, 1, $3, 1, 0, 0, token, 0, pool, 1, started_at, 1000, 500, 300,"    \
    " 2000, 0 FROM done)," TAKE

#define FORGET                                                                                     \
    "WITH done AS (DELETE FROM lease WHERE queue_id = 1 AND seq = ANY ($1::bigint[])"              \
    " AND expires_at > $3 AND NOT traces RETURNING seq),"                                          \
    " forgotten AS (DELETE FROM job j USING done d WHERE j.seq = d.seq)," TAKE

#define ENQUEUE                                                                                    \
    "WITH added AS (INSERT INTO job (id, queue_id, type, encoding, priority, due, attempts, "      \
    "stalls,"                                                                                      \
    " executions, created_at, payload) SELECT gen_random_uuid(), 1, 'noop:job', 0, 5, $2::bigint," \
    " 0, 0, 0, $2, $3::bytea FROM generate_series(1, $1::bigint) RETURNING seq, due)"              \
    " INSERT INTO ready SELECT 1, 5, due, seq, false, false FROM added"

/* The store makes the schema and the queue, and is closed again. */
static PGconn *open_filled(const char *url, struct bench_size size)
{
    const char *fresh = pg_fresh_url(url);
    struct store *store = bench_store(fresh);

    bench_fill(store, size);
    store_close(&store);
    return pg_bare_enter(url);
}

usec_t pg_raw_enqueue(const char *url, struct bench_size size)
{
    PGconn *conn = open_filled(url, (struct bench_size){1, 1});
    struct bytes payload = bench_payload();
    int64_t batch = (int64_t)htobe64(size.batch);

    pg_bare_prepare(conn, "enqueue", ENQUEUE);
    usec_t start = clock_boot();
    for (size_t done = 0; done < size.jobs; done += size.batch) {
        int64_t now = (int64_t)htobe64((uint64_t)clock_wall());
        const char *values[] = {(const char *)&batch, (const char *)&now,
                                (const char *)payload.data};
        const int lengths[] = {sizeof(batch), sizeof(now), (int)payload.length};
        PQclear(pg_bare_run(conn, "enqueue", 3, values, lengths));
    }
    usec_t elapsed = clock_boot() - start;
    PQfinish(conn);
    return elapsed;
}

/* What is held, and the last place that was taken. */
struct raw_loop {
    PGconn *conn;
    struct buffer array;
    int64_t seqs[BATCH_MAX];
    size_t count;
    uint64_t due, seq; /* as PostgreSQL writes them */
};

static void read_rows(struct raw_loop *loop, const PGresult *result)
{
    unsigned char payload[BENCH_PAYLOAD];

    loop->count = (size_t)PQntuples(result);
    for (size_t i = 0; i < loop->count; i++) {
        memcpy(&loop->seq, PQgetvalue(result, (int)i, 0), sizeof(loop->seq));
        memcpy(payload, PQgetvalue(result, (int)i, 1), sizeof(payload));
        memcpy(&loop->due, PQgetvalue(result, (int)i, 2), sizeof(loop->due));
        loop->seqs[i] = (int64_t)be64toh(loop->seq);
    }
}

static void exchange_once(struct raw_loop *loop, size_t batch)
{
    int64_t limit = (int64_t)htobe64(batch);
    int64_t now = (int64_t)htobe64((uint64_t)clock_wall());
    unsigned char token[16];

    random_bytes(token, sizeof(token));
    pg_bare_array(&loop->array, loop->seqs, loop->count);
    const char *values[] = {loop->array.data,         (const char *)&limit,
                            (const char *)&now,       (const char *)token,
                            (const char *)&loop->due, (const char *)&loop->seq};
    const int lengths[] = {(int)loop->array.length, sizeof(limit),     sizeof(now),
                           sizeof(token),           sizeof(loop->due), sizeof(loop->seq)};
    PGresult *result = pg_bare_run(loop->conn, "exchange", 6, values, lengths);
    read_rows(loop, result);
    PQclear(result);
}

static usec_t exchange(const char *url, struct bench_size size, const char *sql)
{
    size_t fill = size.batch < 100 ? 100 : size.batch;
    struct raw_loop loop = {.array = BUFFER(1 << 20)};

    loop.conn = open_filled(url, (struct bench_size){size.jobs, fill});
    pg_bare_prepare(loop.conn, "exchange", sql);
    usec_t start = clock_boot();
    do
        exchange_once(&loop, size.batch);
    while (loop.count > 0);
    usec_t elapsed = clock_boot() - start;
    PQfinish(loop.conn);
    buffer_done(&loop.array);
    return elapsed;
}

usec_t pg_raw_exchange_keep(const char *url, struct bench_size size)
{
    return exchange(url, size, KEEP);
}

usec_t pg_raw_exchange_forget(const char *url, struct bench_size size)
{
    return exchange(url, size, FORGET);
}

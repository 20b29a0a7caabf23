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

#define DONE                                                                                       \
    "WITH done AS MATERIALIZED (SELECT s.ref, s.token, l.place, l.pool, s.started_at, s.wall,"     \
    " s.user_time, s.system_time, s.rss FROM unnest($1::bigint[], $7::bytea[], $8::bigint[],"      \
    " $8::bigint[], $8::bigint[], $8::bigint[], $8::bigint[]) s (ref, token, started_at, wall,"    \
    " user_time, system_time, rss) CROSS JOIN LATERAL (SELECT ctid AS place, pool FROM lease"      \
    " WHERE queue_id = $9::int AND seq = s.ref AND token = s.token AND expires_at > $3"            \
    " AND NOT traces OFFSET 0) l),"                                                                \
    " settled AS (DELETE FROM lease WHERE ctid = ANY (ARRAY(SELECT place FROM done))),"

#define TAKE                                                                                       \
    " next AS (SELECT ctid AS place FROM ready WHERE queue_id = $9"                                \
    " AND (priority, due, seq) > (5, $5::bigint, $6::bigint)"                                      \
    " ORDER BY priority, due, seq LIMIT $2::bigint FOR UPDATE SKIP LOCKED),"                       \
    " gone AS (DELETE FROM ready WHERE ctid = ANY (ARRAY(SELECT place FROM next))"                 \
    " RETURNING seq, priority, due, traces),"                                                      \
    " taken AS MATERIALIZED (SELECT g.seq, g.priority, g.due, g.traces, j.id, j.type, j.encoding," \
    " j.run_at, j.timeout, j.max_attempts, j.max_stalls, j.attempts, j.stalls, j.executions,"      \
    " j.created_at, j.key, j.update_flags, j.idempotency_key, j.payload,"                          \
    " (row_number() OVER ())::int AS n FROM gone g"                                                \
    " CROSS JOIN LATERAL (SELECT * FROM job WHERE seq = g.seq OFFSET 0) j),"                       \
    " leased AS (INSERT INTO lease (queue_id, seq, execution, token, expires_at, pool,"            \
    " started_at, traces) SELECT $9, seq, executions + 1, $4::bytea || int4send(n),"               \
    " $3::bigint + 30000000, 'bench', $3, traces FROM taken)"                                      \
    " SELECT seq, payload, due, n, id, type, encoding, priority, run_at, timeout, max_attempts,"   \
    " max_stalls, attempts, stalls, executions, created_at, key, update_flags, idempotency_key"    \
    " FROM taken"

#define KEEP                                                                                       \
    DONE " kept AS (INSERT INTO ended (seq, state, traces, queue_id, ended_at, executions,"        \
         " attempts, stalls, token, ended_by, pool, worker, started_at, wall, user_time,"          \
         " system_time, max_rss_kb, exit_code) SELECT ref, 5, false, $9, $3, 1, 0, 0, token, 0,"   \
         " pool, 1, started_at, wall, user_time, system_time, rss, 0 FROM done)," TAKE

#define FORGET                                                                                     \
    DONE " forgotten AS (DELETE FROM job WHERE seq = ANY (ARRAY(SELECT ref FROM done)))," TAKE

#define ENQUEUE                                                                                    \
    "WITH added AS (INSERT INTO job (id, queue_id, type, encoding, priority, due, attempts,"       \
    " stalls, executions, created_at, payload) SELECT gen_random_uuid(), $4::int, 'noop:job', 0,"  \
    " 5, $2::bigint, 0, 0, 0, $2, $3::bytea FROM generate_series(1, $1::bigint)"                   \
    " RETURNING seq, due) INSERT INTO ready SELECT $4, 5, due, seq, false, false FROM added"

/* The store makes the schema and the queue, and is closed again. */
static PGconn *open_filled(const char *url, struct bench_size size)
{
    const char *fresh = pg_fresh_url(url);
    struct store *store = bench_store(fresh);

    bench_fill(store, size);
    store_close(&store);
    return pg_bare_enter(url);
}

/* The number of the queue that was filled, as PostgreSQL writes it. */
static uint32_t find_queue(PGconn *conn)
{
    return htobe32((uint32_t)pg_bare_int(conn, "SELECT queue_id FROM job LIMIT 1"));
}

usec_t pg_raw_enqueue(const char *url, struct bench_size size)
{
    PGconn *conn = open_filled(url, (struct bench_size){1, 1});
    struct bytes payload = bench_payload();
    int64_t batch = (int64_t)htobe64(size.batch);
    uint32_t queue_id = find_queue(conn);

    pg_bare_prepare(conn, "enqueue", ENQUEUE);
    usec_t start = clock_boot();
    for (size_t done = 0; done < size.jobs; done += size.batch) {
        int64_t now = (int64_t)htobe64((uint64_t)clock_wall());
        const char *values[] = {(const char *)&batch, (const char *)&now,
                                (const char *)payload.data, (const char *)&queue_id};
        const int lengths[] = {sizeof batch, sizeof now, (int)payload.length, sizeof queue_id};
        PQclear(pg_bare_run(conn, "enqueue", 4, values, lengths));
    }
    usec_t elapsed = clock_boot() - start;
    bench_expect("raw: ready jobs", (size_t)pg_bare_int(conn, "SELECT count(*) FROM ready"),
                 size.jobs + 1);
    PQfinish(conn);
    return elapsed;
}

/* What is held. */
struct raw_loop {
    PGconn *conn;
    uint32_t queue_id; /* as PostgreSQL writes it */
    struct buffer array, tokens, times;
    int64_t seqs[BATCH_MAX];
    unsigned char batch[16];
    uint32_t numbers[BATCH_MAX]; /* of the tokens, as PostgreSQL writes them */
    size_t count;
    uint64_t due, seq; /* the last place that was taken, as PostgreSQL writes it */
};

static void read_row(struct raw_loop *loop, const PGresult *result, int row)
{
    unsigned char payload[BENCH_PAYLOAD];
    uint64_t seq;

    memcpy(&seq, PQgetvalue(result, row, 0), sizeof seq);
    memcpy(payload, PQgetvalue(result, row, 1), sizeof payload);
    memcpy(&loop->numbers[row], PQgetvalue(result, row, 3), sizeof loop->numbers[row]);
    loop->seqs[row] = (int64_t)be64toh(seq);
    if (be64toh(seq) < be64toh(loop->seq))
        return;
    loop->seq = seq;
    memcpy(&loop->due, PQgetvalue(result, row, 2), sizeof loop->due);
}

static void exchange_once(struct raw_loop *loop, size_t batch)
{
    int64_t limit = (int64_t)htobe64(batch);
    int64_t now = (int64_t)htobe64((uint64_t)clock_wall());
    unsigned char token[16];

    random_bytes(token, sizeof token);
    pg_bare_array(&loop->array, loop->seqs, loop->count);
    pg_bare_array(&loop->times, loop->seqs, loop->count);
    pg_bare_tokens(&loop->tokens, loop->batch, loop->numbers, loop->count);
    memcpy(loop->batch, token, sizeof token);
    const char *values[] = {
        loop->array.data,    (const char *)&limit,     (const char *)&now,
        (const char *)token, (const char *)&loop->due, (const char *)&loop->seq,
        loop->tokens.data,   loop->times.data,         (const char *)&loop->queue_id};
    const int lengths[] = {(int)loop->array.length,
                           sizeof limit,
                           sizeof now,
                           sizeof token,
                           sizeof loop->due,
                           sizeof loop->seq,
                           (int)loop->tokens.length,
                           (int)loop->times.length,
                           sizeof loop->queue_id};
    PGresult *result = pg_bare_run(loop->conn, "exchange", 9, values, lengths);
    loop->count = (size_t)PQntuples(result);
    for (size_t i = 0; i < loop->count; i++)
        read_row(loop, result, (int)i);
    PQclear(result);
}

static usec_t exchange(const char *url, struct bench_size size, const char *sql)
{
    size_t fill = size.batch < 100 ? 100 : size.batch;
    struct raw_loop loop = {
        .array = BUFFER(1 << 20), .tokens = BUFFER(1 << 20), .times = BUFFER(1 << 20)};
    size_t taken = 0;

    loop.conn = open_filled(url, (struct bench_size){size.jobs, fill});
    loop.queue_id = find_queue(loop.conn);
    pg_bare_prepare(loop.conn, "exchange", sql);
    usec_t start = clock_boot();
    do {
        exchange_once(&loop, size.batch);
        taken += loop.count;
    } while (loop.count > 0);
    usec_t elapsed = clock_boot() - start;
    bench_expect("raw: jobs taken", taken, size.jobs);
    bench_expect("raw: leases left", (size_t)pg_bare_int(loop.conn, "SELECT count(*) FROM lease"),
                 0);
    PQfinish(loop.conn);
    buffer_done(&loop.array);
    buffer_done(&loop.tokens);
    buffer_done(&loop.times);
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

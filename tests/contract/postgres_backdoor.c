/*
 * postgres_backdoor.c - past the driver, straight into the schema.
 *
 * Each function connects, does one thing and disconnects; only block() stays connected.
 */
#include "backends.h"

#include "base/error.h"
#include "base/text.h"
#include "store/postgres/net/connection.h"
#include "store/postgres/net/conninfo.h"
#include "store/url.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEASE_OF_JOB " WHERE seq = (SELECT seq FROM job WHERE id = $1)"

/* The lease is the state: a job that has one runs, so that cannot be contradicted. */
/* clang-format off */
static const char *const violation_sql[VIOLATIONS] = {
    [RUNNING_WITHOUT_LEASE]  = "INSERT INTO waiting (state, due, seq, queue_id)"
                               " SELECT 3, due, seq, queue_id FROM job WHERE id = $1",
    [LEASE_WITHOUT_RUNNING]  = NULL,
    [RUNNING_WITHOUT_TOKEN]  = "UPDATE lease SET token = NULL" LEASE_OF_JOB,
    [RUNNING_WITHOUT_EXPIRY] = "UPDATE lease SET expires_at = NULL" LEASE_OF_JOB,
    [LEASED_TWICE]           = "INSERT INTO lease SELECT * FROM lease" LEASE_OF_JOB,
};
/* clang-format on */

static void require(bool done, PGconn *conn, const char *what)
{
    if (done)
        return;
    fprintf(stderr, "backdoor: %s: %s\n", what, PQerrorMessage(conn));
    abort();
}

static PGresult *run(PGconn *conn, const char *sql)
{
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);

    require(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, conn, sql);
    return result;
}

static void execute(PGconn *conn, const char *sql)
{
    PQclear(run(conn, sql));
}

static PGconn *connect_to(const char *url)
{
    char *conninfo = pg_conninfo_make(url);
    PGconn *conn = PQconnectdb(conninfo);

    require(PQstatus(conn) == CONNECTION_OK, conn, "connect");
    free(conninfo);
    return conn;
}

static PGconn *enter(const char *url)
{
    PGconn *conn = connect_to(url);
    struct store_url parsed = {0};
    struct error err = {0};
    const char *schema;
    char sql[128];

    require(url_parse(url, &parsed, &err) && pg_conninfo_schema(&parsed, &schema, &err), conn, url);
    snprintf(sql, sizeof sql, "SET search_path = \"%s\"", schema);
    execute(conn, sql);
    url_done(&parsed);
    return conn;
}

static PGresult *run_for_job(PGconn *conn, const char *sql, const struct uuid *id)
{
    const Oid type = 2950; /* uuid */
    const char *value = (const char *)id->bytes;
    const int length = sizeof id->bytes, format = 1;

    return PQexecParams(conn, sql, 1, &type, &value, &length, &format, 0);
}

static void change_job(const char *url, const struct uuid *id, const char *sql)
{
    PGconn *conn = enter(url);
    PGresult *result = run_for_job(conn, sql, id);

    require(strcmp(PQcmdTuples(result), "1") == 0, conn, "no such job");
    PQclear(result);
    PQfinish(conn);
}

static void damage_job(const char *url, const struct uuid *id)
{
    change_job(url, id, "UPDATE job SET type = 'not a name!' WHERE id = $1");
}

static void damage_headers(const char *url, const struct uuid *id)
{
    change_job(url, id, "UPDATE job SET headers = '{\"a\":' WHERE id = $1");
}

static void set_schema(const char *url, int version, int usable_from)
{
    PGconn *conn = enter(url);
    char sql[128];

    snprintf(sql, sizeof sql, "UPDATE meta SET version = %d, usable_from = %d", version,
             usable_from);
    PGresult *result = run(conn, sql);
    require(strcmp(PQcmdTuples(result), "1") == 0, conn, "the schema has no version");
    PQclear(result);
    PQfinish(conn);
}

static bool refuses(const char *url, const struct uuid *id, enum violation violation)
{
    if (!violation_sql[violation])
        return true;
    PGconn *conn = enter(url);
    PGresult *result = run_for_job(conn, violation_sql[violation], id);
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    bool refused = state && strncmp(state, "23", 2) == 0;

    require(refused || strcmp(PQcmdTuples(result), "1") == 0, conn, "no such job");
    PQclear(result);
    PQfinish(conn);
    return refused;
}

/* What is never true of any row. */
/* clang-format off */
static const struct {
    const char *rule;
    const char *sql; /* answers a row for each case that breaks it */
} rules[] = {
    {"a job is in exactly one of ready, aside, waiting, lease, batch, ended",
     "SELECT 1 FROM job j WHERE 1 <>"
     " (SELECT count(*) FROM ready r WHERE r.queue_id = j.queue_id AND r.priority = j.priority"
     "     AND r.due = j.due AND r.seq = j.seq)"
     " + (SELECT count(*) FROM aside a WHERE a.seq = j.seq AND a.queue_id = j.queue_id"
     "     AND a.priority = j.priority AND a.due = j.due AND a.type = j.type)"
     " + (SELECT count(*) FROM waiting w WHERE w.queue_id = j.queue_id AND w.due = j.due"
     "     AND w.seq = j.seq)"
     " + (SELECT count(*) FROM leases l WHERE l.seq = j.seq AND l.queue_id = j.queue_id)"
     " + (SELECT count(*) FROM ended e WHERE e.seq = j.seq AND e.queue_id = j.queue_id)"},
    {"each of them has a job",
     "SELECT 1 WHERE (SELECT count(*) FROM job) <> (SELECT count(*) FROM ready)"
     " + (SELECT count(*) FROM waiting) + (SELECT count(*) FROM leases)"
     " + (SELECT count(*) FROM ended) + (SELECT count(*) FROM aside)"},
    {"details and runs have a job",
     "(SELECT seq FROM detail UNION SELECT seq FROM run) EXCEPT SELECT seq FROM job"},
    {"tags are those that jobs have",
     "WITH has AS (SELECT n.name, j.id FROM job j CROSS JOIN LATERAL"
     " unnest(string_to_array(j.tags, ' ')) n (name))"
     " (TABLE has EXCEPT TABLE tag) UNION ALL (TABLE tag EXCEPT TABLE has)"},
    {"the key knows the job that waits with it",
     "SELECT 1 FROM job_view v JOIN queue q ON q.name = v.queue LEFT JOIN keyed k"
     " ON k.queue_id = q.queue_id AND k.key = v.key"
     " WHERE v.key IS NOT NULL AND v.state IN (0, 1, 2, 4) AND k.waiting IS DISTINCT FROM v.seq"},
    {"the key knows the job that runs with it",
     "SELECT 1 FROM job_view v JOIN queue q ON q.name = v.queue LEFT JOIN keyed k"
     " ON k.queue_id = q.queue_id AND k.key = v.key"
     " WHERE v.key IS NOT NULL AND v.state = 3 AND k.running IS DISTINCT FROM v.seq"},
    {"the job that waits with a key is blocked while another runs, and only then",
     "SELECT 1 FROM keyed k JOIN job_view v ON v.seq = k.waiting"
     " WHERE (v.state = 2) <> (k.running IS NOT NULL)"},
    {"a job without key is never blocked",
     "SELECT 1 FROM job_view WHERE state = 2 AND key IS NULL"},
    {"a key names jobs that wait and run",
     "SELECT 1 FROM keyed k LEFT JOIN job_view w ON w.seq = k.waiting"
     " LEFT JOIN job_view r ON r.seq = k.running"
     " WHERE (k.waiting IS NULL AND k.running IS NULL)"
     " OR (k.waiting IS NOT NULL AND (w.key IS DISTINCT FROM k.key OR w.state NOT IN (0, 1, 2, 4)))"
     " OR (k.running IS NOT NULL AND (r.key IS DISTINCT FROM k.key OR r.state IS DISTINCT FROM 3))"},
    {"no lease ends before its queue expects it",
     "SELECT 1 FROM leases l JOIN queue q ON q.queue_id = l.queue_id"
     " WHERE q.next_expiry IS NULL OR l.expires_at < q.next_expiry"},
    {"a lease counts one execution more than its job",
     "SELECT 1 FROM leases l JOIN job j ON j.seq = l.seq WHERE l.execution <> j.executions + 1"},
    {"a lease without traces has none",
     "SELECT 1 FROM leases l JOIN job j ON j.seq = l.seq WHERE NOT traces AND (j.key IS NOT NULL"
     " OR j.tags IS NOT NULL OR l.cancel_requested_at IS NOT NULL OR l.seq IN (SELECT seq FROM detail)"
     " OR l.seq IN (SELECT seq FROM run))"},
    {"a batch has leases, and knows the first and the last of them",
     "SELECT 1 FROM batch WHERE bit_count(open) = 0"
     " OR lowest <> (SELECT min(s) FROM unnest(seqs) s) OR highest <> (SELECT max(s) FROM unnest(seqs) s)"},
    {"a ready job knows its key and its traces",
     "SELECT 1 FROM ready r JOIN job j ON j.seq = r.seq WHERE r.keyed <> (j.key IS NOT NULL)"
     " OR (NOT r.traces AND (r.keyed OR j.tags IS NOT NULL OR r.seq IN (SELECT seq FROM detail UNION SELECT seq FROM run)))"},
    {"an ended job without traces has none",
     "SELECT 1 FROM ended WHERE NOT traces AND seq IN (SELECT seq FROM detail UNION SELECT seq FROM run"
     " UNION SELECT seq FROM job WHERE tags IS NOT NULL)"},
    {"what was counted is what is there",
     "WITH added AS (SELECT queue_id, c.state, sum(c.n) AS n FROM counts CROSS JOIN LATERAL"
     " (VALUES (0, scheduled), (1, ready), (2, blocked), (3, running), (4, retry), (5, done),"
     "     (6, dead), (7, cancelled), (8, no_handler), (9, cannot_start)) c (state, n)"
     "     GROUP BY 1, 2 HAVING sum(c.n) <> 0),"
     " jobs AS (SELECT queue_id, 1 AS state, count(*) AS n FROM"
     "     (SELECT queue_id FROM ready UNION ALL SELECT queue_id FROM aside) r GROUP BY 1"
     "     UNION ALL SELECT queue_id, 7 + why, count(*) FROM aside GROUP BY 1, 2"
     "     UNION ALL SELECT queue_id, state, count(*) FROM waiting GROUP BY 1, 2"
     "     UNION ALL SELECT queue_id, 3, count(*) FROM leases GROUP BY 1"
     "     UNION ALL SELECT queue_id, state, count(*) FROM ended GROUP BY 1, 2)"
     " (TABLE added EXCEPT TABLE jobs) UNION ALL (TABLE jobs EXCEPT TABLE added)"},
};
/* clang-format on */

static bool is_sound(const char *url, char *why, size_t size)
{
    PGconn *conn = enter(url);
    bool sound = true;

    for (size_t i = 0; i < COUNT_OF(rules) && sound; i++) {
        PGresult *result = run(conn, rules[i].sql);
        sound = PQntuples(result) == 0;
        snprintf(why, size, "%s", rules[i].rule);
        PQclear(result);
    }
    PQfinish(conn);
    return sound;
}

static void block(const char *url)
{
    PGconn *conn = enter(url);

    execute(conn,
            "BEGIN; LOCK TABLE queue, job, ready, waiting, lease, batch, ended IN EXCLUSIVE MODE");
}

static int64_t deadlocks(const char *url)
{
    PGconn *conn = enter(url);
    PGresult *result =
        run(conn, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()");
    int64_t count;

    require(text_to_int(PQgetvalue(result, 0, 0), 0, INT64_MAX, &count), conn, "deadlocks");
    PQclear(result);
    PQfinish(conn);
    return count;
}

static void *produce(const char *url, const char *queue)
{
    PGconn *conn = enter(url);
    char sql[256];

    snprintf(sql, sizeof sql, "BEGIN; SELECT enqueue('work', queue => '%s')", queue);
    execute(conn, sql);
    return conn;
}

static void *cancel(const char *url, const struct uuid *id)
{
    PGconn *conn = enter(url);
    char text[UUID_TEXT_SIZE], sql[256];

    uuid_format(id, text);
    snprintf(sql, sizeof sql, "BEGIN; SELECT cancel('%s')", text);
    execute(conn, sql);
    return conn;
}

static void commit(void *transaction)
{
    execute(transaction, "COMMIT");
    PQfinish(transaction);
}

void postgres_drop_schemas(const char *url, const char *prefix)
{
    PGconn *conn = connect_to(url);
    char sql[256];

    snprintf(sql, sizeof sql,
             "SELECT format('DROP SCHEMA %%I CASCADE', nspname) FROM pg_namespace"
             " WHERE starts_with(nspname, '%s')",
             prefix);
    execute(conn, "SET client_min_messages = warning");
    PGresult *drops = run(conn, sql);
    for (int i = 0; i < PQntuples(drops); i++)
        execute(conn, PQgetvalue(drops, i, 0));
    PQclear(drops);
    PQfinish(conn);
}

static void slow_down(struct store *store, usec_t now)
{
    struct pg_scan_starts *starts = &((struct postgres *)store)->scan_starts;

    for (size_t i = 0; i < starts->count; i++)
        pg_scan_start_looked(&starts->items[i], now, USEC_PER_SEC, true);
}

const struct backdoor postgres_backdoor = {
    .damage_job = damage_job,
    .damage_headers = damage_headers,
    .set_schema = set_schema,
    .refuses = refuses,
    .is_sound = is_sound,
    .block = block,
    .deadlocks = deadlocks,
    .by_sql = postgres_adopt,
    .produce = produce,
    .cancel = cancel,
    .commit = commit,
    .slow_down = slow_down,
};

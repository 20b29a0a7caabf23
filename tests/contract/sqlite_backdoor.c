/*
 * sqlite_backdoor.c - past the driver, straight into the SQLite file.
 *
 * Each function opens the file, does one thing and closes it; only block() keeps it open.
 */
#include "backends.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#define OF_JOB " WHERE seq = (SELECT seq FROM job WHERE id = ?1)"

/* What is done to a job's own lease, or where it has none, to the batch that it is the first of. */
struct violation_sql {
    const char *lease, *batch;
};

/* The lease is the state: a job that has one runs, so that cannot be contradicted. */
/* clang-format off */
static const struct violation_sql violation_sql[VIOLATIONS] = {
    [RUNNING_WITHOUT_LEASE]  = {"INSERT INTO waiting (state, due, seq, queue_id)"
                                " SELECT 3, due, seq, queue_id FROM job WHERE id = ?1", NULL},
    [LEASE_WITHOUT_RUNNING]  = {NULL, NULL},
    [RUNNING_WITHOUT_TOKEN]  = {"UPDATE lease SET token = NULL" OF_JOB,
                                "UPDATE batch SET token = NULL" OF_JOB},
    [RUNNING_WITHOUT_EXPIRY] = {"UPDATE lease SET expires_at = NULL" OF_JOB,
                                "UPDATE batch SET expires_at = NULL" OF_JOB},
    [LEASED_TWICE]           = {"INSERT INTO lease SELECT * FROM lease" OF_JOB,
                                "INSERT INTO batch SELECT * FROM batch" OF_JOB},
};
/* clang-format on */

static void require(bool done, sqlite3 *database, const char *what)
{
    if (done)
        return;
    fprintf(stderr, "backdoor: %s: %s\n", what, sqlite3_errmsg(database));
    abort();
}

static sqlite3 *open_file(const char *url)
{
    char path[BACKEND_URL_SIZE];
    sqlite3 *database = NULL;

    backend_sqlite_path(url, path);
    require(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK, database,
            path);
    sqlite3_busy_timeout(database, 5000);
    return database;
}

static sqlite3_stmt *prepare(sqlite3 *database, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    require(sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK, database, sql);
    return statement;
}

/* What the statement ends with, run once for this job. */
static int step_for_job(sqlite3 *database, const char *sql, const struct uuid *id)
{
    sqlite3_stmt *statement = prepare(database, sql);

    sqlite3_bind_blob(statement, 1, id->bytes, sizeof id->bytes, SQLITE_STATIC);
    int result = sqlite3_step(statement);
    sqlite3_finalize(statement);
    return result;
}

static void change_job(const char *url, const struct uuid *id, const char *sql)
{
    sqlite3 *database = open_file(url);

    require(step_for_job(database, sql, id) == SQLITE_DONE, database, sql);
    require(sqlite3_changes(database) == 1, database, "no such job");
    sqlite3_close(database);
}

static void damage_job(const char *url, const struct uuid *id)
{
    change_job(url, id, "UPDATE job SET type = 'not a name!' WHERE id = ?1");
}

static void damage_headers(const char *url, const struct uuid *id)
{
    change_job(url, id, "UPDATE job SET headers = '{\"a\":' WHERE id = ?1");
}

static void set_schema(const char *url, int version, int usable_from)
{
    sqlite3 *database = open_file(url);
    sqlite3_stmt *statement = prepare(database, "UPDATE meta SET version = ?1, usable_from = ?2");

    sqlite3_bind_int(statement, 1, version);
    sqlite3_bind_int(statement, 2, usable_from);
    require(sqlite3_step(statement) == SQLITE_DONE, database, "set the schema's version");
    require(sqlite3_changes(database) == 1, database, "the schema has no version");
    sqlite3_finalize(statement);
    sqlite3_close(database);
}

static bool refuses(const char *url, const struct uuid *id, enum violation violation)
{
    const struct violation_sql *sql = &violation_sql[violation];

    if (!sql->lease)
        return true;
    sqlite3 *database = open_file(url);
    int result = step_for_job(database, sql->lease, id);
    if (result == SQLITE_DONE && sqlite3_changes(database) == 0 && sql->batch)
        result = step_for_job(database, sql->batch, id);
    require(result == SQLITE_CONSTRAINT || sqlite3_changes(database) == 1, database, "no such job");
    sqlite3_close(database);
    return result == SQLITE_CONSTRAINT;
}

/* What is never true of any row. */
/* clang-format off */
static const struct {
    const char *rule;
    const char *sql; /* answers a row for each case that breaks it */
} rules[] = {
    {"a job is in exactly one of ready, aside, waiting, lease, batch, ended",
     "WITH l AS MATERIALIZED (SELECT seq, queue_id FROM running) SELECT 1 FROM job j WHERE 1 <>"
     " (SELECT count(*) FROM ready r WHERE r.queue_id = j.queue_id AND r.priority = j.priority"
     "     AND r.due = j.due AND r.seq = j.seq)"
     " + (SELECT count(*) FROM aside a WHERE a.seq = j.seq AND a.queue_id = j.queue_id"
     "     AND a.priority = j.priority AND a.due = j.due AND a.type = j.type)"
     " + (SELECT count(*) FROM waiting w WHERE w.queue_id = j.queue_id AND w.due = j.due"
     "     AND w.seq = j.seq)"
     " + (SELECT count(*) FROM l WHERE l.seq = j.seq AND l.queue_id = j.queue_id)"
     " + (SELECT count(*) FROM ended e WHERE e.seq = j.seq AND e.queue_id = j.queue_id)"},
    {"each of them has a job",
     "SELECT 1 WHERE (SELECT count(*) FROM job) <> (SELECT count(*) FROM ready)"
     " + (SELECT count(*) FROM waiting) + (SELECT count(*) FROM running)"
     " + (SELECT count(*) FROM ended) + (SELECT count(*) FROM aside)"},
    {"details and runs have a job",
     "SELECT seq FROM detail UNION SELECT seq FROM run EXCEPT SELECT seq FROM job"},
    {"a tag leads to a job that has it",
     "SELECT 1 FROM tag t LEFT JOIN job j ON j.id = t.id"
     " WHERE coalesce(instr(' ' || j.tags || ' ', ' ' || t.tag || ' '), 0) = 0"},
    {"each tag of a job leads to it",
     "SELECT 1 FROM job j WHERE j.tags IS NOT NULL AND length(j.tags)"
     " - length(replace(j.tags, ' ', '')) + 1 <> (SELECT count(*) FROM tag t WHERE t.id = j.id)"},
    {"the key knows the job that waits with it",
     "SELECT 1 FROM job_view v JOIN queue q ON q.name = v.queue LEFT JOIN keyed k"
     " ON k.queue_id = q.queue_id AND k.key = v.key"
     " WHERE v.key IS NOT NULL AND v.state IN (0, 1, 2, 4) AND k.waiting IS NOT v.seq"},
    {"the key knows the job that runs with it",
     "SELECT 1 FROM job_view v JOIN queue q ON q.name = v.queue LEFT JOIN keyed k"
     " ON k.queue_id = q.queue_id AND k.key = v.key"
     " WHERE v.key IS NOT NULL AND v.state = 3 AND k.running IS NOT v.seq"},
    {"the job that waits with a key is blocked while another runs, and only then",
     "SELECT 1 FROM keyed k JOIN job_view v ON v.seq = k.waiting"
     " WHERE (v.state = 2) <> (k.running IS NOT NULL)"},
    {"a job without key is never blocked",
     "SELECT 1 FROM job_view WHERE state = 2 AND key IS NULL"},
    {"a key names jobs that wait and run",
     "SELECT 1 FROM keyed k LEFT JOIN job_view w ON w.seq = k.waiting"
     " LEFT JOIN job_view r ON r.seq = k.running"
     " WHERE (k.waiting IS NOT NULL AND (w.key IS NOT k.key OR w.state NOT IN (0, 1, 2, 4)))"
     " OR (k.running IS NOT NULL AND (r.key IS NOT k.key OR r.state IS NOT 3))"},
    {"no lease ends before its queue expects it",
     "SELECT 1 FROM running l JOIN queue q ON q.queue_id = l.queue_id"
     " WHERE q.next_expiry IS NULL OR l.expires_at < q.next_expiry"},
    {"a lease counts one execution more than its job",
     "SELECT 1 FROM running l JOIN job j ON j.seq = l.seq WHERE l.execution <> j.executions + 1"},
    {"a lease without traces has none",
     "SELECT 1 FROM lease l JOIN job j ON j.seq = l.seq WHERE traces = 0 AND (j.key IS NOT NULL"
     " OR j.tags IS NOT NULL OR l.cancel_requested_at IS NOT NULL OR l.seq IN (SELECT seq FROM detail)"
     " OR l.seq IN (SELECT seq FROM run))"},
    {"a job whose lease is in a batch has no traces",
     "SELECT 1 FROM batch b, json_each(b.seqs) m JOIN job j ON j.seq = m.value"
     " WHERE j.key IS NOT NULL OR j.tags IS NOT NULL"
     " OR j.executions + j.attempts + j.stalls > 0"
     " OR j.seq IN (SELECT seq FROM detail) OR j.seq IN (SELECT seq FROM run)"},
    {"a batch knows how many it has, and between which they lie",
     "SELECT 1 FROM batch b WHERE (open, 1, 1) IS NOT (SELECT count(*), min(m.value) >= b.seq,"
     " max(m.value) <= b.last FROM json_each(b.seqs) m WHERE m.type = 'integer')"},
    {"a queue knows how many jobs it has of each state",
     "SELECT 1 FROM queue q WHERE (ready - no_handler - cannot_start, running) IS NOT"
     " ((SELECT count(*) FROM ready t WHERE t.queue_id = q.queue_id),"
     " (SELECT count(*) FROM running t WHERE t.queue_id = q.queue_id))"
     " OR (scheduled, blocked, retry) IS NOT"
     " (SELECT count(*) FILTER (WHERE state = 0), count(*) FILTER (WHERE state = 2),"
     " count(*) FILTER (WHERE state = 4) FROM waiting t WHERE t.queue_id = q.queue_id)"
     " OR (no_handler, cannot_start) IS NOT"
     " (SELECT count(*) FILTER (WHERE why = 1), count(*) FILTER (WHERE why = 2)"
     " FROM aside t WHERE t.queue_id = q.queue_id)"
     " OR (done, dead, cancelled) IS NOT"
     " (SELECT count(*) FILTER (WHERE state = 5), count(*) FILTER (WHERE state = 6),"
     " count(*) FILTER (WHERE state = 7) FROM ended t WHERE t.queue_id = q.queue_id)"},
    {"an end without traces has none",
     "SELECT 1 FROM ended WHERE traces = 0 AND (seq IN (SELECT seq FROM detail)"
     " OR seq IN (SELECT seq FROM run))"},
    {"the file is whole", "SELECT 1 FROM pragma_integrity_check WHERE integrity_check <> 'ok'"},
};
/* clang-format on */

static bool is_sound(const char *url, char *why, size_t size)
{
    sqlite3 *database = open_file(url);
    bool sound = true;

    for (size_t i = 0; i < COUNT_OF(rules) && sound; i++) {
        sqlite3_stmt *statement = prepare(database, rules[i].sql);
        sound = sqlite3_step(statement) == SQLITE_DONE;
        snprintf(why, size, "%s", rules[i].rule);
        sqlite3_finalize(statement);
    }
    sqlite3_close(database);
    return sound;
}

static void block(const char *url)
{
    sqlite3 *database = open_file(url);
    const char *sql = "BEGIN IMMEDIATE";

    require(sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK, database, sql);
}

const struct backdoor sqlite_backdoor = {
    .damage_job = damage_job,
    .damage_headers = damage_headers,
    .set_schema = set_schema,
    .refuses = refuses,
    .is_sound = is_sound,
    .block = block,
};

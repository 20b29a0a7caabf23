/*
 * test_producers.c - the way in for producers who speak SQL: it checks what the client checks, in
 * the same words, and a job is there when their own transaction is committed, however late. And
 * what only a server can do to a handle.
 */
#include "contract.h"
#include "scene.h"

#include "base/buffer.h"
#include "store/driver.h"
#include "store/postgres/net/connection.h"
#include "store/postgres/net/conninfo.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

#define LONG (60 * USEC_PER_SEC)

/* ---- checks ---- */

static const char long_name[] = "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
                                "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
                                "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn";

static void without_type(struct job *job)
{
    job->type = " ";
}

static void with_odd_type(struct job *job)
{
    job->type = "a b\n\xc3\xa9 and much more that nobody wants to read in a message";
}

static void with_long_type(struct job *job)
{
    job->type = long_name;
}

static void without_queue(struct job *job)
{
    job->queue = "";
}

static void with_large_payload(struct job *job)
{
    static const unsigned char large[JOB_PAYLOAD_DEFAULT + 1];

    job->payload = (struct bytes){large, sizeof large};
}

static void with_priority_10(struct job *job)
{
    job->priority = 10;
}

static void with_negative_run_at(struct job *job)
{
    job->run_at = -1;
}

static void with_long_timeout(struct job *job)
{
    job->timeout = JOB_TIMEOUT_MAX + 1;
}

static void with_many_attempts(struct job *job)
{
    job->max_attempts = JOB_COUNT_MAX + 1;
}

static void with_attempts_over_max(struct job *job)
{
    job->attempts = 3;
    job->max_attempts = 2;
}

static void with_stalls_over_max(struct job *job)
{
    job->stalls = 3;
    job->max_stalls = 2;
}

static void with_blank_key(struct job *job)
{
    job->key = "\t ";
}

static void with_long_key(struct job *job)
{
    static char key[JOB_KEY_MAX + 2];

    memset(key, 'k', sizeof key - 1);
    job->key = key;
}

static void without_id(struct job *job)
{
    job->id = (struct uuid){{0}};
}

static void (*const spoilers[])(struct job *) = {
    without_id,           with_long_timeout, with_many_attempts,   with_attempts_over_max,
    without_type,         with_odd_type,     with_long_type,       without_queue,
    with_large_payload,   with_priority_10,  with_stalls_over_max, with_blank_key,
    with_negative_run_at, with_long_key,
};

START_TEST(a_producer_is_refused_in_the_words_of_the_client)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job job = scene_job(&scene);
    struct error ours = {0}, err = {0};
    struct enqueued enqueued;
    struct enqueue_group group = {.jobs = &job, .count = 1, .enqueued_out = &enqueued, .err = &err};
    struct enqueue_group *groups = &group;

    spoilers[_i](&job);
    ck_assert(!job_validate(&job, JOB_PAYLOAD_DEFAULT, &ours));
    ck_assert(scene.store->driver->enqueue(scene.store, &groups, 1, NOW, &err));
    ASSERT_VERDICT(group.verdict, TH_E_INVALID);
    ck_assert_str_eq(err.text, ours.text);
    ck_assert_uint_eq(scene_count(&scene), 0);
}
END_TEST

START_TEST(each_group_of_a_producer_has_a_verdict_of_its_own)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    struct job jobs[3] = {scene_job(&scene), scene_job(&scene), scene_job(&scene)};
    struct enqueue_group groups[3];
    struct enqueued enqueued[3];
    struct error errors[3] = {0}, err;

    jobs[0].key = jobs[1].key = "same";
    jobs[1].type = "another";
    for (size_t i = 0; i < 3; i++)
        groups[i] = (struct enqueue_group){
            .jobs = &jobs[i], .count = 1, .enqueued_out = &enqueued[i], .err = &errors[i]};
    MUST(store_enqueue_groups(scene.store, groups, 3, NOW, &err));
    ASSERT_VERDICT(groups[0].verdict, TH_OK);
    ASSERT_VERDICT(groups[1].verdict, TH_E_CONFLICT);
    ASSERT_VERDICT(groups[2].verdict, TH_OK);
    ck_assert_uint_eq(scene_count(&scene), 2);
}
END_TEST

/* ---- their own transaction ---- */

static PGconn *enter(const struct scene *scene)
{
    AUTO_FREE char *conninfo = pg_conninfo_make(scene->url);
    PGconn *conn = PQconnectdb(conninfo);

    ck_assert_msg(PQstatus(conn) == CONNECTION_OK, "%s", PQerrorMessage(conn));
    return conn;
}

static void execute(PGconn *conn, const char *sql)
{
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);

    ck_assert_msg(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, "%s: %s", sql,
                  PQerrorMessage(conn));
    PQclear(result);
}

/* As users call it, but for the schema of the scene. */
static void enqueue(PGconn *conn, const struct scene *scene, const char *arguments)
{
    char sql[BACKEND_URL_SIZE];

    snprintf(sql, sizeof sql, "SELECT %s.enqueue('work', queue => '%s'%s)",
             strstr(scene->url, "schema=") + strlen("schema="), scene->queue, arguments);
    execute(conn, sql);
}

START_TEST(a_job_is_there_when_their_transaction_is_committed)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    PGconn *conn = enter(&scene);
    struct error err = {0};
    bool rang = true;

    while (rang)
        MUST(store_wait(scene.store, 0, &rang, &err));
    execute(conn, "BEGIN");
    enqueue(conn, &scene, "");
    scene_take_nothing(&scene, store_now(scene.store));
    execute(conn, "COMMIT");
    MUST(store_wait(scene.store, LONG, &rang, &err));
    ck_assert_msg(rang, "their commit wakes nobody");
    scene_take(&scene, store_now(scene.store));
    PQfinish(conn);
}
END_TEST

START_TEST(a_transaction_that_is_rolled_back_leaves_nothing)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    PGconn *conn = enter(&scene);

    execute(conn, "BEGIN");
    enqueue(conn, &scene, ", key => 'k', idempotency_key => 'i'");
    execute(conn, "ROLLBACK");
    ck_assert_uint_eq(scene_count(&scene), 0);
    enqueue(conn, &scene, ", key => 'k', idempotency_key => 'i'");
    ck_assert_uint_eq(scene_count(&scene), 1);
    PQfinish(conn);
}
END_TEST

/* Others have been taken meanwhile that stand after it. */
START_TEST(a_job_committed_late_by_a_long_transaction_is_still_found)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    PGconn *conn = enter(&scene);
    usec_t now = store_now(scene.store);
    struct job job = scene_job(&scene);
    struct error err = {0};

    /* The first job of a queue makes the queue, which nobody else can do until it is committed. */
    MUST(store_resume(scene.store, scene.queue, &err));
    execute(conn, "BEGIN");
    enqueue(conn, &scene, "");
    for (int i = 0; i < 5; i++) {
        job.id = uuid_make(&scene.ids, now);
        scene_enqueue(&scene, job, now + SECONDS(60));
    }
    struct claim claim = {0};
    for (int i = 0; i < 3; i++) {
        claim = scene_take(&scene, now + SECONDS(60));
        scene_finish(&scene, &claim, SETTLE_ACK, now + SECONDS(60));
    }
    execute(conn, "COMMIT");
    for (int i = 0; i < 3; i++) {
        claim = scene_take(&scene, now + SECONDS(60) + 100 + i);
        scene_finish(&scene, &claim, SETTLE_ACK, now + SECONDS(60) + 100 + i);
    }
    scene_take_nothing(&scene, now + SECONDS(61));
    ck_assert_int_eq(scene_stats(&scene).done_total, 6);
    PQfinish(conn);
}
END_TEST

/* ---- connections ---- */

START_TEST(a_connection_that_was_cut_between_two_calls_is_made_again)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    const struct postgres *postgres = (const struct postgres *)scene.store;
    PGconn *conn = enter(&scene);
    struct error err = {0};
    bool rang = true;
    char sql[64];

    while (rang)
        MUST(store_wait(scene.store, 0, &rang, &err));
    snprintf(sql, sizeof sql, "SELECT pg_terminate_backend(%d, 5000)",
             PQbackendPID(postgres->conn));
    execute(conn, sql);
    scene_add(&scene);
    scene_take(&scene, NOW);
    MUST(store_wait(scene.store, 0, &rang, &err));
    ck_assert_msg(rang, "whoever waited does not look for what was missed");
    PQfinish(conn);
}
END_TEST

Suite *producers_suite(void)
{
    Suite *suite = suite_create("producers");
    TCase *checks = contract_group(suite, "checks");
    TCase *transactions = contract_group(suite, "transactions");
    TCase *connections = contract_group(suite, "connections");

    tcase_add_test(checks, each_group_of_a_producer_has_a_verdict_of_its_own);
    tcase_add_loop_test(checks, a_producer_is_refused_in_the_words_of_the_client, 0,
                        COUNT_OF(spoilers));
    tcase_add_test(transactions, a_job_is_there_when_their_transaction_is_committed);
    tcase_add_test(transactions, a_transaction_that_is_rolled_back_leaves_nothing);
    tcase_add_test(transactions, a_job_committed_late_by_a_long_transaction_is_still_found);
    tcase_add_test(connections, a_connection_that_was_cut_between_two_calls_is_made_again);
    return suite;
}

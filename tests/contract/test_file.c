/*
 * test_file.c - the backends that keep jobs in an SQLite file: by which names it is found, and what
 * happens to it from outside while it is in use.
 */
#include "companion.h"
#include "contract.h"

#include <fcntl.h>
#include <libgen.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VISITORS 8
#define VISITS   25

static bool has_file(void)
{
    return scene_backend()->backdoor == &sqlite_backdoor;
}

static struct store *open_url(const char *url)
{
    const struct store_options options = {.migrate = true};
    struct store *store = NULL;
    struct error err = {0};

    MUST(store_open(url, &options, &store, &err));
    return store;
}

/* The folder of the scene's file becomes the current one. */
static void enter_folder(const struct scene *scene)
{
    char path[BACKEND_URL_SIZE];

    backend_sqlite_path(scene->url, path);
    ck_assert_int_eq(chdir(dirname(path)), 0);
}

static void quiet(struct scene *scene)
{
    struct error err = {0};
    bool rang = true;

    while (rang)
        MUST(store_wait(scene->store, 0, &rang, &err));
}

/* A job enqueued through the other handle ends the scene's wait, so both have the same bell. */
static void assert_rings(struct scene *scene, struct store *other)
{
    struct job job = scene_job(scene);
    struct enqueued enqueued;
    struct error err = {0};
    bool rang = false;

    quiet(scene);
    MUST(store_enqueue(other, &job, 1, NOW, &enqueued, &err));
    MUST(store_wait(scene->store, 0, &rang, &err));
    ck_assert_msg(rang, "it rang another bell");
    ASSERT_STATE(scene, &job.id, JOB_READY);
}

START_TEST(a_handle_on_a_relative_path_outlives_a_change_of_folder)
{
    if (!has_file())
        return;
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();

    enter_folder(&scene);
    struct store *other = open_url("sqlite:jobs.db");
    ck_assert_int_eq(chdir(".."), 0);
    assert_rings(&scene, other);
    store_close(&other);
}
END_TEST

START_TEST(a_file_has_one_bell_whatever_link_leads_to_it)
{
    if (!has_file())
        return;
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();

    enter_folder(&scene);
    ck_assert_int_eq(symlink("jobs.db", "link.db"), 0);
    struct store *other = open_url("sqlite:link.db");
    assert_rings(&scene, other);
    ck_assert_int_ne(access("link.db-lock", F_OK), 0);
    store_close(&other);
    ck_assert_int_eq(unlink("link.db"), 0);
}
END_TEST

/* SQLite's own word for a database that is gone when it is closed. */
START_TEST(a_file_named_like_a_database_in_memory_keeps_its_jobs)
{
    if (!has_file())
        return;
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list found = {0};
    struct job job = scene_job(&scene);
    struct enqueued enqueued;
    struct error err = {0};

    enter_folder(&scene);
    struct store *store = open_url("sqlite::memory:");
    MUST(store_enqueue(store, &job, 1, NOW, &enqueued, &err));
    store_close(&store);
    store = open_url("sqlite::memory:");
    MUST(store_get(store, &job.id, &found, &err));
    store_close(&store);
}
END_TEST

/* ---- from outside ---- */

START_TEST(a_file_that_was_deleted_takes_no_more_jobs)
{
    if (!has_file())
        return;
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct job job = scene_job(&scene);
    char path[BACKEND_URL_SIZE];
    struct enqueued enqueued;
    struct error err = {0};

    scene_add(&scene);
    backend_sqlite_path(scene.url, path);
    ck_assert_int_eq(unlink(path), 0);
    MUST_FAIL(TH_E_UNAVAILABLE, store_enqueue(scene.store, &job, 1, NOW, &enqueued, &err));
    /* Also not the second time: nothing is left open by the refusal. */
    MUST_FAIL(TH_E_UNAVAILABLE, store_enqueue(scene.store, &job, 1, NOW, &enqueued, &err));
}
END_TEST

static void path_beside(const struct scene *scene, const char *suffix, char path[BACKEND_URL_SIZE])
{
    backend_sqlite_path(scene->url, path);
    snprintf(path + strlen(path), BACKEND_URL_SIZE - strlen(path), "%s", suffix);
}

static void delete_beside(const struct scene *scene, const char *suffix)
{
    char path[BACKEND_URL_SIZE];

    path_beside(scene, suffix, path);
    ck_assert_int_eq(unlink(path), 0);
}

static const char *const companions[] = {"-wal", "-shm"};

/* Nothing is written into a file that nobody else sees, and nothing that was there is lost. */
START_TEST(a_wal_or_shm_that_was_deleted_is_noticed)
{
    if (!has_file() || scene_backend()->fleeting)
        return;
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct job job = scene_job(&scene);
    struct uuid before = scene_add(&scene);
    struct enqueued enqueued;
    struct error err = {0};

    delete_beside(&scene, companions[_i]);
    MUST_FAIL(TH_E_UNAVAILABLE, store_enqueue(scene.store, &job, 1, NOW, &enqueued, &err));
    ck_assert_msg(strstr(err.text, companions[_i]) != NULL, "it does not say which: %s", err.text);
    MUST_FAIL(TH_E_UNAVAILABLE, store_enqueue(scene.store, &job, 1, NOW, &enqueued, &err));
    scene_reopen(&scene);
    ASSERT_STATE(&scene, &before, JOB_READY);
    ck_assert_msg(!scene_has(&scene, &job.id), "what was refused is there");
    struct uuid after = scene_add(&scene);
    scene_reopen(&scene);
    ASSERT_STATE(&scene, &before, JOB_READY);
    ASSERT_STATE(&scene, &after, JOB_READY);
}
END_TEST

START_TEST(a_bell_that_was_deleted_is_made_anew_on_both_sides)
{
    if (!has_file())
        return;
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct store *other = open_url(scene.url);

    assert_rings(&scene, other); /* both have it open */
    delete_beside(&scene, "-bell");
    struct store *newcomer = open_url(scene.url);
    assert_rings(&scene, newcomer);
    assert_rings(&scene, other);
    store_close(&newcomer);
    store_close(&other);
}
END_TEST

/* Its listener sleeps: nobody is there to hear that it was deleted before the next look. */
START_TEST(a_bell_that_was_deleted_is_found_by_the_next_look)
{
    if (!has_file())
        return;
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    char path[BACKEND_URL_SIZE];
    struct error err = {0};
    bool rang = false;

    quiet(&scene);
    delete_beside(&scene, "-bell");
    MUST(store_check_bell(scene.store, &err));
    path_beside(&scene, "-bell", path);
    ck_assert_int_eq(access(path, F_OK), 0);
    MUST(store_wait(scene.store, 0, &rang, &err));
    ck_assert_msg(rang, "what it would have rung for is not known");
}
END_TEST

static int64_t wal_size(const struct scene *scene)
{
    char path[BACKEND_URL_SIZE];
    struct stat found;

    path_beside(scene, "-wal", path);
    ck_assert_int_eq(stat(path, &found), 0);
    return (int64_t)found.st_size;
}

static void prune_nothing(struct scene *scene)
{
    const struct retention keep = {.done = USEC_MAX, .done_max = SIZE_MAX, .dead = USEC_MAX};
    struct error err = {0};
    size_t removed;

    MUST(store_prune(scene->store, &keep, NOW, MANY, &removed, &err));
}

#define LARGE_JOBS 20

START_TEST(a_wal_shrinks_when_somebody_who_read_for_long_has_gone)
{
    if (!has_file())
        return;
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    AUTO_FREE unsigned char *payload = calloc(1, JOB_PAYLOAD_DEFAULT);
    char path[BACKEND_URL_SIZE];
    sqlite3 *reader = NULL;

    backend_sqlite_path(scene.url, path);
    scene_add(&scene);
    ck_assert_int_eq(sqlite3_open(path, &reader), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(reader, "BEGIN; SELECT * FROM job", NULL, NULL, NULL), SQLITE_OK);
    for (size_t i = 0; i < LARGE_JOBS; i++) {
        struct job job = scene_job(&scene);
        job.encoding = JOB_RAW;
        job.payload = (struct bytes){payload, JOB_PAYLOAD_DEFAULT};
        scene_enqueue(&scene, job, NOW);
    }
    int64_t large = wal_size(&scene);
    ck_assert_int_gt(large, (int64_t)LARGE_JOBS << 20);
    prune_nothing(&scene); /* the reader still needs it, and is not waited for */
    ck_assert_int_eq(wal_size(&scene), large);
    sqlite3_close(reader);
    prune_nothing(&scene);
    ck_assert_int_eq(wal_size(&scene), 0);
    ck_assert_int_eq(scene_stats(&scene).jobs[JOB_READY], LARGE_JOBS + 1);
}
END_TEST

static void execute(const struct scene *scene, const char *sql)
{
    char path[BACKEND_URL_SIZE];
    sqlite3 *database = NULL;

    backend_sqlite_path(scene->url, path);
    ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK, "%s",
                  sqlite3_errmsg(database));
    sqlite3_close(database);
}

START_TEST(a_reserve_that_fails_half_way_adds_nothing_to_the_list)
{
    if (!has_file())
        return;
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct reservation wanted = scene_wants(&scene, 1);
    struct uuid ids[4];
    struct error err = {0};

    scene_add_many(&scene, COUNT_OF(ids), ids);
    scene_reserve(&scene, &wanted, NOW, &taken);
    wanted = scene_wants(&scene, MANY);
    execute(&scene, "CREATE TRIGGER third BEFORE DELETE ON ready WHEN OLD.seq = 3"
                    " BEGIN SELECT RAISE(ABORT, 'no'); END");
    ck_assert(!store_reserve(scene.store, &wanted, NOW, &taken, &err));
    ck_assert_uint_eq(taken.count, 1);
    execute(&scene, "DROP TRIGGER third");
    scene_reserve(&scene, &wanted, NOW, &taken);
    ck_assert_uint_eq(taken.count, COUNT_OF(ids));
}
END_TEST

START_TEST(a_scheduled_job_that_was_deleted_by_hand_does_not_stop_the_others)
{
    if (!has_file())
        return;
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct job jobs[3];
    struct error err = {0};
    usec_t next = 1;
    size_t moved;

    for (size_t i = 0; i < COUNT_OF(jobs); i++) {
        jobs[i] = scene_job(&scene);
        jobs[i].run_at = LATER + (usec_t)i;
        scene_enqueue(&scene, jobs[i], NOW);
    }
    execute(&scene, "DELETE FROM job WHERE seq = 1");
    for (size_t i = 0; i < COUNT_OF(jobs); i++)
        MUST(store_promote(scene.store, JOB_SCHEDULED, LATER + 9, 1, &moved, &next, &err));
    ASSERT_TIME(next, 0);
    scene_take_this(&scene, &jobs[1].id, LATER + 9);
    scene_take_this(&scene, &jobs[2].id, LATER + 9);
}
END_TEST

/* ---- folders in memory ---- */

/* Comes, uses the store, and goes, so that again and again somebody is the last one. */
static void come_and_go(struct racer *racer)
{
    const struct store_options options = {.migrate = true};
    struct uuid_maker ids = {0};
    struct error err = {0};

    for (int i = 0; i < VISITS; i++) {
        struct job job = job_defaults();
        struct store *store = NULL;
        struct enqueued enqueued;
        job.id = uuid_make(&ids, NOW);
        job.type = "work";
        child_must(store_open(racer->scene->url, &options, &store, &err), &err);
        child_must(store_enqueue(store, &job, 1, NOW, &enqueued, &err), &err);
        store_close(&store);
    }
}

START_TEST(a_store_that_goes_with_its_last_user_is_whole_for_the_next)
{
    if (!scene_backend()->fleeting)
        return;
    CLEANUP(scene_close) struct scene scene = scene_name_fresh();
    CLEANUP(buffer_done) struct buffer reports = {0};

    race(&scene, VISITORS, come_and_go, NULL, &reports);
}
END_TEST

START_TEST(a_link_among_the_folders_in_memory_is_not_followed)
{
    if (!scene_backend()->fleeting)
        return;
    CLEANUP(scene_close) struct scene scene = scene_name_fresh();
    char link[BACKEND_URL_SIZE], folder[] = "/tmp/th-contract-XXXXXX";
    const struct store_options options = {.migrate = true};
    struct error err = {0};

    backend_sqlite_path(scene.url, link);
    dirname(link);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(symlink(folder, link), 0);
    int fd = open(folder, O_DIRECTORY | O_CLOEXEC);
    close(openat(fd, "users", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    close(openat(fd, "precious", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));

    /* Whoever opens any store sweeps up what others left behind. */
    struct store *store = open_url("memory:");
    store_close(&store);
    ck_assert_int_eq(faccessat(fd, "precious", F_OK, 0), 0);
    MUST_FAIL(TH_E_UNAVAILABLE, store_open(scene.url, &options, &store, &err));
    ck_assert_int_eq(unlinkat(fd, "users", 0) + unlinkat(fd, "precious", 0), 0);
    ck_assert_int_eq(unlink(link) + rmdir(folder), 0);
    close(fd);
}
END_TEST

Suite *file_suite(void)
{
    Suite *suite = suite_create("file");
    TCase *names = contract_group(suite, "names");
    TCase *outside = contract_group(suite, "outside");
    TCase *memory = contract_group(suite, "memory");

    tcase_add_test(names, a_handle_on_a_relative_path_outlives_a_change_of_folder);
    tcase_add_test(names, a_file_has_one_bell_whatever_link_leads_to_it);
    tcase_add_test(names, a_file_named_like_a_database_in_memory_keeps_its_jobs);
    tcase_add_test(outside, a_file_that_was_deleted_takes_no_more_jobs);
    tcase_add_loop_test(outside, a_wal_or_shm_that_was_deleted_is_noticed, 0, COUNT_OF(companions));
    tcase_add_test(outside, a_bell_that_was_deleted_is_made_anew_on_both_sides);
    tcase_add_test(outside, a_bell_that_was_deleted_is_found_by_the_next_look);
    tcase_add_test(outside, a_wal_shrinks_when_somebody_who_read_for_long_has_gone);
    tcase_add_test(outside, a_reserve_that_fails_half_way_adds_nothing_to_the_list);
    tcase_add_test(outside, a_scheduled_job_that_was_deleted_by_hand_does_not_stop_the_others);
    tcase_add_test(memory, a_store_that_goes_with_its_last_user_is_whole_for_the_next);
    tcase_add_test(memory, a_link_among_the_folders_in_memory_is_not_followed);
    return suite;
}

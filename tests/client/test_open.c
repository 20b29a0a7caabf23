/*
 * test_open.c - opening and closing a client, its options, and the small questions.
 */
#include "base/cleanup.h"
#include "scene.h"
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <taskharbor/version.h>
#include <unistd.h>

START_TEST(a_client_opens_on_every_backend)
{
    CLEANUP(scene_done) struct scene scene = scene_make(_i);

    scene_assert_worked(&scene, th_open(scene.url, NULL, &scene.client, &scene.failure));
    ck_assert_ptr_nonnull(scene.client);
    ck_assert_int_gt(th_now(scene.client), TH_SECONDS(1700000000));
}
END_TEST

START_TEST(without_a_url_the_environment_names_the_backend)
{
    CLEANUP(scene_done) struct scene scene = scene_make(SCENE_SQLITE);

    setenv("TASKHARBOR_BACKEND", scene.url, 1);
    scene_assert_worked(&scene, th_open(NULL, NULL, &scene.client, &scene.failure));
}
END_TEST

static const char *const bad_urls[] = {NULL,           "",        "jobs.db",
                                       "ftp://host/x", "sqlite:", "sqlite:x?y"};

START_TEST(a_url_that_nobody_serves_is_invalid)
{
    struct scene scene = {.client = (struct th_client *)&scene};

    unsetenv("TASKHARBOR_BACKEND");
    ck_assert(!th_open(bad_urls[_i], NULL, &scene.client, &scene.failure));
    scene_assert_failure(&scene, TH_E_INVALID, "");
    ck_assert_str_ne(scene.failure.text, "");
    ck_assert_ptr_null(scene.client);
}
END_TEST

static const struct {
    struct th_options options;
    const char *text;
} bad_options[] = {
    {{sizeof(struct th_options), ((size_t)16 << 20) + 1, 0, 1, 0}, "options: max_payload"},
    {{sizeof(struct th_options), 0, -1, 1, 0}, "options: idempotency_window"},
    {{sizeof(struct th_options), 0, 0, 1, 7}, "options: reserved"},
    {{0, 0, 0, 1, 0}, "options: size is 0: initialise it with TH_OPTIONS"},
    {{SIZE_MAX, 0, 0, 1, 0}, "options: size is"},
};

START_TEST(an_option_that_is_wrong_is_named)
{
    struct scene scene = {0};

    ck_assert(!th_open("memory:", &bad_options[_i].options, &scene.client, &scene.failure));
    scene_assert_failure(&scene, TH_E_INVALID, bad_options[_i].text);
}
END_TEST

START_TEST(options_of_an_older_header_have_the_defaults_of_this_one)
{
    CLEANUP(scene_done) struct scene scene = scene_make(SCENE_SQLITE);
    struct th_options options = {.size = offsetof(struct th_options, migrate), .max_payload = 9};

    scene_assert_worked(&scene, th_open(scene.url, &options, &scene.client, &scene.failure));
    scene_enqueue(&scene, "works");

    struct th_new_job job = TH_NEW_JOB("x");
    job.payload = "[1,2,3,4,5]";
    ck_assert(!th_enqueue(scene.client, &job, NULL, &scene.failure));
    scene_assert_failure(&scene, TH_E_INVALID, "payload is 11 bytes long");
}
END_TEST

START_TEST(options_of_a_newer_header_may_not_use_what_is_new)
{
    struct {
        struct th_options known;
        int64_t newer;
    } options = {.known = TH_OPTIONS};
    struct scene scene = {0};

    options.known.size = sizeof options;
    scene_assert_worked(&scene, th_open("memory:", &options.known, &scene.client, &scene.failure));
    th_close(scene.client);

    options.newer = 1;
    ck_assert(!th_open("memory:", &options.known, &scene.client, &scene.failure));
    scene_assert_failure(&scene, TH_E_INVALID, "options: uses a field that libtaskharbor");
}
END_TEST

START_TEST(without_migrate_nothing_is_created)
{
    CLEANUP(scene_done) struct scene scene = scene_make(SCENE_SQLITE);
    struct th_options options = TH_OPTIONS;
    char path[160];

    options.migrate = 0;
    ck_assert(!th_open(scene.url, &options, &scene.client, &scene.failure));
    ck_assert_ptr_null(scene.client);
    ck_assert_str_ne(scene.failure.text, "");
    snprintf(path, sizeof path, "%s/jobs.db", scene.folder);
    ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

START_TEST(without_migrate_what_exists_opens)
{
    CLEANUP(scene_done) struct scene scene = scene_open(SCENE_SQLITE);
    struct th_options options = TH_OPTIONS;

    th_close(scene.client);
    options.migrate = 0;
    scene_assert_worked(&scene, th_open(scene.url, &options, &scene.client, &scene.failure));
}
END_TEST

START_TEST(a_place_for_the_client_is_needed_and_the_failure_is_not)
{
    struct th_failure failure;

    ck_assert(!th_open("memory:", NULL, NULL, &failure));
    ck_assert_str_eq(failure.text, "client_out is NULL");
    ck_assert(!th_open("memory:", NULL, NULL, NULL));
    th_close(NULL);
}
END_TEST

START_TEST(a_client_that_is_null_is_refused)
{
    struct scene scene = {0};

    ck_assert(!th_pause(NULL, "default", &scene.failure));
    scene_assert_failure(&scene, TH_E_INVALID, "client is NULL");
    ck_assert_int_eq(th_now(NULL), 0);
}
END_TEST

/* What a child of fork() may do with its parent's client; 0 when all is as it should be. */
static int use_in_child(struct scene *scene)
{
    if (th_pause(scene->client, "default", &scene->failure))
        return 1;
    if (!strstr(scene->failure.text, "fork first, open afterwards"))
        return 2;
    th_close(scene->client);
    return 0;
}

START_TEST(a_client_of_the_parent_is_refused_in_a_child)
{
    CLEANUP(scene_done) struct scene scene = scene_open(SCENE_SQLITE);
    int status = -1;
    pid_t child = fork();

    if (child == 0)
        _exit(use_in_child(&scene));
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    scene_enqueue(&scene, "the:parent:goes:on");
}
END_TEST

START_TEST(codes_and_states_have_names)
{
    ck_assert_str_eq(th_error_name(TH_E_NOT_FOUND), "not_found");
    ck_assert_str_eq(th_error_name((enum th_error_code)99), "unknown");
    ck_assert_str_eq(th_state_name(TH_STATE_ANY), "any");
    ck_assert_str_eq(th_state_name(TH_STATE_SCHEDULED), "scheduled");
    ck_assert_str_eq(th_state_name(TH_STATE_CANCELLED), "cancelled");
    ck_assert_str_eq(th_state_name((enum th_state)99), "unknown");
    ck_assert_str_eq(th_version(), TH_VERSION);
}
END_TEST

START_TEST(done_dead_and_cancelled_are_ends)
{
    for (int state = TH_STATE_ANY; state <= TH_STATE_CANCELLED; state++)
        ck_assert(th_state_has_ended((enum th_state)state) == (state >= TH_STATE_DONE));
}
END_TEST

Suite *open_suite(void)
{
    Suite *suite = suite_create("client/open");
    TCase *opening = tcase_create("open");

    tcase_add_loop_test(opening, a_client_opens_on_every_backend, 0, SCENE_BACKENDS);
    tcase_add_test(opening, without_a_url_the_environment_names_the_backend);
    tcase_add_loop_test(opening, a_url_that_nobody_serves_is_invalid, 0, (int)COUNT_OF(bad_urls));
    tcase_add_loop_test(opening, an_option_that_is_wrong_is_named, 0, (int)COUNT_OF(bad_options));
    tcase_add_test(opening, options_of_an_older_header_have_the_defaults_of_this_one);
    tcase_add_test(opening, options_of_a_newer_header_may_not_use_what_is_new);
    tcase_add_test(opening, without_migrate_nothing_is_created);
    tcase_add_test(opening, without_migrate_what_exists_opens);
    tcase_add_test(opening, a_place_for_the_client_is_needed_and_the_failure_is_not);
    tcase_add_test(opening, a_client_that_is_null_is_refused);
    tcase_add_test(opening, a_client_of_the_parent_is_refused_in_a_child);
    suite_add_tcase(suite, opening);

    TCase *names = tcase_create("names");

    tcase_add_test(names, codes_and_states_have_names);
    tcase_add_test(names, done_dead_and_cancelled_are_ends);
    suite_add_tcase(suite, names);
    return suite;
}

/*
 * test_wait.c - th_wait() on real backends, and follow_job() on those that do as they are told.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "client/follow.h"
#include "scene.h"
#include "store/driver.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY "0193f0a2-7c1d-7abc-8def-0123456789ab"

/* What was seen of a job on its way. */
struct sightings {
    int count;
    enum th_state last;
    int percent;
    char text[32];
    bool stop;
    int news; /* a pipe that gets a byte for each, or 0 */
};

static bool note(const struct th_job_info *job, void *context)
{
    struct sightings *seen = context;

    seen->count++;
    seen->last = job->state;
    seen->percent = job->progress_percent;
    snprintf(seen->text, sizeof seen->text, "%s", job->progress_text ? job->progress_text : "");
    ck_assert(seen->news == 0 || write(seen->news, "n", 1) == 1);
    return !seen->stop;
}

START_TEST(a_timeout_of_zero_only_looks)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);
    const char *id = scene_enqueue(&scene, "x");
    struct sightings seen = {0};
    struct th_job_info *job;

    scene_assert_worked(&scene, th_wait(scene.client, id, 0, note, &seen, &job, &scene.failure));
    ck_assert_int_eq(job->state, TH_STATE_READY);
    ck_assert_str_eq(job->id, id);
    ck_assert_int_eq(seen.count, 1);
    th_job_info_free(job);
}
END_TEST

START_TEST(a_wait_ends_with_its_timeout)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);
    const char *id = scene_enqueue(&scene, "x");
    usec_t before = clock_boot();
    struct th_job_info *job;

    scene_assert_worked(&scene, th_wait(scene.client, id, 20000, NULL, NULL, &job, &scene.failure));
    ck_assert_int_ge(clock_boot() - before, 20000);
    ck_assert(!th_state_has_ended(job->state));
    th_job_info_free(job);
}
END_TEST

START_TEST(an_ended_job_is_not_waited_for)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);
    const char *id = scene_enqueue(&scene, "x");
    struct th_job_info *job;

    scene_assert_worked(&scene, th_cancel(scene.client, id, &scene.failure));
    scene_assert_worked(&scene,
                        th_wait(scene.client, id, TH_FOREVER, NULL, NULL, &job, &scene.failure));
    ck_assert_int_eq(job->state, TH_STATE_CANCELLED);
    th_job_info_free(job);
}
END_TEST

START_TEST(who_sees_enough_stops_the_wait)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);
    const char *id = scene_enqueue(&scene, "x");
    struct sightings seen = {.stop = true};
    struct th_job_info *job;

    scene_assert_worked(&scene,
                        th_wait(scene.client, id, TH_FOREVER, note, &seen, &job, &scene.failure));
    ck_assert_int_eq(seen.count, 1);
    ck_assert_int_eq(job->state, TH_STATE_READY);
    th_job_info_free(job);
}
END_TEST

START_TEST(progress_is_seen)
{
    CLEANUP(scene_done) struct scene scene = scene_open(SCENE_SQLITE);
    const char *id = scene_enqueue(&scene, "x");
    struct sightings seen = {0};
    struct th_job_info *job;

    scene_start_next(&scene, 40, "resizing");
    scene_assert_worked(&scene, th_wait(scene.client, id, 0, note, &seen, &job, &scene.failure));
    ck_assert_int_eq(seen.last, TH_STATE_RUNNING);
    ck_assert_int_eq(seen.percent, 40);
    ck_assert_str_eq(seen.text, "resizing");
    th_job_info_free(job);
}
END_TEST

START_TEST(the_end_of_a_job_elsewhere_is_seen)
{
    CLEANUP(scene_done) struct scene scene = scene_open(SCENE_SQLITE);
    const char *id = scene_enqueue(&scene, "x");
    struct th_job_info *job;
    int news[2];
    char byte;

    ck_assert_int_eq(pipe(news), 0);
    struct sightings seen = {.news = news[1]};
    const pid_t child = fork();
    if (child == 0) {
        ck_assert_int_eq(read(news[0], &byte, 1), 1); /* it has been seen waiting */
        scene_run_next(&scene, SETTLE_ACK, NULL);
        _exit(0);
    }
    scene_assert_worked(
        &scene, th_wait(scene.client, id, TH_SECONDS(20), note, &seen, &job, &scene.failure));
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert_int_eq(job->state, TH_STATE_DONE);
    ck_assert_int_eq(seen.last, TH_STATE_DONE);
    ck_assert_int_ge(seen.count, 2);
    th_job_info_free(job);
    close(news[0]);
    close(news[1]);
}
END_TEST

START_TEST(a_job_that_nobody_has_is_not_waited_for)
{
    CLEANUP(scene_done) struct scene scene = scene_open(_i);
    struct th_job_info *job;

    ck_assert(!th_wait(scene.client, NOBODY, TH_FOREVER, NULL, NULL, &job, &scene.failure));
    scene_assert_failure(&scene, TH_E_NOT_FOUND, "");
    ck_assert_ptr_null(job);
}
END_TEST

START_TEST(a_negative_timeout_is_refused)
{
    CLEANUP(scene_done) struct scene scene = scene_open(0);
    struct th_job_info *job;

    ck_assert(!th_wait(scene.client, NOBODY, -1, NULL, NULL, &job, &scene.failure));
    scene_assert_failure(&scene, TH_E_INVALID, "timeout is negative");
}
END_TEST

/* ---- stores that do as they are told, which no real backend does ---- */

static struct timekeeper their_clock;

static bool overlook(struct store *store, const struct watch *watch, usec_t until, usec_t now,
                     struct error *err)
{
    (void)store;
    (void)watch;
    (void)until;
    (void)now;
    (void)err;
    return true;
}

/* ---- one that is away for a while ---- */

struct patchy_store {
    struct store common;
    int failures; /* calls that fail before one works */
    enum th_error_code code;
    int calls;
};

static bool patchy_get(struct store *store, const struct uuid *id, struct job_list *job_out,
                       struct error *err)
{
    struct patchy_store *patchy = (struct patchy_store *)store;

    patchy->calls++;
    if (patchy->failures-- > 0)
        return error_set(err, patchy->code, "away");
    struct job *job = job_list_add(job_out);

    ck_assert_ptr_nonnull(job);
    job->id = *id;
    job->state = JOB_DONE;
    return true;
}

static const struct store_driver patchy_driver = {
    .scheme = "patchy", .get = patchy_get, .watch = overlook};

static const struct {
    const char *rule;
    enum th_error_code code;
    int failures;
    usec_t timeout;
    bool works;
    int calls;
} absences[] = {
    {"a backend that is away is waited for", TH_E_UNAVAILABLE, 3, USEC_MAX, true, 4},
    {"an answer that never came is asked for again", TH_E_UNCERTAIN, 1, USEC_MAX, true, 2},
    {"what does not get better is not waited for", TH_E_SCHEMA, 9, USEC_MAX, false, 1},
    {"nobody waits when there is no time", TH_E_UNAVAILABLE, 9, 0, false, 1},
};

START_TEST(a_backend_that_comes_back_is_waited_for)
{
    struct patchy_store patchy = {
        .common = {.driver = &patchy_driver, .clock = &their_clock},
        .failures = absences[_i].failures,
        .code = absences[_i].code,
    };
    CLEANUP(job_list_done) struct job_list found = {0};
    const struct uuid id = {{1}};
    const struct follow nobody = {0};
    bool ended = false;
    struct error err = {0};

    bool worked =
        follow_job(&patchy.common, &id, absences[_i].timeout, &nobody, &found, &ended, &err);

    ck_assert_msg(worked == absences[_i].works && ended == worked, "%s", absences[_i].rule);
    ck_assert_msg(patchy.calls == absences[_i].calls, "%s: %d", absences[_i].rule, patchy.calls);
    ck_assert_msg(worked || err.code == absences[_i].code, "%s: %s", absences[_i].rule, err.text);
}
END_TEST

/* ---- a job that prints: each look finds it one step further ---- */

static const struct step {
    enum job_state state;
    int percent;
    const char *output;
} steps[] = {
    {JOB_READY, -1, NULL},    {JOB_RUNNING, -1, NULL},   {JOB_RUNNING, -1, "a"},
    {JOB_RUNNING, -1, "a"},   {JOB_RUNNING, -1, "b"},    {JOB_RUNNING, 40, "b"},
    {JOB_RUNNING, 40, "bcd"}, {JOB_RUNNING, 40, "bcde"}, {JOB_DONE, 40, "bcde"},
};

struct printing_store {
    struct store common;
    size_t looks;
};

static bool printing_get(struct store *store, const struct uuid *id, struct job_list *job_out,
                         struct error *err)
{
    const struct step *step = &steps[((struct printing_store *)store)->looks++];
    struct job *job = job_list_add(job_out);

    (void)err;
    ck_assert_ptr_nonnull(job);
    job->id = *id;
    job->state = step->state;
    job->progress_percent = step->percent;
    if (step->output)
        job->output = (struct bytes){(const unsigned char *)step->output, strlen(step->output)};
    return true;
}

static const struct store_driver printing_driver = {
    .scheme = "printing", .get = printing_get, .watch = overlook};

static bool count(const struct job *job, void *context)
{
    int *seen = context;

    (void)job;
    (*seen)++;
    return true;
}

static const struct {
    const char *rule;
    bool sees_output;
    int seen;
} watchers[] = {
    {"state and progress are news to everybody", false, 4},
    {"output is to those who asked for it", true, 8},
};

START_TEST(output_is_seen_by_those_who_asked_for_it)
{
    struct printing_store printing = {
        .common = {.driver = &printing_driver, .clock = &their_clock}};
    CLEANUP(job_list_done) struct job_list found = {0};
    const struct uuid id = {{1}};
    int seen = 0;
    const struct follow follow = {
        .seen = count, .context = &seen, .sees_output = watchers[_i].sees_output};
    bool ended = false;
    struct error err = {0};

    ck_assert(follow_job(&printing.common, &id, USEC_MAX, &follow, &found, &ended, &err));
    ck_assert(ended);
    ck_assert_msg(seen == watchers[_i].seen, "%s: %d", watchers[_i].rule, seen);
}
END_TEST

Suite *wait_suite(void)
{
    Suite *suite = suite_create("client/wait");
    TCase *wait = tcase_create("wait");

    tcase_set_timeout(wait, 60);
    tcase_add_loop_test(wait, a_timeout_of_zero_only_looks, 0, SCENE_BACKENDS);
    tcase_add_loop_test(wait, a_wait_ends_with_its_timeout, 0, SCENE_BACKENDS);
    tcase_add_loop_test(wait, an_ended_job_is_not_waited_for, 0, SCENE_BACKENDS);
    tcase_add_loop_test(wait, who_sees_enough_stops_the_wait, 0, SCENE_BACKENDS);
    tcase_add_test(wait, progress_is_seen);
    tcase_add_test(wait, the_end_of_a_job_elsewhere_is_seen);
    tcase_add_loop_test(wait, a_job_that_nobody_has_is_not_waited_for, 0, SCENE_BACKENDS);
    tcase_add_test(wait, a_negative_timeout_is_refused);
    tcase_add_loop_test(wait, a_backend_that_comes_back_is_waited_for, 0, (int)COUNT_OF(absences));
    tcase_add_loop_test(wait, output_is_seen_by_those_who_asked_for_it, 0, (int)COUNT_OF(watchers));
    suite_add_tcase(suite, wait);
    return suite;
}

/*
 * test_resident_many.c - programs that have several jobs at a time:
 * tests/fixtures/resident_many.py.
 */
#include "base/arena.h"
#include "base/error.h"
#include "process/account.h"
#include "process/loop.h"
#include "process/orphans.h"
#include "suites.h"
#include "worker/command_config.h"
#include "worker/execution.h"
#include "worker/resident.h"
#include "worker/tail.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define LONG_TIME   (600 * USEC_PER_SEC)
#define SHORT_GRACE (50 * USEC_PER_MSEC)
#define JOBS        4

static const char *const fixture[] = {"/usr/bin/python3",
                                      TH_SOURCE_DIR "/tests/fixtures/resident_many.py", NULL};

static struct loop *loop;
static struct handler_place place;
static struct resident *resident;
static struct resident_plan plan;
static struct arena arena;
static struct account account;
static struct error err;
static const struct handler_listener nobody;
static char ids[JOBS][37];
static struct handler_job jobs[JOBS];
static struct handler_run runs[JOBS];

static void begin(void)
{
    ck_assert_msg(loop_open(&loop, &err), "%s", err.text);
    place.loop = loop;
    ck_assert_msg(execution_open(loop, &place.execution, &err), "%s", err.text);
    ck_assert_msg(account_find(NULL, &arena, &account, &err), "%s", err.text);
    plan = (struct resident_plan){
        .name = "many",
        .argv = fixture,
        .command = {.account = &account, .umask = SPAWN_KEEP},
        .concurrency = 3,
    };
    ck_assert_msg(resident_open(&plan, &place, &resident, &err), "%s", err.text);
}

static void finish(void)
{
    resident_close(&resident);
    ck_assert_msg(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "a process is left behind");
    for (int i = 0; i < JOBS; i++)
        handler_report_done(&runs[i].report);
    arena_done(&arena);
    execution_close(&place.execution);
    loop_close(&loop);
}

static void give(int number, const char *payload)
{
    snprintf(ids[number], sizeof ids[number], "0193f0a2-7c1d-7abc-8def-%012d", number);
    jobs[number] = (struct handler_job){
        .id = ids[number],
        .type = "many",
        .queue = "default",
        .pool_id = "web-1.x7",
        .attempt = 1,
        .max_attempts = 4,
        .payload = {(const unsigned char *)payload, strlen(payload)},
        .payload_is_json = true,
        .timeout = LONG_TIME,
        .output_size = TAIL_SIZE,
        .kill_grace = SHORT_GRACE,
        .started_at = 5,
    };
    handler_report_done(&runs[number].report);
    runs[number] = (struct handler_run){.job = &jobs[number], .listener = &nobody};
    ck_assert_msg(resident_begin(resident, &plan, &runs[number], &err), "%s", err.text);
}

static void step(void)
{
    ck_assert_msg(loop_step(loop, &err), "%s", err.text);
    ck_assert_msg(resident_serve(resident, &err), "%s", err.text);
}

/* As if from the loop, after which it is served. */
static void halt(int number, enum stop_reason why, usec_t grace)
{
    resident_halt(resident, &runs[number], why, grace);
    ck_assert_msg(resident_serve(resident, &err), "%s", err.text);
}

static const struct outcome *wait_for(int number)
{
    while (!runs[number].has_ended)
        step();
    return &runs[number].report.outcome;
}

/* It has read all that it was given before. */
static void be_sure(int number)
{
    give(number, "{\"do\":\"show\"}");
    ck_assert_int_eq(wait_for(number)->kind, OUTCOME_DONE);
}

static pid_t child_of_ours(void)
{
    pid_t *pids = NULL;
    size_t count = 0;

    ck_assert_msg(orphans_list(&pids, &count, &err), "%s", err.text);
    ck_assert_uint_eq(count, 1);
    const pid_t pid = pids[0];
    free(pids);
    return pid;
}

START_TEST(answers_come_in_any_order)
{
    give(0, "{\"do\":\"hold\"}");
    give(1, "{\"do\":\"show\"}");
    ck_assert_int_eq(wait_for(1)->kind, OUTCOME_DONE);
    ck_assert(memmem(runs[1].report.outcome.result.data, runs[1].report.outcome.result.length,
                     "\"others\": 1", strlen("\"others\": 1")));
    ck_assert(!runs[0].has_ended);
    give(2, "{\"do\":\"let_go\"}");
    ck_assert_int_eq(wait_for(0)->kind, OUTCOME_DONE);
    wait_for(2);
}
END_TEST

START_TEST(there_is_room_for_as_many_as_every_handler_allows)
{
    struct resident_plan alone = plan, more = plan;

    alone.concurrency = 1;
    more.concurrency = 100;
    ck_assert(resident_has_room(resident, &alone));
    give(0, "{\"do\":\"hold\"}");
    ck_assert_msg(!resident_has_room(resident, &alone), "one that wants to be alone has to wait");
    give(1, "{\"do\":\"hold\"}");
    ck_assert(resident_has_room(resident, &plan) && resident_has_room(resident, &more));
    give(2, "{\"do\":\"hold\"}");
    ck_assert(!resident_has_room(resident, &plan));
    ck_assert_msg(!resident_has_room(resident, &more), "those that it has allow three");
    give(3, "{\"do\":\"let_go\"}");
    for (int i = 0; i < JOBS; i++)
        wait_for(i);
    ck_assert(resident_has_room(resident, &alone));
}
END_TEST

START_TEST(while_one_is_asked_to_stop_there_is_no_room)
{
    give(0, "{\"do\":\"obey\"}");
    ck_assert(resident_has_room(resident, &plan));
    halt(0, STOP_CANCEL, LONG_TIME);
    ck_assert(!resident_has_room(resident, &plan));
    wait_for(0);
    ck_assert(resident_has_room(resident, &plan));
}
END_TEST

static const struct {
    const char *rule;
    const char *payload;
    enum stop_reason stop;
    enum outcome_kind kind;
    const char *error, *run_error;
} wishes[] = {
    {"what was cancelled and failed is cancelled", "{\"do\":\"obey\"}", STOP_CANCEL,
     OUTCOME_CANCELLED, NULL, "stopped on request: as you like"},
    {"what was done first is done", "{\"do\":\"obey\",\"with\":{\"ok\":true}}", STOP_CANCEL,
     OUTCOME_DONE, NULL, NULL},
    {"what was put off is cancelled", "{\"do\":\"obey\",\"with\":{\"ok\":false,\"snooze\":\"1h\"}}",
     STOP_CANCEL, OUTCOME_CANCELLED, NULL, "stopped on request"},
    {"what took too long has failed", "{\"do\":\"obey\"}", STOP_TIMEOUT, OUTCOME_FAILED,
     "timed out after 10m: as you like", "timed out after 10m: as you like"},
    {"also if it is done by now", "{\"do\":\"obey\",\"with\":{\"ok\":true,\"result\":7}}",
     STOP_TIMEOUT, OUTCOME_FAILED, "timed out after 10m", "timed out after 10m"},
};

START_TEST(one_that_is_given_up_when_asked_leaves_the_others_alone)
{
    give(0, "{\"do\":\"hold\"}");
    give(1, wishes[_i].payload);
    be_sure(2);
    halt(1, wishes[_i].stop, LONG_TIME);
    const struct outcome *outcome = wait_for(1);

    ck_assert_msg(outcome->kind == wishes[_i].kind, "%s, not %d", wishes[_i].rule, outcome->kind);
    ck_assert_pstr_eq(outcome->error, wishes[_i].error);
    ck_assert_pstr_eq(outcome->run.error, wishes[_i].run_error);
    if (outcome->kind != OUTCOME_DONE)
        ck_assert_ptr_null(outcome->result.data);
    give(2, "{\"do\":\"let_go\"}");
    ck_assert_int_eq(wait_for(0)->kind, OUTCOME_DONE);
}
END_TEST

static const struct {
    enum stop_reason stop;
    usec_t grace;
    enum outcome_kind kind;
} kills[] = {
    {STOP_TIMEOUT, SHORT_GRACE, OUTCOME_FAILED},
    {STOP_CANCEL, SHORT_GRACE, OUTCOME_CANCELLED},
    {STOP_LOST_LEASE, 0, OUTCOME_RELEASED},
};

START_TEST(one_that_does_not_stop_takes_the_others_along_uncounted)
{
    give(0, "{\"do\":\"hold\"}");
    give(1, "{\"do\":\"hold\"}");
    be_sure(2);
    halt(0, kills[_i].stop, kills[_i].grace);
    ck_assert_int_eq(wait_for(0)->kind, kills[_i].kind);
    ck_assert_int_eq(wait_for(1)->kind, OUTCOME_RELEASED);
    ck_assert_str_eq(runs[1].report.outcome.run.error, "stopped with another job of its resident");
    ck_assert_msg(!runs[1].report.could_not_start, "and is no reason to wait");
    be_sure(2);
}
END_TEST

START_TEST(all_fail_when_it_dies)
{
    give(0, "{\"do\":\"hold\"}");
    give(1, "{\"do\":\"crash\"}");
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(wait_for(i)->kind, OUTCOME_FAILED);
        ck_assert_str_eq(runs[i].report.outcome.error,
                         "resident many was killed by SIGSEGV before it answered: about to crash");
    }
}
END_TEST

/* It is stopped, so that it reads nothing of the second before the first can kill it. */
START_TEST(one_that_it_had_not_read_when_it_died_is_given_to_the_next)
{
    pid_t pid;

    be_sure(0);
    give(1, "{\"do\":\"hold\"}");
    be_sure(0);
    pid = child_of_ours();
    ck_assert_int_eq(kill(pid, SIGSTOP), 0);
    ck_assert_int_eq(waitpid(pid, NULL, WUNTRACED), pid);
    give(2, "{\"do\":\"show\"}");
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(wait_for(1)->kind, OUTCOME_FAILED);
    ck_assert_int_eq(wait_for(2)->kind, OUTCOME_DONE);
}
END_TEST

START_TEST(a_line_that_is_no_answer_fails_all)
{
    give(0, "{\"do\":\"hold\"}");
    give(1, "{\"do\":\"babble\"}");
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(wait_for(i)->kind, OUTCOME_FAILED);
        ck_assert(strstr(runs[i].report.outcome.error, "wrote a line that is not an answer"));
    }
}
END_TEST

/* ---- whether two handlers start the same program ---- */

static const char *const argv_a[] = {"python3", "a.py", NULL};
static const char *const argv_b[] = {"python3", "b.py", NULL};
static const char *const argv_longer[] = {"python3", "a.py", "-v", NULL};
static const struct command_variable red[] = {{"COLOUR", "red"}, {"SIZE", "1"}};
static const struct command_variable red_too[] = {{"SIZE", "1"}, {"COLOUR", "red"}};
static const struct command_variable blue[] = {{"COLOUR", "blue"}, {"SIZE", "1"}};
static const char *const passed[] = {"LANG"};
static const struct account me = {.name = "me", .uid = 7}, you = {.name = "you", .uid = 8};

/* clang-format off */
static const struct {
    const char *rule;
    const char *const *argv;
    struct command command;
    bool is_same;
} others[] = {
    {"the same is the same", argv_a, {.account = &me, .env = red, .env_count = 2, .cwd = "/a"}, true},
    {"variables have no order", argv_a, {.account = &me, .env = red_too, .env_count = 2, .cwd = "/a"}, true},
    {"what is not of the program does not matter", argv_a, {.account = &me, .env = red, .env_count = 2, .cwd = "/a", .base_delay = 5, .result_is_stdout = true}, true},
    {"another argument", argv_b, {.account = &me, .env = red, .env_count = 2, .cwd = "/a"}, false},
    {"one more argument", argv_longer, {.account = &me, .env = red, .env_count = 2, .cwd = "/a"}, false},
    {"another value", argv_a, {.account = &me, .env = blue, .env_count = 2, .cwd = "/a"}, false},
    {"fewer variables", argv_a, {.account = &me, .env = red, .env_count = 1, .cwd = "/a"}, false},
    {"variables of ours", argv_a, {.account = &me, .env = red, .env_count = 2, .cwd = "/a", .pass_env = passed, .pass_env_count = 1}, false},
    {"another user", argv_a, {.account = &you, .env = red, .env_count = 2, .cwd = "/a"}, false},
    {"another folder", argv_a, {.account = &me, .env = red, .env_count = 2, .cwd = "/b"}, false},
    {"another umask", argv_a, {.account = &me, .env = red, .env_count = 2, .cwd = "/a", .umask = 7}, false},
    {"another niceness", argv_a, {.account = &me, .env = red, .env_count = 2, .cwd = "/a", .nice = 1}, false},
    {"another limit", argv_a, {.account = &me, .env = red, .env_count = 2, .cwd = "/a", .limits = {.files = 9}}, false},
    {"more privileges", argv_a, {.account = &me, .env = red, .env_count = 2, .cwd = "/a", .may_gain_privileges = true}, false},
};
/* clang-format on */

START_TEST(handlers_share_what_starts_the_same_program)
{
    const struct command command = {.account = &me, .env = red, .env_count = 2, .cwd = "/a"};
    const struct command *other = &others[_i].command;

    ck_assert_msg(command_config_is_same(argv_a, &command, others[_i].argv, other) ==
                      others[_i].is_same,
                  "%s", others[_i].rule);
    ck_assert_msg(command_config_is_same(others[_i].argv, other, argv_a, &command) ==
                      others[_i].is_same,
                  "%s, the other way round", others[_i].rule);
}
END_TEST

Suite *resident_many_suite(void)
{
    Suite *suite = suite_create("worker/resident_many");
    TCase *together = tcase_create("together");
    TCase *sharing = tcase_create("sharing");

    tcase_add_checked_fixture(together, begin, finish);
    tcase_set_timeout(together, 60);
    tcase_add_test(together, answers_come_in_any_order);
    tcase_add_test(together, there_is_room_for_as_many_as_every_handler_allows);
    tcase_add_test(together, while_one_is_asked_to_stop_there_is_no_room);
    tcase_add_loop_test(together, one_that_is_given_up_when_asked_leaves_the_others_alone, 0,
                        COUNT_OF(wishes));
    tcase_add_loop_test(together, one_that_does_not_stop_takes_the_others_along_uncounted, 0,
                        COUNT_OF(kills));
    tcase_add_test(together, all_fail_when_it_dies);
    tcase_add_test(together, one_that_it_had_not_read_when_it_died_is_given_to_the_next);
    tcase_add_test(together, a_line_that_is_no_answer_fails_all);
    suite_add_tcase(suite, together);

    tcase_add_loop_test(sharing, handlers_share_what_starts_the_same_program, 0, COUNT_OF(others));
    suite_add_tcase(suite, sharing);
    return suite;
}

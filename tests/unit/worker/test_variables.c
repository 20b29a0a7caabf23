/*
 * test_variables.c - which variables a command gets.
 */
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "process/account.h"
#include "suites.h"
#include "worker/command.h"
#include "worker/variables.h"

#include <stdlib.h>
#include <string.h>

static const struct account account = {.name = "mailer", .home = "/srv/mailer"};

static const struct handler_job job = {
    .id = "0193f0a2-7c1d-7abc-8def-0123456789ab",
    .type = "email:send",
    .queue = "mail",
    .pool_id = "web-1.x7",
    .attempt = 2,
    .max_attempts = 4,
    .execution = 17,
    .payload = {(const unsigned char *)"secret payload", 14},
    .timeout = 30 * USEC_PER_SEC,
};

static const char *const *build(const struct command *command, struct arena *arena)
{
    const char *const *environment;
    struct error err;

    ck_assert_msg(
        variables_build(command, &job, 1000 * USEC_PER_SEC + 5, arena, &environment, &err), "%s",
        err.text);
    return environment;
}

START_TEST(a_command_gets_these_variables_and_no_others)
{
    static const char *const expected[] = {
        "PATH=" COMMAND_PATH,
        "HOME=/srv/mailer",
        "USER=mailer",
        "LANG=C.UTF-8",
        "TZ=UTC",
        "TH_JOB_ID=0193f0a2-7c1d-7abc-8def-0123456789ab",
        "TH_JOB_TYPE=email:send",
        "TH_QUEUE=mail",
        "TH_ATTEMPT=2",
        "TH_MAX_ATTEMPTS=4",
        "TH_EXECUTION=17",
        "TH_POOL_ID=web-1.x7",
        "TH_DEADLINE=1030",
    };
    CLEANUP(arena_done) struct arena arena = {0};
    const char *const *environment = build(&(struct command){.account = &account}, &arena);

    for (size_t i = 0; i < COUNT_OF(expected); i++)
        ck_assert_str_eq(environment[i], expected[i]);
    ck_assert_ptr_null(environment[COUNT_OF(expected)]);
}
END_TEST

static const struct {
    const char *rule;
    const char *name;
    const char *value;
} values[] = {
    {"the handler's env is there", "SMTP_HOST", "mail.internal"},
    {"and may be empty", "EMPTY", ""},
    {"what pass_env lists comes from us", "PASSED", "ours"},
    {"unless we have not got it", "ABSENT", NULL},
    {"what it does not list stays out", "NOT_PASSED", NULL},
    {"env beats pass_env", "BOTH", "the handler's"},
    {"pass_env beats what is plain", "TZ", "Europe/Berlin"},
    {"env beats what is plain", "LANG", "de_DE.UTF-8"},
    {"nothing beats what the job says", "TH_QUEUE", "mail"},
};

START_TEST(the_last_who_says_it_is_right)
{
    static const struct command_variable env[] = {{"SMTP_HOST", "mail.internal"},
                                                  {"EMPTY", ""},
                                                  {"BOTH", "the handler's"},
                                                  {"LANG", "de_DE.UTF-8"},
                                                  {"TH_QUEUE", "forged"}};
    static const char *const pass_env[] = {"PASSED", "ABSENT", "BOTH", "TZ"};
    const struct command command = {.account = &account,
                                    .env = env,
                                    .env_count = COUNT_OF(env),
                                    .pass_env = pass_env,
                                    .pass_env_count = COUNT_OF(pass_env)};
    CLEANUP(arena_done) struct arena arena = {0};

    setenv("PASSED", "ours", 1);
    setenv("NOT_PASSED", "ours", 1);
    setenv("BOTH", "ours", 1);
    setenv("TZ", "Europe/Berlin", 1);
    const char *value = variables_get(build(&command, &arena), values[_i].name);
    ck_assert_msg(!value == !values[_i].value, "%s", values[_i].rule);
    if (value)
        ck_assert_str_eq(value, values[_i].value);
}
END_TEST

START_TEST(headers_are_a_variable_and_a_trace_has_its_own)
{
    static const struct command_variable env[] = {{"TRACEPARENT", "forged"}, {"BAGGAGE", "mine"}};
    const struct command command = {.account = &account, .env = env, .env_count = COUNT_OF(env)};
    CLEANUP(arena_done) struct arena arena = {0};
    struct handler_job traced = job;
    const char *const *environment;
    struct error err;

    traced.headers = "{\"traceparent\":\"00-ab\",\"tracestate\":\"x=1\",\"baggage\":7}";
    ck_assert(variables_build(&command, &traced, 0, &arena, &environment, &err));
    ck_assert_str_eq(variables_get(environment, "TH_HEADERS"), traced.headers);
    ck_assert_str_eq(variables_get(environment, "TRACEPARENT"), "00-ab");
    ck_assert_str_eq(variables_get(environment, "TRACESTATE"), "x=1");
    ck_assert_str_eq(variables_get(environment, "BAGGAGE"), "mine");
}
END_TEST

START_TEST(what_stays_gets_nothing_of_a_job)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct command command = {.account = &account};
    const char *const *environment;
    struct error err;

    ck_assert(variables_build_lasting(&command, "web-1.x7", &arena, &environment, &err));
    ck_assert_str_eq(environment[5], "TH_POOL_ID=web-1.x7");
    ck_assert_ptr_null(environment[6]);
}
END_TEST

Suite *variables_suite(void)
{
    Suite *suite = suite_create("worker/variables");
    TCase *variables = tcase_create("variables");

    tcase_add_test(variables, a_command_gets_these_variables_and_no_others);
    tcase_add_test(variables, what_stays_gets_nothing_of_a_job);
    tcase_add_test(variables, headers_are_a_variable_and_a_trace_has_its_own);
    tcase_add_loop_test(variables, the_last_who_says_it_is_right, 0, COUNT_OF(values));
    suite_add_tcase(suite, variables);
    return suite;
}

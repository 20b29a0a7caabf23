/*
 * test_environment.c - ${NAME} and ${NAME:-default}.
 */
#include "base/cleanup.h"
#include "config/environment.h"
#include "config/folder.h"
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void setup(void)
{
    folder_setup();
    setenv("TH_HOST", "db.internal", 1);
    setenv("TH_EMPTY", "", 1);
    setenv("TH_WORKERS", "7", 1);
    setenv("TH_LIST", "[a, b]", 1);
    unsetenv("TH_MISSING");
}

static const struct {
    const char *rule;
    const char *text;
    const char *becomes;
} expanded[] = {
    {"a variable", "${TH_HOST}", "db.internal"},
    {"inside a text", "postgres://${TH_HOST}/db", "postgres://db.internal/db"},
    {"two of them", "${TH_HOST}:${TH_WORKERS}", "db.internal:7"},
    {"a default that is not needed", "${TH_HOST:-localhost}", "db.internal"},
    {"a default", "${TH_MISSING:-localhost}", "localhost"},
    {"a default for an empty one", "${TH_EMPTY:-localhost}", "localhost"},
    {"an empty default", "x${TH_MISSING:-}y", "xy"},
    {"a default with a colon and a dash", "${TH_MISSING:-redis://a:-b}", "redis://a:-b"},
    {"an empty variable is set", "x${TH_EMPTY}y", "xy"},
    {"two dollars are one", "a$$b", "a$b"},
    {"what is escaped is not looked at", "$${TH_HOST}", "${TH_HOST}"},
    {"a dollar before anything else stays", "$HOME $1 $", "$HOME $1 $"},
    {"what is put in is only text", "${TH_LIST}", "[a, b]"},
};

START_TEST(variables_are_put_into_values)
{
    CLEANUP(config_done) struct config config = {0};
    char text[256];

    snprintf(text, sizeof text, "backend: '%s'\n", expanded[_i].text);
    folder_load_text(text, &config);
    ck_assert_msg(strcmp(config.backend, expanded[_i].becomes) == 0, "%s, not %s",
                  expanded[_i].rule, config.backend);
}
END_TEST

START_TEST(a_variable_may_be_a_number)
{
    CLEANUP(config_done) struct config config = {0};

    folder_load_text("pool:\n  num_workers: ${TH_WORKERS}\n", &config);
    ck_assert_int_eq(config.pool.num_workers, 7);
}
END_TEST

START_TEST(variables_are_put_into_lists_and_maps)
{
    CLEANUP(config_done) struct config config = {0};

    folder_load_text("handlers:\n  a: {command: [x, '${TH_HOST}'], env: {A: '${TH_HOST}'}}\n",
                     &config);
    ck_assert_str_eq(config.handlers[0].command.argv[1], "db.internal");
    ck_assert_str_eq(config.handlers[0].env.items[0].value, "db.internal");
}
END_TEST

START_TEST(a_text_for_the_shell_is_left_to_it)
{
    CLEANUP(config_done) struct config config = {0};

    folder_write("more.yaml", "handlers: {c: {command: 'kill $$'}}\n");
    folder_load_text(
        "handlers:\n"
        "  a: {command: 'echo ${TH_JOB_ID} $$ ${x%%y} ${TH_HOST', cwd: '/${TH_HOST}'}\n"
        "  b: {resident: 'exec ${TH_MISSING}'}\n"
        "include: [more.yaml]\n",
        &config);
    ck_assert_str_eq(config.handlers[0].command.argv[2], "echo ${TH_JOB_ID} $$ ${x%%y} ${TH_HOST");
    ck_assert_str_eq(config.handlers[0].cwd, "/db.internal");
    ck_assert_str_eq(config.handlers[1].resident.argv[2], "exec ${TH_MISSING}");
    ck_assert_str_eq(config.handlers[2].command.argv[2], "kill $$");
}
END_TEST

START_TEST(elsewhere_a_key_named_command_is_like_any_other)
{
    CLEANUP(config_done) struct config config = {0};

    folder_load_text("cron:\n"
                     "  a: {schedule: '@daily', type: x, payload: {command: '${TH_HOST}'}}\n"
                     "handlers:\n"
                     "  command: {command: ['${TH_HOST}'], env: {command: '${TH_HOST}'}}\n",
                     &config);
    ck_assert_str_eq((const char *)config.cron[0].payload.data, "{\"command\":\"db.internal\"}");
    ck_assert_str_eq(config.handlers[0].command.argv[0], "db.internal");
    ck_assert_str_eq(config.handlers[0].env.items[0].value, "db.internal");
}
END_TEST

#define FORM "is not ${NAME} or ${NAME:-default} (a dollar itself is $$)"

static const struct {
    const char *rule;
    const char *text;
    const char *errors;
} refused[] = {
    {"a variable that is not set", "backend: x${TH_MISSING}\n",
     "jobs.yaml:1:10: 'TH_MISSING' is not set in the environment (${NAME:-default} gives a "
     "default)\n"},
    {"all of them", "backend: ${TH_MISSING}\npool:\n  lease: ${TH_MISSING}\n",
     "jobs.yaml:1:10: 'TH_MISSING' is not set in the environment (${NAME:-default} gives a "
     "default)\n"
     "jobs.yaml:3:10: 'TH_MISSING' is not set in the environment (${NAME:-default} gives a "
     "default)\n"},
    {"no brace", "backend: ${TH_HOST\n",
     "jobs.yaml:1:10: '${TH_HOST' has no closing brace (a dollar itself is $$)\n"},
    {"no name", "backend: '${}'\n", "jobs.yaml:1:10: '${}' " FORM "\n"},
    {"a name that is none", "backend: '${1x}'\n", "jobs.yaml:1:10: '${1x}' " FORM "\n"},
    {"another operator", "backend: '${TH_HOST:+x}'\n",
     "jobs.yaml:1:10: '${TH_HOST:+x}' " FORM "\n"},
    {"a value that does not fit", "pool:\n  lease: ${TH_WORKERS}\n",
     "jobs.yaml:2:10: pool.lease: '7' is not a duration: write a number and a unit, such as "
     "500ms, 10s, 5m, 2h or 7d\n"},
    {"keys are left alone", "'${TH_HOST}': 1\n", "jobs.yaml:1:1: unknown key '${TH_HOST}'\n"},
};

START_TEST(any_other_reference_is_refused_by_name)
{
    folder_expect_for(refused[_i].rule, refused[_i].text, refused[_i].errors);
}
END_TEST

Suite *environment_suite(void)
{
    Suite *suite = suite_create("config/environment");
    TCase *expand = tcase_create("expand");

    tcase_add_checked_fixture(expand, setup, folder_teardown);
    tcase_add_loop_test(expand, variables_are_put_into_values, 0, COUNT_OF(expanded));
    tcase_add_test(expand, a_variable_may_be_a_number);
    tcase_add_test(expand, variables_are_put_into_lists_and_maps);
    tcase_add_test(expand, a_text_for_the_shell_is_left_to_it);
    tcase_add_test(expand, elsewhere_a_key_named_command_is_like_any_other);
    tcase_add_loop_test(expand, any_other_reference_is_refused_by_name, 0, COUNT_OF(refused));
    suite_add_tcase(suite, expand);
    return suite;
}

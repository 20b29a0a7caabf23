/*
 * test_field.c - every kind of value, and what is said about a wrong one.
 */
#include "base/cleanup.h"
#include "config/field.h"
#include "config/folder.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>

#define DURATION_FORM                                                                              \
    "is not a duration: write a number and a unit, such as 500ms, 10s, 5m, 2h or 7d\n"
#define SIZE_FORM                                                                                  \
    "is not a size: write a number of bytes, or of K, M or G, such as 64K, 512M or 1G\n"
#define NAME_FORM "is not a name: use 1 to 128 of A-Z a-z 0-9 _ . : -\n"

static const struct {
    const char *rule;
    const char *text;
    const char *errors;
} refused[] = {
    /* keys */
    {"an unknown key, with the closest", "pool:\n  num_worker: 4\n",
     "jobs.yaml:2:3: unknown key 'num_worker' in 'pool' (did you mean 'num_workers'?)\n"},
    {"an unknown key that is close to none", "pool: {zebra: 1}\n",
     "jobs.yaml:1:8: unknown key 'zebra' in 'pool'\n"},
    {"at the top", "handler: {}\n",
     "jobs.yaml:1:1: unknown key 'handler' (did you mean 'handlers'?)\n"},
    {"in a section of a section", "defaults: {retry: {jiter: 0}}\n",
     "jobs.yaml:1:20: unknown key 'jiter' in 'defaults.retry' (did you mean 'jitter'?)\n"},
    {"in an entry", "queues: {mail: {wight: 1}}\n",
     "jobs.yaml:1:17: unknown key 'wight' in 'queues.mail' (did you mean 'weight'?)\n"},
    {"one that would move the cursor", "\"\\e[2J\": 1\n",
     "jobs.yaml:1:1: unknown key '\\x1b[2J'\n"},
    {"a missing key", "cron: {n: {schedule: '@daily'}}\n",
     "jobs.yaml:1:8: 'cron.n' needs 'type'\n"},
    {"missing in an entry without anything", "cron:\n  n:\n",
     "jobs.yaml:2:3: 'cron.n' needs 'schedule'\njobs.yaml:2:3: 'cron.n' needs 'type'\n"},
    {"missing in a section", "handlers: {a: {command: x, on_dead: {queue: q}}}\n",
     "jobs.yaml:1:28: 'handlers.a.on_dead' needs 'type'\n"},
    {"a value where a section is", "pool: 4\n",
     "jobs.yaml:1:7: pool: expected a map, not a value\n"},
    {"a list where a section is", "pool: [4]\n",
     "jobs.yaml:1:7: pool: expected a map, not a list\n"},
    {"a list where entries are", "queues: [mail]\n",
     "jobs.yaml:1:9: queues: expected a map, not a list\n"},
    {"a value where an entry is", "queues: {mail: 3}\n",
     "jobs.yaml:1:16: queues.mail: expected a map, not a value\n"},
    /* count */
    {"no number", "pool: {num_workers: many}\n",
     "jobs.yaml:1:21: pool.num_workers: 'many' is not a whole number\n"},
    {"a fraction", "pool: {num_workers: 1.5}\n",
     "jobs.yaml:1:21: pool.num_workers: '1.5' is not a whole number\n"},
    {"too few", "pool: {num_workers: 0}\n",
     "jobs.yaml:1:21: pool.num_workers: 0 is too small: use 1 to 1024\n"},
    {"too many", "pool: {num_workers: 1025}\n",
     "jobs.yaml:1:21: pool.num_workers: 1025 is too large: use 1 to 1024\n"},
    {"beyond 32 bits", "pool: {num_workers: 4294967297}\n",
     "jobs.yaml:1:21: pool.num_workers: 4294967297 is too large: use 1 to 1024\n"},
    {"beyond 64 bits", "pool: {num_workers: 99999999999999999999}\n",
     "jobs.yaml:1:21: pool.num_workers: '99999999999999999999' is not a whole number\n"},
    {"negative", "pool: {max_jobs_per_worker: -1}\n",
     "jobs.yaml:1:29: pool.max_jobs_per_worker: -1 is too small: use 0 to 1000000000\n"},
    {"a list", "pool: {num_workers: [4]}\n",
     "jobs.yaml:1:21: pool.num_workers: expected a whole number, not a list\n"},
    {"nothing", "pool:\n  num_workers:\n",
     "jobs.yaml:2:15: pool.num_workers: expected a whole number, not nothing\n"},
    {"niceness below its range", "handlers: {a: {command: x, nice: -21}}\n",
     "jobs.yaml:1:34: handlers.a.nice: -21 is too small: use -20 to 19\n"},
    /* fraction */
    {"jitter over 1", "defaults: {retry: {jitter: 1.1}}\n",
     "jobs.yaml:1:28: defaults.retry.jitter: '1.1' is not a number from 0 to 1\n"},
    {"jitter that is no number", "defaults: {retry: {jitter: nan}}\n",
     "jobs.yaml:1:28: defaults.retry.jitter: 'nan' is not a number from 0 to 1\n"},
    {"jitter with nothing after its point", "defaults: {retry: {jitter: 0.}}\n",
     "jobs.yaml:1:28: defaults.retry.jitter: '0.' is not a number from 0 to 1\n"},
    /* mode */
    {"a mode that is not octal", "handlers: {a: {command: x, umask: 088}}\n",
     "jobs.yaml:1:35: handlers.a.umask: '088' is not an octal number from 000 to 777, such as "
     "022\n"},
    {"a mode over 777", "handlers: {a: {command: x, umask: 1777}}\n",
     "jobs.yaml:1:35: handlers.a.umask: '1777' is not an octal number from 000 to 777, such as "
     "022\n"},
    /* duration */
    {"no unit", "pool: {lease: 30}\n", "jobs.yaml:1:15: pool.lease: '30' " DURATION_FORM},
    {"too short", "pool: {lease: 500ms}\n",
     "jobs.yaml:1:15: pool.lease: 500ms is too small: use 1s to 1d\n"},
    {"too long", "pool: {shutdown_timeout: 8d}\n",
     "jobs.yaml:1:26: pool.shutdown_timeout: 8d is too large: use at most 7d\n"},
    {"a map", "pool: {lease: {s: 30}}\n",
     "jobs.yaml:1:15: pool.lease: expected a duration such as 30s, not a map\n"},
    /* size */
    {"a size in other words", "max_payload: 1MB\n",
     "jobs.yaml:1:14: max_payload: '1MB' " SIZE_FORM},
    {"a payload of nothing", "max_payload: 0\n",
     "jobs.yaml:1:14: max_payload: 0 is too small: use 1 to 16M\n"},
    {"a payload over 16M", "max_payload: 17M\n",
     "jobs.yaml:1:14: max_payload: 17M is too large: use 1 to 16M\n"},
    {"a size that is a list", "max_payload: []\n",
     "jobs.yaml:1:14: max_payload: expected a size such as 512M, not a list\n"},
    /* rate */
    {"a rate without a period", "queues: {mail: {rate: 100}}\n",
     "jobs.yaml:1:23: queues.mail.rate: '100' is not a rate: write a number per s, m, h or d, such "
     "as 100/s or 10/m\n"},
    /* text */
    {"an empty text", "backend: ''\n", "jobs.yaml:1:10: backend: is empty\n"},
    {"text that is a list", "backend: [x]\n",
     "jobs.yaml:1:10: backend: expected text, not a list\n"},
    {"text that is not there", "backend:\n",
     "jobs.yaml:1:9: backend: expected text, not nothing\n"},
    /* name */
    {"a name with a space", "cron: {n: {schedule: '@daily', type: a b}}\n",
     "jobs.yaml:1:38: cron.n.type: 'a b' " NAME_FORM},
    {"a pool's name of 101 letters",
     "pool: {pool_id: "
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
     "aaaaaaaaaaaaaaaaaaaaaa}\n",
     "jobs.yaml:1:17: pool.pool_id: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...' is not a "
     "name: "
     "use 1 to 100 of A-Z a-z 0-9 _ . : -\n"},
    /* path */
    {"an empty path", "handlers: {a: {plugin: ''}}\n",
     "jobs.yaml:1:24: handlers.a.plugin: is empty\n"},
    /* flag */
    {"neither true nor false", "pool: {migrate: yes}\n",
     "jobs.yaml:1:17: pool.migrate: 'yes' is neither true nor false\n"},
    /* choice */
    {"none of them, with the closest", "log: {level: warn}\n",
     "jobs.yaml:1:14: log.level: 'warn' is not one of error, warning, info, debug (did you mean "
     "'warning'?)\n"},
    {"none of them", "pool: {unknown_types: zebra}\n",
     "jobs.yaml:1:23: pool.unknown_types: 'zebra' is not one of dead, leave\n"},
    /* lists and maps */
    {"a map for a list", "pool: {middleware: {a: b}}\n",
     "jobs.yaml:1:20: pool.middleware: expected a list of paths, not a map\n"},
    {"all items are looked at", "handlers: {a: {command: x, pass_env: [[], '', {}]}}\n",
     "jobs.yaml:1:39: handlers.a.pass_env: expected a list of texts, not a list\n"
     "jobs.yaml:1:43: handlers.a.pass_env: is empty\n"
     "jobs.yaml:1:47: handlers.a.pass_env: expected a list of texts, not a map\n"},
    {"numbers out of range", "handlers: {a: {command: x, dead_exit_codes: [1, 0, 256, x]}}\n",
     "jobs.yaml:1:49: handlers.a.dead_exit_codes: 0 is too small: use 1 to 255\n"
     "jobs.yaml:1:52: handlers.a.dead_exit_codes: 256 is too large: use 1 to 255\n"
     "jobs.yaml:1:57: handlers.a.dead_exit_codes: 'x' is not a whole number\n"},
    {"numbers that are no list", "handlers: {a: {command: x, dead_exit_codes: 3}}\n",
     "jobs.yaml:1:45: handlers.a.dead_exit_codes: expected a list of whole numbers, not a value\n"},
    {"an environment that is no map", "handlers: {a: {command: x, env: [A=b]}}\n",
     "jobs.yaml:1:33: handlers.a.env: expected a map of names to texts, not a list\n"},
    {"variables that are none", "handlers: {a: {command: x, env: {A=B: c, '': d, E: [f]}}}\n",
     "jobs.yaml:1:34: handlers.a.env: 'A=B' is not the name of a variable\n"
     "jobs.yaml:1:42: handlers.a.env: '' is not the name of a variable\n"
     "jobs.yaml:1:52: handlers.a.env.E: expected text, not a list\n"},
    /* command */
    {"an empty command", "handlers: {a: {command: []}}\n",
     "jobs.yaml:1:25: handlers.a.command: the list is empty: name a program\n"},
    {"an empty text as command", "handlers: {a: {command: ''}}\n",
     "jobs.yaml:1:25: handlers.a.command: is empty\n"},
    {"an empty program", "handlers: {a: {command: ['', x]}}\n",
     "jobs.yaml:1:26: handlers.a.command: is empty\n"},
    {"a map as command", "handlers: {a: {command: {a: b}}}\n",
     "jobs.yaml:1:25: handlers.a.command: expected a list such as [\"program\", \"argument\"], or "
     "text for the shell, not a map\n"},
    /* retry */
    {"no such policy", "defaults: {retry: {policy: linea}}\n",
     "jobs.yaml:1:28: defaults.retry.policy: 'linea' is not one of exponential, linear, fixed (did "
     "you mean 'linear'?)\n"},
    {"a list of no delays", "defaults: {retry: {policy: []}}\n",
     "jobs.yaml:1:28: defaults.retry.policy: the list of delays is empty\n"},
    {"delays that are none", "defaults: {retry: [1s, 2]}\n",
     "jobs.yaml:1:24: defaults.retry: '2' " DURATION_FORM},
    {"a word for a policy", "defaults: {retry: fixed}\n",
     "jobs.yaml:1:19: defaults.retry: expected a map, not a value\n"},
};

START_TEST(a_wrong_value_is_refused_where_it_stands)
{
    folder_expect_for(refused[_i].rule, refused[_i].text, refused[_i].errors);
}
END_TEST

START_TEST(all_faults_are_reported_at_once)
{
    folder_expect_for("all", "pool:\n  num_workers: 0\n  lease: soon\nlog: {levl: info}\nx: 1\n",
                      "jobs.yaml:2:16: pool.num_workers: 0 is too small: use 1 to 1024\n"
                      "jobs.yaml:3:10: pool.lease: 'soon' " DURATION_FORM
                      "jobs.yaml:4:7: unknown key 'levl' in 'log' (did you mean 'level'?)\n"
                      "jobs.yaml:5:1: unknown key 'x'\n");
}
END_TEST

START_TEST(a_wrong_backend_does_not_show)
{
    folder_expect_for("secret", "backend: [postgres://ada:sesame@host/db]\n",
                      "jobs.yaml:1:10: backend: expected text, not a list\n");
    folder_expect_for("key", "backend: {x: postgres://ada:sesame@host/db}\n",
                      "jobs.yaml:1:10: backend: expected text, not a map\n");
}
END_TEST

static const struct {
    const char *rule;
    const char *text;
    const char *shell; /* or NULL */
    const char *argv[4];
} commands[] = {
    {"argv", "[/bin/echo, a, 'b c']", NULL, {"/bin/echo", "a", "b c"}},
    {"a text is for the shell", "echo a | wc", "echo a | wc", {NULL}},
    {"a program of PATH stays a word", "[python3, x.py]", NULL, {"python3", "x.py"}},
    {"one text in a list is no shell's", "['echo a']", NULL, {"echo a"}},
    {"arguments may be empty, and look like anything", "[x, '', 3]", NULL, {"x", "", "3"}},
};

START_TEST(a_command_is_argv_or_for_the_shell)
{
    CLEANUP(config_done) struct config config = {0};
    char text[256];

    snprintf(text, sizeof text, "handlers: {a: {command: %s}}\n", commands[_i].text);
    folder_load_text(text, &config);
    const struct command_line *command = &config.handlers[0].command;
    ck_assert_msg(command->shell == (commands[_i].shell != NULL), "%s", commands[_i].rule);
    if (command->shell) {
        ck_assert_str_eq(command->argv[0], "/bin/sh");
        ck_assert_str_eq(command->argv[1], "-c");
        ck_assert_str_eq(command->argv[2], commands[_i].shell);
    }
    for (size_t i = 0; !command->shell && i < command->count; i++)
        ck_assert_str_eq(command->argv[i], commands[_i].argv[i]);
    ck_assert_ptr_null(command->argv[command->count]);
}
END_TEST

static const struct {
    const char *rule;
    const char *path;
    const char *becomes; /* after the folder; or absolute */
} paths[] = {
    {"relative", "a.so", "/a.so"},
    {"with a dot", "./a.so", "/a.so"},
    {"deeper", "lib/a.so", "/lib/a.so"},
    {"above", "../a.so", "/../a.so"},
    {"the folder", ".", ""},
};

START_TEST(relative_paths_start_at_the_file)
{
    CLEANUP(config_done) struct config config = {0};
    char text[256], expected[512];

    snprintf(text, sizeof text, "handlers: {a: {plugin: %s}, b: {command: [./%s/x]}}\n",
             paths[_i].path, paths[_i].path);
    snprintf(expected, sizeof expected, "%s%s", folder_path(), paths[_i].becomes);
    folder_load_text(text, &config);
    ck_assert_msg(strcmp(config.handlers[0].plugin, expected) == 0, "%s, not %s", paths[_i].rule,
                  config.handlers[0].plugin);
    ck_assert_int_eq(config.handlers[1].command.argv[0][0], '/');
}
END_TEST

START_TEST(absolute_paths_stay)
{
    CLEANUP(config_done) struct config config = {0};

    folder_load_text("pool: {middleware: [/a.so, ./b.so]}\n", &config);
    ck_assert_uint_eq(config.pool.middleware.count, 2);
    ck_assert_str_eq(config.pool.middleware.items[0], "/a.so");
    ck_assert_str_eq(config.pool.middleware.items[1] + strlen(folder_path()), "/b.so");
}
END_TEST

static const struct {
    const char *yaml, *json;
} payloads[] = {
    {"{day: yesterday}", "{\"day\":\"yesterday\"}"},
    {"[1, -2.50, 1e3, 123456789012345678901234567890]",
     "[1,-2.50,1e3,123456789012345678901234567890]"},
    {"[true, false, null, ~]", "[true,false,null,null]"},
    {"['true', \"1\", 'null', '']", "[\"true\",\"1\",\"null\",\"\"]"},
    {"[yes, 0x10, .5, +1, 01, 1.2.3]", "[\"yes\",\"0x10\",\".5\",\"+1\",\"01\",\"1.2.3\"]"},
    {"{a: {b: [{c: d}, []]}, e: {}}", "{\"a\":{\"b\":[{\"c\":\"d\"},[]]},\"e\":{}}"},
    {"\"quote \\\" and \\n\"", "\"quote \\\" and \\n\""},
    {"text", "\"text\""},
    {"", "null"},
};

START_TEST(a_payload_is_the_json_that_says_the_same)
{
    CLEANUP(config_done) struct config config = {0};
    char text[256];

    snprintf(text, sizeof text,
             "cron:\n  n:\n    schedule: '@daily'\n    type: t\n    payload: %s\n",
             payloads[_i].yaml);
    folder_load_text(text, &config);
    ck_assert_str_eq((const char *)config.cron[0].payload.data, payloads[_i].json);
}
END_TEST

START_TEST(retry_policies_are_names_or_lists)
{
    CLEANUP(config_done) struct config config = {0};

    folder_load_text("defaults:\n"
                     "  retry: {policy: linear, base_delay: 2s, max_delay: 1m, jitter: 0.25}\n"
                     "handlers:\n"
                     "  a: {command: x}\n"
                     "  b: {command: x, retry: {base_delay: 5s}}\n"
                     "  c: {command: x, retry: [1s, 5s, 1m]}\n"
                     "  d: {command: x, retry: {policy: [7s], max_delay: 2m}}\n",
                     &config);
    const struct retry_policy *a = &config.handlers[0].retry, *b = &config.handlers[1].retry;
    const struct retry_policy *c = &config.handlers[2].retry, *d = &config.handlers[3].retry;
    ck_assert_int_eq(a->kind, RETRY_LINEAR);
    ck_assert_int_eq(a->base_delay, 2 * USEC_PER_SEC);
    ck_assert_double_eq_tol(a->jitter, 0.25, 1e-9);
    ck_assert_int_eq(b->kind, RETRY_LINEAR);
    ck_assert_int_eq(b->base_delay, 5 * USEC_PER_SEC);
    ck_assert_int_eq(b->max_delay, USEC_PER_MIN);
    ck_assert_int_eq(c->kind, RETRY_LIST);
    ck_assert_uint_eq(c->delay_count, 3);
    ck_assert_int_eq(c->delays[2], USEC_PER_MIN);
    ck_assert_int_eq(c->base_delay, 2 * USEC_PER_SEC);
    ck_assert_int_eq(d->kind, RETRY_LIST);
    ck_assert_int_eq(d->delays[0], 7 * USEC_PER_SEC);
    ck_assert_int_eq(d->max_delay, 2 * USEC_PER_MIN);
}
END_TEST

Suite *field_suite(void)
{
    Suite *suite = suite_create("config/field");
    TCase *wrong = tcase_create("wrong");
    TCase *right = tcase_create("right");

    tcase_add_checked_fixture(wrong, folder_setup, folder_teardown);
    tcase_add_loop_test(wrong, a_wrong_value_is_refused_where_it_stands, 0, COUNT_OF(refused));
    tcase_add_test(wrong, all_faults_are_reported_at_once);
    tcase_add_test(wrong, a_wrong_backend_does_not_show);
    suite_add_tcase(suite, wrong);

    tcase_add_checked_fixture(right, folder_setup, folder_teardown);
    tcase_add_loop_test(right, a_command_is_argv_or_for_the_shell, 0, COUNT_OF(commands));
    tcase_add_loop_test(right, relative_paths_start_at_the_file, 0, COUNT_OF(paths));
    tcase_add_test(right, absolute_paths_stay);
    tcase_add_loop_test(right, a_payload_is_the_json_that_says_the_same, 0, COUNT_OF(payloads));
    tcase_add_test(right, retry_policies_are_names_or_lists);
    suite_add_tcase(suite, right);
    return suite;
}

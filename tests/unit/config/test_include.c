/*
 * test_include.c - configs in several files.
 */
#include "base/cleanup.h"
#include "config/folder.h"
#include "config/include.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HANDLER ": {command: [x]}\n"

START_TEST(included_files_add_queues_handlers_and_cron)
{
    CLEANUP(config_done) struct config config = {0};

    folder_write("conf.d/b.yaml", "handlers:\n  b" HANDLER "queues: {bulk: {weight: 2}}\n");
    folder_write("conf.d/a.yaml",
                 "handlers:\n  a" HANDLER "cron: {c: {schedule: '@daily', type: t}}\n");
    folder_write("conf.d/.hidden.yaml", "nonsense: 1\n");
    folder_write("conf.d/notes.txt", "nonsense: 1\n");
    folder_load_text("include: [conf.d/*.yaml]\nhandlers:\n  main" HANDLER "queues: {mail: {}}\n",
                     &config);

    ck_assert_uint_eq(config.handler_count, 3);
    ck_assert_str_eq(config.handlers[0].pattern, "main");
    ck_assert_str_eq(config.handlers[1].pattern, "a");
    ck_assert_str_eq(config.handlers[2].pattern, "b");
    ck_assert_uint_eq(config.queue_count, 2);
    ck_assert_str_eq(config.queues[1].name, "bulk");
    ck_assert_int_eq(config.queues[1].weight, 2);
    ck_assert_uint_eq(config.cron_count, 1);
}
END_TEST

START_TEST(one_name_stands_for_a_list_of_one)
{
    CLEANUP(config_done) struct config config = {0};

    folder_write("more.yaml", "handlers:\n  a" HANDLER);
    folder_load_text("include: more.yaml\nhandlers:\n", &config);
    ck_assert_uint_eq(config.handler_count, 1);
}
END_TEST

START_TEST(paths_are_relative_to_the_file_they_stand_in)
{
    CLEANUP(config_done) struct config config = {0};
    char expected[512];

    folder_write("conf.d/a.yaml", "include: [more/*.yaml]\nhandlers: {a: {plugin: ./a.so}}\n");
    folder_write("conf.d/more/x", "");
    ck_assert_int_eq(unlink("conf.d/more/x"), 0);
    folder_write("conf.d/more/b.yaml", "handlers: {b: {plugin: b.so}}\n");
    folder_load_text("include: [conf.d/*.yaml]\n", &config);

    ck_assert_uint_eq(config.handler_count, 2);
    snprintf(expected, sizeof expected, "%s/conf.d/a.so", folder_path());
    ck_assert_str_eq(config.handlers[0].plugin, expected);
    snprintf(expected, sizeof expected, "%s/conf.d/more/b.so", folder_path());
    ck_assert_str_eq(config.handlers[1].plugin, expected);
    snprintf(expected, sizeof expected, "%s/conf.d", folder_path());
    ck_assert_str_eq(config.handlers[0].cwd, expected);
    ck_assert_str_eq(config.folder, folder_path());
}
END_TEST

/* Two files: jobs.yaml and a.yaml. */
static const struct {
    const char *rule;
    const char *jobs, *a;
    const char *errors;
} refused[] = {
    {"one handler in two files", "include: [a.yaml]\nhandlers:\n  x" HANDLER,
     "handlers:\n  y" HANDLER "  x" HANDLER, "a.yaml:3:3: key 'x' is here and at jobs.yaml:3:3\n"},
    {"one queue in two files", "queues:\n  q: {}\ninclude: [a.yaml]\n", "queues: {q: {}}\n",
     "a.yaml:1:10: key 'q' is here and at jobs.yaml:2:3\n"},
    {"what belongs into the main file", "include: [a.yaml]\n", "pool: {lease: 30s}\nbackend: x\n",
     "a.yaml:1:1: an included file may have queues, handlers, cron and include, not 'pool'\n"
     "a.yaml:2:1: an included file may have queues, handlers, cron and include, not 'backend'\n"},
    {"even if nothing comes after it", "include: [a.yaml]\n", "pol:\nhandlers:\npool: ~\n",
     "a.yaml:1:1: an included file may have queues, handlers, cron and include, not 'pol'\n"
     "a.yaml:3:1: an included file may have queues, handlers, cron and include, not 'pool'\n"},
    {"a section that is no map", "include: [a.yaml]\nqueues: {}\n", "queues: [q]\n",
     "a.yaml:1:9: queues: expected a map, not a list\n"},
    {"a file that is not there", "include: [b.yaml]\n", "",
     "jobs.yaml:1:11: include: there is no file 'b.yaml'\n"},
    {"a pattern may match nothing", "include: [b*.yaml]\n", "", ""},
    {"nothing to include", "include: []\n", "", ""},
    {"or less", "include:\n", "", ""},
    {"a map", "include: {a: b}\n", "",
     "jobs.yaml:1:10: include: expected the name of a file, such as conf.d/*.yaml\n"},
    {"an empty name", "include: ['']\n", "",
     "jobs.yaml:1:11: include: expected the name of a file, such as conf.d/*.yaml\n"},
    {"a file that includes itself", "include: [jobs.yaml]\n", "",
     "jobs.yaml:1:11: 'jobs.yaml' includes itself\n"},
    {"or by another", "include: [a.yaml]\n", "include: [jobs.yaml]\n",
     "a.yaml:1:11: 'jobs.yaml' includes itself\n"},
    {"or by another name", "include: [./jobs.yaml]\n", "",
     "jobs.yaml:1:11: './jobs.yaml' includes itself\n"},
    {"a file twice", "include: [a.yaml, ./a.yaml]\n", "",
     "jobs.yaml:1:19: './a.yaml' is included twice\n"},
    {"faults of all files at once", "include: [a.yaml]\npol: {}\n", "handlers: {x: {comand: y}}\n",
     "jobs.yaml:2:1: unknown key 'pol' (did you mean 'pool'?)\n"
     "a.yaml:1:16: unknown key 'comand' in 'handlers.x' (did you mean 'command'?)\n"},
    {"broken YAML in an included file", "include: [a.yaml]\npol: {}\n", "a: [\n",
     "jobs.yaml:2:1: unknown key 'pol' (did you mean 'pool'?)\n"
     "a.yaml:2:1: this is not valid YAML: did not find expected node content while parsing a flow "
     "node\n"},
    {"a missing variable in a name", "include: ['${TH_MISSING}']\n", "",
     "jobs.yaml:1:11: 'TH_MISSING' is not set in the environment (${NAME:-default} gives a "
     "default)\n"},
};

START_TEST(faults_of_includes_have_their_place)
{
    folder_write("a.yaml", refused[_i].a);
    folder_expect_for(refused[_i].rule, refused[_i].jobs, refused[_i].errors);
}
END_TEST

/* HUP with one in conf.d froze the master, and --check hung. */
START_TEST(a_fifo_is_refused_and_not_waited_for)
{
    ck_assert_int_eq(mkfifo("fifo.yaml", 0600), 0);
    folder_expect_for("by its name", "include: [fifo.yaml]\n",
                      "jobs.yaml:1:11: 'fifo.yaml': cannot be opened: it is not a regular file\n");
    folder_expect_for("by a pattern", "include: ['f*.yaml']\n",
                      "jobs.yaml:1:11: 'fifo.yaml': cannot be opened: it is not a regular file\n");
    folder_expect_for("a device", "include: [/dev/zero]\n",
                      "jobs.yaml:1:11: '/dev/zero': cannot be opened: it is not a regular file\n");
    ck_assert_int_eq(rename("fifo.yaml", "jobs.yaml"), 0);
    folder_expect("jobs.yaml", "jobs.yaml: cannot be opened: it is not a regular file\n");
    ck_assert_int_eq(unlink("jobs.yaml"), 0);
}
END_TEST

START_TEST(includes_have_a_depth)
{
    char name[32], text[64];

    for (size_t i = 1; i <= INCLUDE_DEPTH_MAX + 1; i++) {
        snprintf(name, sizeof name, "%zu.yaml", i);
        snprintf(text, sizeof text, "include: [%zu.yaml]\n", i + 1);
        folder_write(name, i <= INCLUDE_DEPTH_MAX ? text : "");
    }
    folder_expect_for("nine", "include: [1.yaml]\n",
                      "8.yaml:1:11: files include each other more than 8 levels deep\n");
    folder_expect_for("eight", "include: [2.yaml]\n", "");
}
END_TEST

Suite *include_suite(void)
{
    Suite *suite = suite_create("config/include");
    TCase *files = tcase_create("files");

    tcase_add_checked_fixture(files, folder_setup, folder_teardown);
    tcase_add_test(files, included_files_add_queues_handlers_and_cron);
    tcase_add_test(files, one_name_stands_for_a_list_of_one);
    tcase_add_test(files, paths_are_relative_to_the_file_they_stand_in);
    tcase_add_loop_test(files, faults_of_includes_have_their_place, 0, COUNT_OF(refused));
    tcase_add_test(files, a_fifo_is_refused_and_not_waited_for);
    tcase_add_test(files, includes_have_a_depth);
    suite_add_tcase(suite, files);
    return suite;
}

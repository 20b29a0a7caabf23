#include "../config/folder.h"
#include "base/error.h"
#include "base/text.h"
#include "master/invocation.h"
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define URL "postgres://user:secret@host/jobs"

static struct error err;

static void set_up(void)
{
    folder_setup();
    folder_write("bin/thd", "");
    folder_write("old/thd", "");
    ck_assert_int_eq(chmod("bin/thd", 0755), 0);
}

static const struct {
    const char *rule;
    const char *name, *folders;
    const char *found; /* after the test's folder, unless it is absolute; NULL: nowhere */
} searches[] = {
    {"an absolute path is what it is", "/usr/bin/thd", "", "/usr/bin/thd"},
    {"a relative one starts here", "bin/thd", "", "bin/thd"},
    {"and is kept, links and all", "./bin/../bin/thd", "", "./bin/../bin/thd"},
    {"a name is looked for", "thd", "nowhere:bin", "bin/thd"},
    {"and has to be a program", "thd", "old:bin", "bin/thd"},
    {"or is nowhere", "thd", "old:nowhere", NULL},
    {"as it is without folders", "thd", NULL, NULL},
};

START_TEST(it_is_found_as_it_was_started)
{
    char expected[256] = "";
    char *path = NULL;
    const char *found = searches[_i].found;

    const bool was_found = invocation_find(searches[_i].name, searches[_i].folders, &path, &err);
    ck_assert_msg(was_found == (found != NULL), "%s", searches[_i].rule);
    if (found)
        snprintf(expected, sizeof expected, "%s%s%s", found[0] == '/' ? "" : folder_path(),
                 found[0] == '/' ? "" : "/", found);
    ck_assert_msg(!found || text_equal(path, expected), "%s, not %s", searches[_i].rule, path);
    free(path);
}
END_TEST

static const struct {
    const char *rule;
    const char *before;
    const char *after;
} typed[] = {
    {"an argument of its own", "", URL},
    {"after its option", "--backend=", "--backend=" URL},
    {"or its letter", "-b", "-b" URL},
};

START_TEST(a_url_is_put_back_where_it_was_wiped)
{
    char argument[64];
    char *const argv[] = {"thd", "-n", "", argument, "--once", NULL};

    snprintf(argument, sizeof argument, "%s", typed[_i].before);
    const struct invocation invocation = {.argv = argv, .wiped = argument + strlen(argument)};
    char **arguments = invocation_arguments(&invocation, URL);
    ck_assert_msg(text_equal(arguments[3], typed[_i].after), "%s, not %s", typed[_i].rule,
                  arguments[3]);
    ck_assert_str_eq(arguments[2], "");
    ck_assert_str_eq(arguments[4], "--once");
    ck_assert_ptr_null(arguments[5]);
    free(arguments[3]);
    free(arguments);
}
END_TEST

START_TEST(without_one_all_stays_as_it_was)
{
    char *const argv[] = {"thd", "--config", "jobs.yaml", NULL};
    const struct invocation invocation = {.argv = argv};
    char **arguments = invocation_arguments(&invocation, URL);

    for (size_t i = 0; i < COUNT_OF(argv); i++)
        ck_assert_ptr_eq(arguments[i], argv[i]);
    free(arguments);
}
END_TEST

Suite *invocation_suite(void)
{
    Suite *suite = suite_create("master/invocation");
    TCase *finding = tcase_create("finding");
    TCase *arguments = tcase_create("arguments");

    tcase_add_checked_fixture(finding, set_up, folder_teardown);
    tcase_add_loop_test(finding, it_is_found_as_it_was_started, 0, COUNT_OF(searches));
    tcase_add_loop_test(arguments, a_url_is_put_back_where_it_was_wiped, 0, COUNT_OF(typed));
    tcase_add_test(arguments, without_one_all_stays_as_it_was);
    suite_add_tcase(suite, finding);
    suite_add_tcase(suite, arguments);
    return suite;
}

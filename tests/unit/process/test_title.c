/*
 * test_title.c - the title of this very process, and of a row of texts made by hand.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/io.h"
#include "process/title.h"
#include "suites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char row[] = "/bin/thd\0--check\0A=1\0B=two\0"
                    "behind";
static char *arguments[] = {row, row + 9, NULL};
static char *variables[] = {row + 17, row + 21, NULL};
static char **copies;

#define ROW_LENGTH 27 /* without what comes after it */

static void setup(void)
{
    environ = variables;
    ck_assert(title_init(2, arguments, &copies));
}

START_TEST(arguments_and_environment_stay_what_they_were)
{
    title_set("thd: %s", "dispatcher pool=web-1");
    ck_assert_str_eq(row, "thd: dispatcher pool=web-1");
    ck_assert_str_eq(copies[0], "/bin/thd");
    ck_assert_str_eq(copies[1], "--check");
    ck_assert_ptr_null(copies[2]);
    ck_assert_str_eq(getenv("A"), "1");
    ck_assert_str_eq(getenv("B"), "two");
    ck_assert_str_eq(program_invocation_name, "/bin/thd");
    ck_assert_str_eq(program_invocation_short_name, "thd");
}
END_TEST

START_TEST(a_title_is_cut_where_the_room_ends)
{
    title_set("%s", "a title that is much too long for the room that there is");
    ck_assert_str_eq(row, "a title that is much too l");
    ck_assert_str_eq(row + ROW_LENGTH, "behind");
}
END_TEST

START_TEST(nothing_is_left_of_what_was_there_before)
{
    static const char nothing[ROW_LENGTH];

    title_set("%s", "a rather long title");
    title_set("%s", "short");
    ck_assert_str_eq(row, "short");
    ck_assert_int_eq(memcmp(row + 5, nothing, ROW_LENGTH - 5), 0);
}
END_TEST

START_TEST(the_environment_can_still_be_changed)
{
    title_set("thd");
    ck_assert_int_eq(setenv("C", "three", 1), 0);
    ck_assert_int_eq(unsetenv("A"), 0);
    ck_assert_ptr_null(getenv("A"));
    ck_assert_str_eq(getenv("B"), "two");
    ck_assert_str_eq(getenv("C"), "three");
}
END_TEST

START_TEST(what_does_not_lie_behind_the_arguments_is_left_alone)
{
    static char apart[] = "A=1";
    static char *elsewhere[] = {apart, NULL};

    environ = elsewhere;
    ck_assert(title_init(2, arguments, &copies));
    title_set("%s", "a title that is much too long for the room that there is");
    ck_assert_str_eq(row, "a title that is ");
    ck_assert_str_eq(row + 17, "A=1");
    ck_assert_str_eq(apart, "A=1");
    ck_assert_str_eq(getenv("A"), "1");
}
END_TEST

START_TEST(without_room_nothing_happens)
{
    title_set("before title_init()");
    ck_assert(title_init(0, arguments + 2, &copies));
    title_set("without arguments");
    ck_assert_ptr_null(copies[0]);
    ck_assert_str_eq(row, "/bin/thd");
}
END_TEST

static void read_file(const char *path, struct buffer *text)
{
    struct error err;

    ck_assert_msg(io_read_file(path, text, &err), "%s", err.text);
}

/* Where the kernel put the arguments of this process: fields 48 and 49 of its stat. */
static void find_arguments(uintptr_t *start_out, uintptr_t *end_out)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(10000);

    read_file("/proc/self/stat", &text);
    const char *at = strrchr(buffer_str(&text), ')');
    for (int field = 2; field < 48; field++)
        at = strchr(at, ' ') + 1;
    ck_assert_int_eq(sscanf(at, "%" SCNuPTR " %" SCNuPTR, start_out, end_out), 2);
}

static char **collect_arguments(int *count_out)
{
    static char *found[64];
    uintptr_t at = 0, end = 0;

    *count_out = 0;
    find_arguments(&at, &end);
    for (; at < end && *count_out < 63; at += strlen((char *)at) + 1)
        found[(*count_out)++] = (char *)at;
    return found;
}

START_TEST(the_kernel_shows_the_title)
{
    CLEANUP(buffer_done) struct buffer shown = BUFFER(100000);
    int count = 0;

    if (under_valgrind())
        return;
    char **real = collect_arguments(&count);

    ck_assert(title_init(count, real, &copies));
    title_set("thd: worker %d %s", 3, "email:send 0193b1c4-0000-7000-8000-000000000000");
    read_file("/proc/self/cmdline", &shown);
    ck_assert_str_eq(buffer_str(&shown),
                     "thd: worker 3 email:send 0193b1c4-0000-7000-8000-000000000000");
    buffer_clear(&shown);
    title_set("thd: x");
    read_file("/proc/self/cmdline", &shown);
    ck_assert_str_eq(buffer_str(&shown), "thd: x");
}
END_TEST

Suite *title_suite(void)
{
    Suite *suite = suite_create("process/title");
    TCase *by_hand = tcase_create("by hand");
    TCase *special = tcase_create("special");

    tcase_add_checked_fixture(by_hand, setup, NULL);
    tcase_add_test(by_hand, arguments_and_environment_stay_what_they_were);
    tcase_add_test(by_hand, a_title_is_cut_where_the_room_ends);
    tcase_add_test(by_hand, nothing_is_left_of_what_was_there_before);
    tcase_add_test(by_hand, the_environment_can_still_be_changed);
    suite_add_tcase(suite, by_hand);
    tcase_add_test(special, what_does_not_lie_behind_the_arguments_is_left_alone);
    tcase_add_test(special, without_room_nothing_happens);
    tcase_add_test(special, the_kernel_shows_the_title);
    suite_add_tcase(suite, special);
    return suite;
}

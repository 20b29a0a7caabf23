/*
 * test_print_file.c - what a plugin prints: seen by its worker, found after its death, and forged.
 */
#include "base/arena.h"
#include "base/error.h"
#include "process/print_file.h"
#include "suites.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALL PRINT_FILE_SIZE

static const struct hold own = {3, 4};
static int ends[2];
static struct print_file file;
static struct arena arena;
static struct error err;

static void setup(void)
{
    ck_assert_msg(print_file_make(ends, &err), "%s", err.text);
    ck_assert_msg(print_file_open(&file, ends[1], &err), "%s", err.text);
    print_file_begin(&file, own);
}

static void teardown(void)
{
    arena_done(&arena);
    print_file_close(&file);
    print_file_close(&file);
    close(ends[0]);
    close(ends[1]);
}

static void print(const char *text)
{
    ck_assert_int_eq(write(ends[1], text, strlen(text)), (ssize_t)strlen(text));
}

static void add(const char *text)
{
    print_file_add(&file, (struct bytes){(const unsigned char *)text, strlen(text)});
}

static void assert_text(struct bytes bytes, const char *text)
{
    ck_assert_uint_eq(bytes.length, strlen(text));
    ck_assert(memcmp(bytes.data, text, bytes.length) == 0);
}

static struct print_record read_back(size_t most)
{
    struct print_record record;

    ck_assert_msg(print_file_read(ends[0], most, &arena, &record, &err), "%s", err.text);
    return record;
}

START_TEST(what_is_printed_is_news_once)
{
    ck_assert_uint_eq(print_file_news(&file).length, 0);
    print("one\n");
    print("two");
    assert_text(print_file_news(&file), "one\ntwo");
    ck_assert_uint_eq(print_file_news(&file).length, 0);
    print("\nthree\n");
    assert_text(print_file_news(&file), "\nthree\n");
}
END_TEST

START_TEST(a_dispatcher_finds_all_of_it_in_order_and_what_of_it_was_news)
{
    print("printed\n");
    ck_assert_uint_eq(print_file_news(&file).length, 8);
    add("logged");
    print("last words\n");
    const struct print_record record = read_back(ALL);
    ck_assert(hold_equal(record.hold, own));
    assert_text(record.output, "printed\nlogged\nlast words\n");
    ck_assert_uint_eq(record.told, strlen("printed\nlogged\n"));
}
END_TEST

START_TEST(of_much_the_end_is_found)
{
    print("a beginning and the end\n");
    const struct print_record record = read_back(8);
    assert_text(record.output, "the end\n");
    ck_assert_uint_eq(record.told, 0);
}
END_TEST

START_TEST(a_line_that_was_added_is_no_news)
{
    add("logged");
    ck_assert_uint_eq(print_file_news(&file).length, 0);
    print("printed");
    assert_text(print_file_news(&file), "printed");
}
END_TEST

START_TEST(the_next_run_begins_with_nothing)
{
    const struct hold next = {5, 6};

    add("logged");
    print("printed\n");
    print_file_begin(&file, next);
    ck_assert_uint_eq(print_file_news(&file).length, 0);
    const struct print_record record = read_back(ALL);
    ck_assert(hold_equal(record.hold, next));
    ck_assert_uint_eq(record.output.length, 0);
}
END_TEST

/* As a plugin does that prints, and calls one of our functions now and then. */
START_TEST(who_is_looked_at_may_print_without_end)
{
    char line[1001];

    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 2] = '\n';
    line[sizeof line - 1] = '\0';
    for (int i = 0; i < 5000; i++) {
        print(line);
        ck_assert_uint_eq(print_file_news(&file).length, sizeof line - 1);
        print_file_make_room(&file);
    }
    print("the end\n");
    const struct print_record record = read_back(8);
    assert_text(record.output, "the end\n");
    ck_assert_uint_ge(read_back(ALL).output.length, ALL / 4);
}
END_TEST

START_TEST(who_is_not_looked_at_prints_into_nothing_at_last)
{
    static char much[PRINT_FILE_SIZE];

    memset(much, 'x', sizeof much);
    const ssize_t taken = write(ends[1], much, sizeof much);
    ck_assert(taken > 0 && (size_t)taken < sizeof much);
    ck_assert_int_lt(write(ends[1], "x", 1), 0);
    ck_assert_uint_eq(print_file_news(&file).length, (size_t)taken);
    print_file_make_room(&file);
    print("room again\n");
    assert_text(print_file_news(&file), "room again\n");
}
END_TEST

START_TEST(bytes_that_are_no_text_are_kept)
{
    ck_assert_int_eq(write(ends[1], "a\0b\xff\n", 5), 5);
    ck_assert_uint_eq(print_file_news(&file).length, 5);
    ck_assert(memcmp(read_back(ALL).output.data, "a\0b\xff\n", 5) == 0);
}
END_TEST

/* Where a plugin has set the offset to, and what it has written over the head. */
static const struct {
    const char *rule;
    off_t offset;
    int filler;
} forgeries[] = {
    {"before the text", 0, 0},
    {"far behind it", (off_t)1 << 40, 0},
    {"at its end", (off_t)ALL, 0xff},
    {"a head of nonsense", 100, 0xff},
};

START_TEST(what_a_plugin_forges_is_believed_within_bounds)
{
    memset(file.memory, forgeries[_i].filler, 64);
    ck_assert_int_ge(lseek(ends[1], forgeries[_i].offset, SEEK_SET), 0);
    const struct print_record record = read_back(ALL);
    ck_assert_uint_lt(record.output.length, ALL);
    ck_assert_uint_le(record.told, record.output.length);
}
END_TEST

/* As rewind(stdout) does. */
START_TEST(who_prints_over_the_head_is_heard_again_in_the_next_run)
{
    ck_assert_int_eq(lseek(ends[1], 0, SEEK_SET), 0);
    print("from the start\n");
    ck_assert_uint_eq(print_file_news(&file).length, 0);
    print_file_begin(&file, own);
    print("honest\n");
    assert_text(print_file_news(&file), "honest\n");
    ck_assert(hold_equal(read_back(ALL).hold, own));
}
END_TEST

START_TEST(nobody_can_make_it_shorter_or_longer)
{
    ck_assert_int_lt(ftruncate(ends[1], 0), 0);
    ck_assert_int_lt(ftruncate(ends[1], (off_t)ALL + 1), 0);
}
END_TEST

START_TEST(where_there_is_none_nothing_is_printed)
{
    struct print_file none = {0};

    print_file_begin(&none, own);
    print_file_add(&none, (struct bytes){(const unsigned char *)"x", 1});
    ck_assert_uint_eq(print_file_news(&none).length, 0);
    print_file_close(&none);
}
END_TEST

Suite *print_file_suite(void)
{
    Suite *suite = suite_create("process/print_file");
    TCase *tests = tcase_create("print_file");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, what_is_printed_is_news_once);
    tcase_add_test(tests, a_dispatcher_finds_all_of_it_in_order_and_what_of_it_was_news);
    tcase_add_test(tests, of_much_the_end_is_found);
    tcase_add_test(tests, a_line_that_was_added_is_no_news);
    tcase_add_test(tests, the_next_run_begins_with_nothing);
    tcase_add_test(tests, who_is_looked_at_may_print_without_end);
    tcase_add_test(tests, who_is_not_looked_at_prints_into_nothing_at_last);
    tcase_add_test(tests, bytes_that_are_no_text_are_kept);
    tcase_add_loop_test(tests, what_a_plugin_forges_is_believed_within_bounds, 0,
                        COUNT_OF(forgeries));
    tcase_add_test(tests, who_prints_over_the_head_is_heard_again_in_the_next_run);
    tcase_add_test(tests, nobody_can_make_it_shorter_or_longer);
    tcase_add_test(tests, where_there_is_none_nothing_is_printed);
    suite_add_tcase(suite, tests);
    return suite;
}

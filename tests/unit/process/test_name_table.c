/*
 * test_name_table.c - names that are counted by.
 */
#include "process/name_table.h"

#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct name_table *new_table(void)
{
    struct name_table *table = calloc(1, sizeof *table);

    ck_assert_ptr_nonnull(table);
    return table;
}

static size_t place_of(struct name_table *table, unsigned number)
{
    char name[32];

    snprintf(name, sizeof name, "type-%u", number);
    return name_table_place(table, name);
}

START_TEST(a_name_keeps_its_place)
{
    struct name_table *table = new_table();

    for (unsigned i = 0; i < NAME_TABLE_MAX; i++)
        ck_assert_uint_eq(place_of(table, i), i);
    for (unsigned i = NAME_TABLE_MAX; i-- > 0;)
        ck_assert_uint_eq(place_of(table, i), i);
    ck_assert_str_eq(name_table_name(table, 7), "type-7");
    ck_assert_ptr_null(name_table_name(table, NAME_TABLE_OTHER));
    free(table);
}
END_TEST

START_TEST(all_after_the_last_are_other)
{
    struct name_table *table = new_table();

    for (unsigned i = 0; i < 10 * NAME_TABLE_MAX; i++)
        place_of(table, i);
    ck_assert_uint_eq(place_of(table, NAME_TABLE_MAX), NAME_TABLE_OTHER);
    ck_assert_uint_eq(place_of(table, 7), 7);
    ck_assert_str_eq(name_table_name(table, NAME_TABLE_OTHER), "other");
    free(table);
}
END_TEST

START_TEST(there_are_no_two_that_are_called_other)
{
    struct name_table *table = new_table();

    ck_assert_uint_eq(name_table_place(table, "other"), NAME_TABLE_OTHER);
    ck_assert_ptr_null(name_table_name(table, 0));
    free(table);
}
END_TEST

START_TEST(a_name_that_is_too_long_is_other)
{
    struct name_table *table = new_table();
    char name[JOB_NAME_MAX + 2];

    memset(name, 'x', sizeof name - 1);
    name[JOB_NAME_MAX + 1] = '\0';
    ck_assert_uint_eq(name_table_place(table, name), NAME_TABLE_OTHER);
    name[JOB_NAME_MAX] = '\0';
    ck_assert_uint_eq(name_table_place(table, name), 0);
    free(table);
}
END_TEST

START_TEST(a_writer_that_was_killed_between_the_slot_and_the_count_left_nothing)
{
    struct name_table *table = new_table();

    place_of(table, 1);
    place_of(table, 2);
    atomic_store(&table->count, 1);
    table->last = 0;
    ck_assert_ptr_null(name_table_name(table, 1));
    ck_assert_uint_eq(place_of(table, 2), 1);
    ck_assert_str_eq(name_table_name(table, 1), "type-2");
    ck_assert_uint_eq(place_of(table, 3), 2);
    free(table);
}
END_TEST

Suite *name_table_suite(void)
{
    Suite *suite = suite_create("process/name_table");
    TCase *names = pure_case("names");

    tcase_add_test(names, a_name_keeps_its_place);
    tcase_add_test(names, all_after_the_last_are_other);
    tcase_add_test(names, there_are_no_two_that_are_called_other);
    tcase_add_test(names, a_name_that_is_too_long_is_other);
    tcase_add_test(names, a_writer_that_was_killed_between_the_slot_and_the_count_left_nothing);
    suite_add_tcase(suite, names);
    return suite;
}

/*
 * test_tags.c - tags as the one text that a store keeps, and back.
 */
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "job/tags.h"
#include "suites.h"

#include <check.h>
#include <string.h>

static const struct {
    const char *rule, *text, *read;
} rows[] = {
    {"one", "a", "a"},
    {"in their order", "b a c:1", "b a c:1"},
    {"none", NULL, NULL},
    {"nothing is none", "", NULL},
    {"what is not a name was written by somebody else", "a b/c d", "a d"},
    {"spaces more than there should be", "  a  b ", "a b"},
    {"more than there can be", "1 2 3 4 5 6 7 8 9", "1 2 3 4 5 6 7 8"},
};

START_TEST(a_text_is_read_and_written)
{
    CLEANUP(arena_done) struct arena arena = {0};
    char text[TAGS_TEXT_SIZE];
    const struct tags tags = tags_parse(rows[_i].text, &arena);

    ck_assert_msg(text_equal(tags_format(tags, text), rows[_i].read), "%s", rows[_i].rule);
}
END_TEST

START_TEST(the_longest_tags_have_room)
{
    CLEANUP(arena_done) struct arena arena = {0};
    char long_text[TAGS_TEXT_SIZE], text[TAGS_TEXT_SIZE];

    memset(long_text, 'x', sizeof long_text);
    for (size_t i = 128; i < sizeof long_text; i += 129)
        long_text[i] = ' ';
    long_text[sizeof long_text - 1] = '\0';
    const struct tags tags = tags_parse(long_text, &arena);
    ck_assert_uint_eq(tags.count, TAGS_MAX);
    ck_assert_str_eq(tags_format(tags, text), long_text);
}
END_TEST

START_TEST(a_tag_is_found_by_its_whole_name)
{
    const struct tags tags = {(const char *const[]){"mail", "urgent"}, 2};

    ck_assert(tags_have(tags, "mail") && tags_have(tags, "urgent"));
    ck_assert(!tags_have(tags, "mai") && !tags_have(tags, "mails"));
    ck_assert(!tags_have((struct tags){0}, "mail"));
}
END_TEST

START_TEST(a_copy_lasts_when_the_first_is_gone)
{
    CLEANUP(arena_done) struct arena arena = {0};
    char text[TAGS_TEXT_SIZE], name[] = "mail";
    const char *const names[] = {name, "b"};
    const struct tags copy = tags_copy((struct tags){names, 2}, &arena);

    memset(name, 'x', 4);
    ck_assert_str_eq(tags_format(copy, text), "mail b");
    ck_assert_uint_eq(tags_copy((struct tags){0}, &arena).count, 0);
}
END_TEST

Suite *tags_suite(void)
{
    Suite *suite = suite_create("job/tags");
    TCase *tags = pure_case("tags");

    tcase_add_loop_test(tags, a_text_is_read_and_written, 0, COUNT_OF(rows));
    tcase_add_test(tags, the_longest_tags_have_room);
    tcase_add_test(tags, a_tag_is_found_by_its_whole_name);
    tcase_add_test(tags, a_copy_lasts_when_the_first_is_gone);
    suite_add_tcase(suite, tags);
    return suite;
}

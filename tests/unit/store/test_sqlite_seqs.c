#include "store/sqlite/codec/seqs.h"

#include "base/cleanup.h"
#include "suites.h"

#include <check.h>

#define MOST 4

static const struct {
    const char *rule, *text;
    size_t count;
    int64_t seqs[MOST];
    bool is_ours; /* it is written like that, too */
} lists[] = {
    {"one", "[7]", 1, {7}, true},
    {"several", "[7,8,10]", 3, {7, 8, 10}, true},
    {"null is 0, wherever it stands", "[null,8,null,10]", 4, {0, 8, 0, 10}, true},
    {"all of them null", "[null,null]", 2, {0, 0}, true},
    {"the largest number", "[9223372036854775807]", 1, {INT64_MAX}, true},
    {"a number that is none of ours is nobody", "[7,99999999999999999999,8]", 3, {7, 0, 8}, false},
    {"what is no number is nobody", "[7,\"x\",-3,8]", 4, {7, 0, 0, 8}, false},
    {"nothing at all is nobody", "", 1, {0}, false},
    {"no list", "{}", 1, {0}, false},
};

START_TEST(a_list_of_seqs_is_read_as_it_was_written)
{
    int64_t seqs[MOST] = {1, 1, 1, 1};

    ck_assert_msg(sqlite_seqs_count(lists[_i].text) == lists[_i].count, "%s", lists[_i].rule);
    sqlite_seqs_read(lists[_i].text, seqs, lists[_i].count);
    for (size_t i = 0; i < lists[_i].count; i++)
        ck_assert_msg(seqs[i] == lists[_i].seqs[i], "%s: %" PRId64, lists[_i].rule, seqs[i]);
    AUTO_FREE char *text = sqlite_seqs_write(lists[_i].seqs, lists[_i].count);
    ck_assert_ptr_nonnull(text);
    if (lists[_i].is_ours)
        ck_assert_str_eq(text, lists[_i].text);
}
END_TEST

Suite *sqlite_seqs_suite(void)
{
    Suite *suite = suite_create("store/sqlite_seqs");
    TCase *group = pure_case("seqs");

    tcase_add_loop_test(group, a_list_of_seqs_is_read_as_it_was_written, 0, COUNT_OF(lists));
    suite_add_tcase(suite, group);
    return suite;
}

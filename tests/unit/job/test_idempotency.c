/*
 * test_idempotency.c - which keys count, and how long their records hold.
 */
#include "job/idempotency.h"
#include "suites.h"

#include <check.h>

static const struct {
    const char *rule;
    const char *key;
    bool counts;
} keys[] = {
    {"no key does not count", NULL, false},
    {"an empty one does not", "", false},
    {"nor does one of spaces", "   ", false},
    {"nor of any other white space", " \t\r\n\v\f", false},
    {"a letter counts", "a", true},
    {"spaces around it do not matter", "  a  ", true},
    {"it may be any language", "größe", true},
};

START_TEST(a_blank_key_is_an_absent_one)
{
    ck_assert_msg(idempotency_key_counts(keys[_i].key) == keys[_i].counts, "%s", keys[_i].rule);
}
END_TEST

START_TEST(a_record_holds_until_its_expiry)
{
    ck_assert(idempotency_holds(1000, 999));
    ck_assert(!idempotency_holds(1000, 1000));
    ck_assert(!idempotency_holds(1000, 1001));
}
END_TEST

START_TEST(the_window_is_a_day_unless_configured)
{
    ck_assert_int_eq(IDEMPOTENCY_WINDOW_DEFAULT, 86400000000);
}
END_TEST

Suite *idempotency_suite(void)
{
    Suite *suite = suite_create("job/idempotency");
    TCase *record = pure_case("record");

    tcase_add_loop_test(record, a_blank_key_is_an_absent_one, 0, COUNT_OF(keys));
    tcase_add_test(record, a_record_holds_until_its_expiry);
    tcase_add_test(record, the_window_is_a_day_unless_configured);
    suite_add_tcase(suite, record);
    return suite;
}

#include "job/aside.h"
#include "suites.h"

#include <check.h>

#define NOW ((usec_t)1800000000 * USEC_PER_SEC)

static const struct {
    const char *rule;
    enum job_aside why;
    usec_t failing_since, due, since;
} moments[] = {
    {"a job without handler is aside from now on", ASIDE_NO_HANDLER, 0, NOW - 9, NOW},
    {"however long ago it was due, or something failed", ASIDE_NO_HANDLER, NOW - 5, NOW - 9, NOW},
    {"what cannot be started is aside since the handler fails", ASIDE_CANNOT_START, NOW - 5,
     NOW - 9, NOW - 5},
    {"but not since before it was due", ASIDE_CANNOT_START, NOW - 9, NOW - 5, NOW - 5},
    {"nor since a time to come", ASIDE_CANNOT_START, NOW - 9, NOW + 5, NOW},
    {"a handler that fails since now", ASIDE_CANNOT_START, 0, NOW - 5, NOW},
};

START_TEST(a_job_counts_as_aside_since)
{
    ck_assert_msg(aside_since(moments[_i].why, moments[_i].failing_since, moments[_i].due, NOW) ==
                      moments[_i].since,
                  "%s", moments[_i].rule);
}
END_TEST

START_TEST(a_day_is_enough_and_an_hour_more_for_who_does_not_know_the_handler)
{
    ck_assert_int_eq(aside_cutoff(NOW), NOW - USEC_PER_DAY);
    ck_assert_int_eq(aside_cutoff_of_strangers(ASIDE_NO_HANDLER, NOW), NOW - USEC_PER_DAY);
    ck_assert_int_eq(aside_cutoff_of_strangers(ASIDE_CANNOT_START, NOW),
                     NOW - USEC_PER_DAY - USEC_PER_HOUR);
}
END_TEST

/* clang-format off */
static const struct {
    enum job_aside why;
    int number;
    const char *name, *words;
    enum job_reason reason;
} reasons[] = {
    {ASIDE_NONE,         0, NULL,           NULL,           REASON_NONE},
    {ASIDE_NO_HANDLER,   1, "no_handler",   "no handler",   REASON_NO_HANDLER},
    {ASIDE_CANNOT_START, 2, "cannot_start", "cannot start", REASON_CANNOT_START},
};
/* clang-format on */

START_TEST(a_reason_keeps_its_number_its_word_and_its_death)
{
    const enum job_aside why = reasons[_i].why;

    ck_assert_int_eq((int)why, reasons[_i].number);
    ck_assert_pstr_eq(aside_name(why), reasons[_i].name);
    ck_assert_pstr_eq(aside_words(why), reasons[_i].words);
    ck_assert_int_eq(aside_reason(why), reasons[_i].reason);
    ck_assert_int_eq(aside_epitaph(why) != NULL, why != ASIDE_NONE);
}
END_TEST

Suite *aside_suite(void)
{
    Suite *suite = suite_create("job/aside");
    TCase *rules = pure_case("rules");

    tcase_add_loop_test(rules, a_job_counts_as_aside_since, 0, COUNT_OF(moments));
    tcase_add_test(rules, a_day_is_enough_and_an_hour_more_for_who_does_not_know_the_handler);
    tcase_add_loop_test(rules, a_reason_keeps_its_number_its_word_and_its_death, 0,
                        COUNT_OF(reasons));
    suite_add_tcase(suite, rules);
    return suite;
}

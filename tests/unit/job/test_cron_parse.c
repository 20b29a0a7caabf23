/*
 * test_cron_parse.c - schedules as people write them, and what is said of those that are wrong.
 */
#include "job/cron_parse.h"

#include "base/error.h"
#include "suites.h"

#include <check.h>
#include <string.h>

#define ALL_HOURS    0xffffff
#define ALL_MINUTES  0xfffffffffffffff
#define ALL_DAYS     0xfffffffe
#define ALL_MONTHS   0x1ffe
#define ALL_WEEKDAYS 0x7f

/* clang-format off */
static const struct {
    const char *rule, *text;
    struct cron cron;
} accepted[] = {
    {"stars", "* * * * *",
     {1, ALL_MINUTES, ALL_HOURS, ALL_DAYS, ALL_MONTHS, ALL_WEEKDAYS, true, false}},
    {"six fields have seconds", "* * * * * *",
     {ALL_MINUTES, ALL_MINUTES, ALL_HOURS, ALL_DAYS, ALL_MONTHS, ALL_WEEKDAYS, true, false}},
    {"numbers", "30 5 4 3 2",
     {1, (uint64_t)1 << 30, 1 << 5, 1 << 4, 1 << 3, 1 << 2, false, true}},
    {"spaces and tabs", "  30\t5  4 3   2 ",
     {1, (uint64_t)1 << 30, 1 << 5, 1 << 4, 1 << 3, 1 << 2, false, true}},
    {"lists", "0,2,4 1,3 * * *",
     {1, 0x15, 0xa, ALL_DAYS, ALL_MONTHS, ALL_WEEKDAYS, false, false}},
    {"ranges", "0-3 22-23 * * *",
     {1, 0xf, 0xc00000, ALL_DAYS, ALL_MONTHS, ALL_WEEKDAYS, false, false}},
    {"steps", "*/20 */12 * * *",
     {1, 0x10000100001, 0x1001, ALL_DAYS, ALL_MONTHS, ALL_WEEKDAYS, true, false}},
    {"steps of ranges", "0 10-20/5 * * *",
     {1, 1, 0x108400, ALL_DAYS, ALL_MONTHS, ALL_WEEKDAYS, true, false}},
    {"a list of all of it", "0 1,4-6,20-23/3 * * *",
     {1, 1, 0x900072, ALL_DAYS, ALL_MONTHS, ALL_WEEKDAYS, true, false}},
    {"a star within a list", "0 1,* * * *",
     {1, 1, ALL_HOURS, ALL_DAYS, ALL_MONTHS, ALL_WEEKDAYS, true, false}},
    {"a range of all hours is fixed hours", "0 0-23 * * *",
     {1, 1, ALL_HOURS, ALL_DAYS, ALL_MONTHS, ALL_WEEKDAYS, false, false}},
    {"names of months", "0 0 1 jan,MAR-May *",
     {1, 1, 1, 2, 0x3a, ALL_WEEKDAYS, false, false}},
    {"names of days", "0 0 * * Mon,wed-FRI",
     {1, 1, 1, ALL_DAYS, ALL_MONTHS, 0x3a, false, false}},
    {"Sunday is 0", "0 0 * * 0", {1, 1, 1, ALL_DAYS, ALL_MONTHS, 1, false, false}},
    {"Sunday is 7", "0 0 * * 7", {1, 1, 1, ALL_DAYS, ALL_MONTHS, 1, false, false}},
    {"Sunday is SUN", "0 0 * * SUN", {1, 1, 1, ALL_DAYS, ALL_MONTHS, 1, false, false}},
    {"a range may end with it", "0 0 * * 5-7", {1, 1, 1, ALL_DAYS, ALL_MONTHS, 0x61, false, false}},
    {"by name, too", "0 0 * * FRI-SUN", {1, 1, 1, ALL_DAYS, ALL_MONTHS, 0x61, false, false}},
    {"or start with it", "0 0 * * SUN-TUE", {1, 1, 1, ALL_DAYS, ALL_MONTHS, 7, false, false}},
    {"days with a star and a step do not widen", "0 0 */10 * 1",
     {1, 1, 1, 0x80200802, ALL_MONTHS, 2, false, false}},
    {"yearly", "@yearly", {1, 1, 1, 2, 2, ALL_WEEKDAYS, false, false}},
    {"annually", "@annually", {1, 1, 1, 2, 2, ALL_WEEKDAYS, false, false}},
    {"monthly", "@monthly", {1, 1, 1, 2, ALL_MONTHS, ALL_WEEKDAYS, false, false}},
    {"weekly", "@weekly", {1, 1, 1, ALL_DAYS, ALL_MONTHS, 1, false, false}},
    {"daily", "@Daily", {1, 1, 1, ALL_DAYS, ALL_MONTHS, ALL_WEEKDAYS, false, false}},
    {"midnight", "@midnight", {1, 1, 1, ALL_DAYS, ALL_MONTHS, ALL_WEEKDAYS, false, false}},
    {"hourly", "@hourly", {1, 1, ALL_HOURS, ALL_DAYS, ALL_MONTHS, ALL_WEEKDAYS, true, false}},
    {"a leap day comes", "0 0 29 2 *", {1, 1, 1, 1 << 29, 4, ALL_WEEKDAYS, false, false}},
    {"a day that never comes is no fault beside one that does", "0 0 30 2 1",
     {1, 1, 1, 1 << 30, 4, 2, false, true}},
};
/* clang-format on */

START_TEST(a_schedule_is_read)
{
    const struct cron *wanted = &accepted[_i].cron;
    struct cron cron = {0};
    struct error err;

    ck_assert_msg(cron_parse(accepted[_i].text, &cron, &err), "%s: %s", accepted[_i].rule,
                  err.text);
    ck_assert_uint_eq(cron.seconds, wanted->seconds);
    ck_assert_uint_eq(cron.minutes, wanted->minutes);
    ck_assert_uint_eq(cron.hours, wanted->hours);
    ck_assert_uint_eq(cron.days, wanted->days);
    ck_assert_uint_eq(cron.months, wanted->months);
    ck_assert_uint_eq(cron.weekdays, wanted->weekdays);
    ck_assert_msg(cron.hours_repeat == wanted->hours_repeat, "%s", accepted[_i].rule);
    ck_assert_msg(cron.either_day == wanted->either_day, "%s", accepted[_i].rule);
}
END_TEST

#define FIELDS                                                                                     \
    "a schedule has five fields, minute, hour, day of month, month and day of week, or six with "  \
    "the second before them; this one has "
#define NO_STEP  "has no step that can be used"
#define NO_RANGE "has a step but no range: write it as FIRST-LAST/STEP"

static const struct {
    const char *text, *reason;
} refused[] = {
    {"", FIELDS "0"},
    {"   ", FIELDS "0"},
    {"s", FIELDS "1"},
    {"* * * *", FIELDS "4"},
    {"* * * * * * *", FIELDS "7"},
    {"60 * * * *", "minute '60' is not within 0 to 59"},
    {"-1 * * * *", "minute '' is not within 0 to 59"},
    {"* 24 * * *", "hour '24' is not within 0 to 23"},
    {"* * 0 * *", "day of month '0' is not within 1 to 31"},
    {"* * 32 * *", "day of month '32' is not within 1 to 31"},
    {"* * * 13 *", "month '13' is not within 1 to 12, or JAN to DEC"},
    {"* * * JANUARY *", "month 'JANUARY' is not within 1 to 12, or JAN to DEC"},
    {"* * * * 8", "day of week '8' is not within 0 to 7, or SUN to SAT"},
    {"* * * * FEB", "day of week 'FEB' is not within 0 to 7, or SUN to SAT"},
    {"60 * * * * *", "second '60' is not within 0 to 59"},
    {"MON * * * *", "minute 'MON' is not within 0 to 59"},
    {"1,,2 * * * *", "minute '' is not within 0 to 59"},
    {"1, * * * *", "minute '' is not within 0 to 59"},
    {"+5 * * * *", "minute '+5' is not within 0 to 59"},
    {"5.5 * * * *", "minute '5.5' is not within 0 to 59"},
    {"99999999999999999999 * * * *", "minute '99999999999999999999' is not within 0 to 59"},
    {"* 20-10 * * *", "hour '20-10' runs backwards"},
    {"* * * * SAT-MON", "day of week 'SAT-MON' runs backwards"},
    {"1-2-3 * * * *", "minute '2-3' is not within 0 to 59"},
    {"*/0 * * * *", "minute '*/0' " NO_STEP},
    {"*/ * * * *", "minute '*/' " NO_STEP},
    {"*/-5 * * * *", "minute '*/-5' " NO_STEP},
    {"*/60 * * * *", "minute '*/60' " NO_STEP},
    {"*/5/5 * * * *", "minute '*/5/5' " NO_STEP},
    {"5/15 * * * *", "minute '5/15' " NO_RANGE},
    {"** * * * *", "minute '**' is not within 0 to 59"},
    {"* * ? * *", "day of month '?' is not within 1 to 31"},
    {"* * L * *", "day of month 'L' is not within 1 to 31"},
    {"* \x1b[2J * * *", "hour '\\x1b[2J' is not within 0 to 23"},
    {"@dayly", "'@dayly' is not a schedule (did you mean '@daily'?)"},
    {"@reboot", "'@reboot' is not a schedule: use @yearly, @monthly, @weekly, @daily or @hourly"},
    {"@every 5m",
     "'@every 5m' is not a schedule: use @yearly, @monthly, @weekly, @daily or @hourly"},
    {"0 0 30 2 *", "this never comes: none of its months has such a day"},
    {"0 0 31 2,4,6,9,11 *", "this never comes: none of its months has such a day"},
    {"0 0 30 2 */2", "this never comes: none of its months has such a day"},
};

START_TEST(any_other_text_is_refused_with_a_reason)
{
    struct cron cron;
    struct error err = {0};

    ck_assert_msg(!cron_parse(refused[_i].text, &cron, &err), "'%s' was taken", refused[_i].text);
    ck_assert_int_eq(err.code, TH_E_INVALID);
    ck_assert_str_eq(err.text, refused[_i].reason);
}
END_TEST

Suite *cron_parse_suite(void)
{
    Suite *suite = suite_create("job/cron_parse");
    TCase *parse = pure_case("parse");

    tcase_add_loop_test(parse, a_schedule_is_read, 0, COUNT_OF(accepted));
    tcase_add_loop_test(parse, any_other_text_is_refused_with_a_reason, 0, COUNT_OF(refused));
    suite_add_tcase(suite, parse);
    return suite;
}

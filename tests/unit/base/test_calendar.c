/*
 * test_calendar.c - days, dates and days of the week.
 */
#include "base/calendar.h"
#include "suites.h"

#include <check.h>

static const struct {
    const char *rule;
    int64_t day, year;
    int month, of_month, weekday;
} days[] = {
    {"the first day", 0, 1970, 1, 1, 4},
    {"the day before it", -1, 1969, 12, 31, 3},
    {"a leap day", 19782, 2024, 2, 29, 4},
    {"the day after a leap day", 19783, 2024, 3, 1, 5},
    {"a century without a leap day", 47540, 2100, 2, 28, 0},
    {"goes on with March", 47541, 2100, 3, 1, 1},
    {"a century with one", 11016, 2000, 2, 29, 2},
    {"the last day of a job", 2932896, 9999, 12, 31, 5},
    {"year zero was a leap year", -719469, 0, 2, 29, 2},
};

START_TEST(a_day_has_its_date)
{
    const struct calendar_date date = calendar_date(days[_i].day);

    ck_assert_msg(date.year == days[_i].year && date.month == days[_i].month &&
                      date.day == days[_i].of_month,
                  "%s: %lld-%d-%d", days[_i].rule, (long long)date.year, date.month, date.day);
    ck_assert_int_eq(calendar_day(date.year, date.month, date.day), days[_i].day);
    ck_assert_msg(calendar_weekday(days[_i].day) == days[_i].weekday, "%s", days[_i].rule);
}
END_TEST

START_TEST(dates_of_eight_hundred_years_follow_each_other)
{
    const int64_t first = calendar_day(1600, 1, 1), last = calendar_day(2400, 1, 1);

    for (int64_t day = first; day <= last; day++) {
        const struct calendar_date date = calendar_date(day);

        if (calendar_day(date.year, date.month, date.day) != day ||
            calendar_weekday(day + 1) != (calendar_weekday(day) + 1) % 7)
            ck_abort_msg("day %lld", (long long)day);
    }
}
END_TEST

Suite *calendar_suite(void)
{
    Suite *suite = suite_create("base/calendar");
    TCase *dates = pure_case("dates");

    tcase_add_loop_test(dates, a_day_has_its_date, 0, COUNT_OF(days));
    tcase_add_test(dates, dates_of_eight_hundred_years_follow_each_other);
    suite_add_tcase(suite, dates);
    return suite;
}

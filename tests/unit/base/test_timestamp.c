/*
 * test_timestamp.c - moments as RFC 3339 text, exact to the microsecond.
 */
#include "base/error.h"
#include "base/timestamp.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *rule;
    const char *text;
    usec_t moment;
} both_ways[] = {
    {"the first microsecond", "1970-01-01T00:00:00.000001Z", 1},
    {"the second day", "1970-01-02T00:00:00.000000Z", USEC_PER_DAY},
    {"the moment of the contract tests", "2030-01-02T03:04:05.123456Z", 1893553445123456},
    {"the end of a year", "1999-12-31T23:59:59.999999Z", 946684799999999},
    {"and the start of the next", "2000-01-01T00:00:00.000000Z", 946684800000000},
    {"2000 has a leap day", "2000-02-29T12:00:00.000000Z", 951825600000000},
    {"followed by March", "2000-03-01T00:00:00.000000Z", 951868800000000},
    {"a common leap day", "2024-02-29T00:00:00.000000Z", 1709164800000000},
    {"the last day of a leap year", "2024-12-31T00:00:00.000000Z", 1735603200000000},
    {"a common year has none", "2023-03-01T00:00:00.000000Z", 1677628800000000},
    {"32 bits of seconds are not the end", "2038-01-19T03:14:08.000000Z", 2147483648000000},
    {"2100 has no leap day", "2100-02-28T23:59:59.000000Z", 4107542399000000},
    {"so March follows", "2100-03-01T00:00:00.000000Z", 4107542400000000},
    {"2400 has one", "2400-02-29T00:00:00.000000Z", 13574563200000000},
    {"the last microsecond", "9999-12-31T23:59:59.999999Z", TIMESTAMP_MAX},
};

START_TEST(a_moment_is_formatted)
{
    char text[TIMESTAMP_SIZE];

    ck_assert_msg(strcmp(timestamp_format(both_ways[_i].moment, text), both_ways[_i].text) == 0,
                  "%s, not %s", both_ways[_i].rule, text);
}
END_TEST

START_TEST(what_was_formatted_is_parsed_again)
{
    struct error err = {0};
    usec_t moment = 0;

    ck_assert_msg(timestamp_parse(both_ways[_i].text, &moment, &err), "%s", err.text);
    ck_assert_msg(moment == both_ways[_i].moment, "%s, not %lld", both_ways[_i].rule,
                  (long long)moment);
}
END_TEST

static const struct {
    usec_t moment;
    const char *text;
} strange[] = {
    {0, "1970-01-01T00:00:00.000000Z"},
    {-1, "1969-12-31T23:59:59.999999Z"},
    {-USEC_PER_DAY, "1969-12-31T00:00:00.000000Z"},
    {-62135596800000000, "0001-01-01T00:00:00.000000Z"},
    {TIMESTAMP_MAX + 1, "10000-01-01T00:00:00.000000Z"},
    {INT64_MAX, "294247-01-10T04:00:54.775807Z"},
    {INT64_MIN, "-290308-12-21T19:59:05.224192Z"},
};

START_TEST(a_moment_that_no_job_may_have_is_formatted_all_the_same)
{
    char text[TIMESTAMP_SIZE];

    ck_assert_str_eq(timestamp_format(strange[_i].moment, text), strange[_i].text);
}
END_TEST

/* As far as text tells: a later one, and the first of a month after the last of another. */
static bool is_next(const char *last, const char *text)
{
    static const char *const month_ends[] = {"01-31", "02-28", "02-29", "03-31", "04-30",
                                             "05-31", "06-30", "07-31", "08-31", "09-30",
                                             "10-31", "11-30", "12-31"};

    if (strncmp(text + 8, "01", 2) != 0)
        return strcmp(last, text) < 0;
    for (size_t i = 0; i < COUNT_OF(month_ends); i++) {
        if (strncmp(last + 5, month_ends[i], 5) == 0)
            return strcmp(last, text) < 0;
    }
    return false;
}

/* Day by day for 400 years: then the calendar repeats. */
START_TEST(no_day_is_left_out_or_doubled)
{
    char last[TIMESTAMP_SIZE] = "1969-12-31T", text[TIMESTAMP_SIZE];
    struct error err = {0};

    for (usec_t day = 0; day < 146097 * USEC_PER_DAY; day += USEC_PER_DAY) {
        usec_t parsed = 0;

        timestamp_format(day + 1, text);
        if (!timestamp_parse(text, &parsed, &err) || parsed != day + 1 || !is_next(last, text))
            ck_abort_msg("%s after %s", text, last);
        memcpy(last, text, sizeof last);
    }
    ck_assert_int_eq(strncmp(last, "2369-12-31T", 11), 0);
}
END_TEST

static const struct {
    const char *rule;
    const char *text;
    usec_t moment;
} accepted[] = {
    {"no decimals", "2030-01-02T03:04:05Z", 1893553445000000},
    {"one decimal", "2030-01-02T03:04:05.1Z", 1893553445100000},
    {"six decimals", "2030-01-02T03:04:05.000001Z", 1893553445000001},
    {"nine decimals are cut", "2030-01-02T03:04:05.123456999Z", 1893553445123456},
    {"a space", "2030-01-02 03:04:05Z", 1893553445000000},
    {"small letters", "2030-01-02t03:04:05z", 1893553445000000},
    {"no offset", "2030-01-02T03:04:05+00:00", 1893553445000000},
    {"no offset, with a minus", "2030-01-02T03:04:05-00:00", 1893553445000000},
    {"an offset to the east", "2030-01-02T04:04:05+01:00", 1893553445000000},
    {"an offset to the west", "2030-01-01T22:34:05-04:30", 1893553445000000},
    {"the largest offset", "2030-01-03T03:03:05+23:59", 1893553445000000},
    {"the largest offset west", "2030-01-01T03:05:05-23:59", 1893553445000000},
    {"an offset into the year before", "2030-01-01T00:30:00+01:00", 1893454200000000},
    {"an offset and decimals", "2030-01-02T04:04:05.5+01:00", 1893553445500000},
};

START_TEST(every_way_to_write_a_moment_is_understood)
{
    struct error err = {0};
    usec_t moment = 0;

    ck_assert_msg(timestamp_parse(accepted[_i].text, &moment, &err), "%s: %s", accepted[_i].rule,
                  err.text);
    ck_assert_msg(moment == accepted[_i].moment, "%s, not %lld", accepted[_i].rule,
                  (long long)moment);
}
END_TEST

#define SHAPE   "write it as 2030-01-02T03:04:05Z, or with an offset such as +01:00"
#define YEARS   "years go from 1970 to 9999"
#define NO_DAY  "that month has no such day"
#define NOT_UTC "in UTC it is not within 1970 to 9999"
#define OFFSETS "offsets go up to 23:59"

static const struct {
    const char *rule;
    const char *text;
    const char *reason;
} refused[] = {
    {"nothing", "", SHAPE},
    {"a date alone", "2030-01-02", SHAPE},
    {"no offset", "2030-01-02T03:04:05", SHAPE},
    {"no seconds", "2030-01-02T03:04Z", SHAPE},
    {"a space in front", " 2030-01-02T03:04:05Z", SHAPE},
    {"a space after", "2030-01-02T03:04:05Z ", SHAPE},
    {"a space before the offset", "2030-01-02T03:04:05 Z", SHAPE},
    {"another letter between", "2030-01-02X03:04:05Z", SHAPE},
    {"nothing between", "2030-01-0203:04:05Z", SHAPE},
    {"one digit", "2030-1-02T03:04:05Z", SHAPE},
    {"five digits of the year", "12030-01-02T03:04:05Z", SHAPE},
    {"a signed number", "2030-01-02T+3:04:05Z", SHAPE},
    {"slashes", "2030/01/02T03:04:05Z", SHAPE},
    {"points", "2030-01-02T03.04.05Z", SHAPE},
    {"a point without decimals", "2030-01-02T03:04:05.Z", SHAPE},
    {"ten decimals", "2030-01-02T03:04:05.1234567890Z", SHAPE},
    {"a comma", "2030-01-02T03:04:05,5Z", SHAPE},
    {"an offset without a colon", "2030-01-02T03:04:05+0100", SHAPE},
    {"an offset without minutes", "2030-01-02T03:04:05+01", SHAPE},
    {"Z and an offset", "2030-01-02T03:04:05Z+01:00", SHAPE},
    {"the year before", "1969-12-31T23:59:59Z", YEARS},
    {"year zero", "0000-01-01T00:00:00Z", YEARS},
    {"month zero", "2030-00-01T00:00:00Z", "months go from 01 to 12"},
    {"month thirteen", "2030-13-01T00:00:00Z", "months go from 01 to 12"},
    {"day zero", "2030-01-00T00:00:00Z", NO_DAY},
    {"32 January", "2030-01-32T00:00:00Z", NO_DAY},
    {"32 December", "2030-12-32T00:00:00Z", NO_DAY},
    {"31 April", "2030-04-31T00:00:00Z", NO_DAY},
    {"30 February", "2024-02-30T00:00:00Z", NO_DAY},
    {"29 February in a common year", "2023-02-29T00:00:00Z", NO_DAY},
    {"29 February 2100", "2100-02-29T00:00:00Z", NO_DAY},
    {"24:00", "2030-01-02T24:00:00Z", "hours go from 00 to 23"},
    {"minute 60", "2030-01-02T03:60:00Z", "minutes go from 00 to 59"},
    {"a leap second", "2016-12-31T23:59:60Z", "seconds go from 00 to 59"},
    {"an offset of a day", "2030-01-02T03:04:05+24:00", OFFSETS},
    {"an offset of a day west", "2030-01-02T03:04:05-24:00", OFFSETS},
    {"an offset of sixty minutes", "2030-01-02T03:04:05+01:60", OFFSETS},
    {"the start of 1970, which is absent", "1970-01-01T00:00:00Z", NOT_UTC},
    {"less than that by its offset", "1970-01-01T00:30:00+01:00", NOT_UTC},
    {"year 10000 by its offset", "9999-12-31T23:30:00-01:00", NOT_UTC},
};

START_TEST(any_other_text_is_refused_with_a_reason)
{
    struct error err = {0};
    usec_t moment = 99;
    char expected[ERROR_TEXT_SIZE];

    snprintf(expected, sizeof expected, "'%s' is not a time: %s", refused[_i].text,
             refused[_i].reason);
    ck_assert_msg(!timestamp_parse(refused[_i].text, &moment, &err), "%s", refused[_i].rule);
    ck_assert_int_eq(err.code, TH_E_INVALID);
    ck_assert_msg(strcmp(err.text, expected) == 0, "%s: %s", refused[_i].rule, err.text);
    ck_assert_int_eq(moment, 99);
}
END_TEST

Suite *timestamp_suite(void)
{
    Suite *suite = suite_create("base/timestamp");
    TCase *format = pure_case("format");
    TCase *parse = pure_case("parse");

    tcase_add_loop_test(format, a_moment_is_formatted, 0, COUNT_OF(both_ways));
    tcase_add_loop_test(format, a_moment_that_no_job_may_have_is_formatted_all_the_same, 0,
                        COUNT_OF(strange));
    suite_add_tcase(suite, format);

    tcase_add_loop_test(parse, what_was_formatted_is_parsed_again, 0, COUNT_OF(both_ways));
    tcase_add_loop_test(parse, every_way_to_write_a_moment_is_understood, 0, COUNT_OF(accepted));
    tcase_add_loop_test(parse, any_other_text_is_refused_with_a_reason, 0, COUNT_OF(refused));
    tcase_add_test(parse, no_day_is_left_out_or_doubled);
    tcase_set_timeout(parse, 60);
    suite_add_tcase(suite, parse);
    return suite;
}

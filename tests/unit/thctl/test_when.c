#include "thctl/when.h"

#include "base/error.h"
#include "base/timestamp.h"
#include "suites.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BERLIN   "Europe/Berlin"
#define DUBLIN   "Europe/Dublin"
#define NEW_YORK "America/New_York"

static void set_zone(const char *zone)
{
    setenv("TZ", zone, 1);
    tzset();
}

static usec_t at(const char *moment)
{
    struct error err;
    usec_t result = 0;

    ck_assert_msg(timestamp_parse(moment, &result, &err), "%s: %s", moment, err.text);
    return result;
}

static const struct {
    const char *rule, *zone, *now, *text, *expected;
} accepted[] = {
    {"Z is UTC, wherever we are", BERLIN, "2026-06-01T00:00:00Z", "2026-01-31T10:00:00Z",
     "2026-01-31T10:00:00Z"},
    {"an offset is one", BERLIN, "2026-06-01T00:00:00Z", "2026-01-31T10:00:00-05:00",
     "2026-01-31T15:00:00Z"},
    {"a space may stand for the T", BERLIN, "2026-06-01T00:00:00Z", "2026-01-31 10:00:00+01:00",
     "2026-01-31T09:00:00Z"},
    {"microseconds are kept", BERLIN, "2026-06-01T00:00:00Z", "2026-01-31T10:00:00.123456Z",
     "2026-01-31T10:00:00.123456Z"},
    {"+ is from now", BERLIN, "2026-06-01T00:00:00Z", "+5m", "2026-06-01T00:05:00Z"},
    {"+ takes fractions", BERLIN, "2026-06-01T00:00:00Z", "+1.5h", "2026-06-01T01:30:00Z"},
    {"+0 is now", BERLIN, "2026-06-01T00:00:00Z", "+0", "2026-06-01T00:00:00Z"},
    {"without a zone it is local, in winter", BERLIN, "2026-06-01T00:00:00Z", "2026-01-31 10:00",
     "2026-01-31T09:00:00Z"},
    {"without a zone it is local, in summer", BERLIN, "2026-01-01T00:00:00Z", "2026-07-31 10:00",
     "2026-07-31T08:00:00Z"},
    {"a T without a zone is local too", BERLIN, "2026-01-01T00:00:00Z", "2026-07-31T10:00:30",
     "2026-07-31T08:00:30Z"},
    {"a leap day exists in a leap year", BERLIN, "2026-01-01T00:00:00Z", "2028-02-29 10:00",
     "2028-02-29T09:00:00Z"},
    {"a time alone is today while it is ahead", BERLIN, "2026-01-15T07:00:00Z", "09:00",
     "2026-01-15T08:00:00Z"},
    {"and tomorrow once it is past", BERLIN, "2026-01-15T09:00:00Z", "09:00",
     "2026-01-16T08:00:00Z"},
    {"and tomorrow when it is now", BERLIN, "2026-01-15T08:00:00Z", "09:00",
     "2026-01-16T08:00:00Z"},
    {"one digit is enough for the hour", BERLIN, "2026-01-15T07:00:00Z", "9:00",
     "2026-01-15T08:00:00Z"},
    {"a time may have seconds", BERLIN, "2026-01-15T07:00:00Z", "09:00:30", "2026-01-15T08:00:30Z"},
    {"today is the local day, not that of UTC", NEW_YORK, "2026-01-16T03:00:00Z", "23:30",
     "2026-01-16T04:30:00Z"},
    {"an hour that is skipped tonight is meant tomorrow", BERLIN, "2026-03-28T23:00:00Z", "02:30",
     "2026-03-30T00:30:00Z"},
    {"of an hour that comes twice the first is next", BERLIN, "2026-10-24T22:00:00Z", "02:30",
     "2026-10-25T00:30:00Z"},
    {"and when that is past, the second", BERLIN, "2026-10-25T00:45:00Z", "02:30",
     "2026-10-25T01:30:00Z"},
    {"tomorrow is the next local day", BERLIN, "2026-01-15T09:00:00Z", "tomorrow 09:00",
     "2026-01-16T08:00:00Z"},
    {"tomorrow is tomorrow, also when the time is ahead today", BERLIN, "2026-01-15T05:00:00Z",
     "tomorrow 09:00", "2026-01-16T08:00:00Z"},
    {"tomorrow may be next year", BERLIN, "2026-12-31T12:00:00Z", "tomorrow 00:00",
     "2026-12-31T23:00:00Z"},
    {"tomorrow keeps its hour over a change of the clocks", BERLIN, "2026-03-28T12:00:00Z",
     "tomorrow 09:00", "2026-03-29T07:00:00Z"},
    {"of a date's hour that comes twice the first is meant", BERLIN, "2026-01-01T00:00:00Z",
     "2026-10-25 02:30", "2026-10-25T00:30:00Z"},
    {"also where winter is the saved time", DUBLIN, "2026-01-01T00:00:00Z", "2026-10-25 01:30",
     "2026-10-25T00:30:00Z"},
    {"a zone without summer time has all hours once", "UTC0", "2026-01-01T00:00:00Z",
     "2026-03-29 02:30", "2026-03-29T02:30:00Z"},
    {"the year 9999 is the last one", "UTC0", "2026-01-01T00:00:00Z", "9999-12-31 23:59:59",
     "9999-12-31T23:59:59Z"},
};

START_TEST(what_people_write_is_understood)
{
    usec_t moment = 0;
    struct error err = {0};

    set_zone(accepted[_i].zone);
    ck_assert_msg(when_parse(accepted[_i].text, at(accepted[_i].now), &moment, &err), "%s: %s",
                  accepted[_i].rule, err.text);
    char text[TIMESTAMP_SIZE];
    ck_assert_msg(moment == at(accepted[_i].expected), "%s, not %s", accepted[_i].rule,
                  timestamp_format(moment, text));
}
END_TEST

static const struct {
    const char *rule, *text, *reason;
} refused[] = {
    {"nothing is no time", "", "is not a time"},
    {"a word is no time", "soon", "is not a time"},
    {"tomorrow needs an hour", "tomorrow", "is not a time"},
    {"tomorrow needs a good hour", "tomorrow 25:00", "is not a time"},
    {"a date needs an hour", "2026-01-31", "is not a time"},
    {"there is no 24:00", "24:00", "is not a time"},
    {"there is no minute 60", "09:60", "is not a time"},
    {"there is no second 60", "09:00:60", "is not a time"},
    {"minutes have two digits", "09:5", "is not a time"},
    {"nothing may come after it", "09:00 ", "is not a time"},
    {"nothing may stand before it", " 09:00", "is not a time"},
    {"a number is no time", "1767225600", "is not a time"},
    {"a date that does not exist is refused", "2026-02-30 10:00", "no day 2026-02-30"},
    {"a leap day needs a leap year", "2026-02-29 10:00", "no day 2026-02-29"},
    {"there is no month 13", "2026-13-01 10:00", "no day 2026-13-01"},
    {"there is no day 0", "2026-01-00 10:00", "no day 2026-01-00"},
    {"a date that does not exist is refused in UTC too", "2026-02-30T10:00:00Z", ""},
    {"the hour that is skipped does not exist", "2026-03-29 02:30", "does not exist here"},
    {"time began in 1970", "1969-12-31 10:00", "before 1970"},
    {"a delay needs a unit", "+5", ""},
    {"a delay is one number and one unit", "+5m3s", ""},
    {"a delay cannot be negative", "+-5m", ""},
    {"a delay has an end", "+1000000d", ""},
    {"a plus alone is no delay", "+", ""},
};

START_TEST(what_cannot_be_is_refused_with_a_sentence)
{
    usec_t moment = 0;
    struct error err = {0};

    set_zone(BERLIN);
    ck_assert_msg(!when_parse(refused[_i].text, at("2026-01-15T09:00:00Z"), &moment, &err), "%s",
                  refused[_i].rule);
    ck_assert_int_eq(err.code, TH_E_INVALID);
    ck_assert_msg(strstr(err.text, refused[_i].reason) && err.text[0] != '\0', "%s, not: %s",
                  refused[_i].rule, err.text);
}
END_TEST

START_TEST(an_hour_that_is_skipped_tomorrow_is_refused)
{
    usec_t moment = 0;
    struct error err = {0};

    set_zone(BERLIN);
    ck_assert(!when_parse("tomorrow 02:30", at("2026-03-28T12:00:00Z"), &moment, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "the clocks skip it"));
}
END_TEST

static const struct {
    const char *rule, *text, *expected; /* NULL is refused */
} pasts[] = {
    {"a minus is ago", "-5m", "2026-01-15T08:55:00Z"},
    {"a plus is ahead", "+5m", "2026-01-15T09:05:00Z"},
    {"an hour is the last one", "09:30", "2026-01-15T08:30:00Z"},
    {"yesterday's, if today's is ahead", "23:00", "2026-01-14T22:00:00Z"},
    {"now is not ahead", "10:00", "2026-01-15T09:00:00Z"},
    {"a date is a date", "2026-01-31 10:00", "2026-01-31T09:00:00Z"},
    {"tomorrow is tomorrow", "tomorrow 09:00", "2026-01-16T08:00:00Z"},
    {"time began in 1970", "-100000d", NULL},
    {"an age needs a unit", "-5", NULL},
    {"a word is no time", "soon", NULL},
};

START_TEST(what_has_happened_is_asked_for_backwards)
{
    usec_t moment = 0;
    struct error err = {0};

    set_zone(BERLIN);
    bool parsed = when_parse_past(pasts[_i].text, at("2026-01-15T09:00:00Z"), &moment, &err);
    ck_assert_msg(parsed == (pasts[_i].expected != NULL), "%s: %s", pasts[_i].rule, err.text);
    if (parsed)
        ck_assert_msg(moment == at(pasts[_i].expected), "%s", pasts[_i].rule);
}
END_TEST

static const struct {
    const char *rule;
    usec_t distance;
    const char *expected;
} relatives[] = {
    {"under half a second is now", 499999, "now"},
    {"and so is just past", -499999, "now"},
    {"ahead is in", 5 * USEC_PER_MIN, "in 5m"},
    {"the past is ago", -3 * USEC_PER_SEC, "3s ago"},
    {"the nearest is meant", 5 * USEC_PER_MIN - 20 * USEC_PER_SEC, "in 5m"},
    {"a minute is no 60 seconds", 59600 * USEC_PER_MSEC, "in 1m"},
    {"an hour is no 60 minutes", -(59 * USEC_PER_MIN + 40 * USEC_PER_SEC), "1h ago"},
    {"a day is no 24 hours", 23 * USEC_PER_HOUR + 40 * USEC_PER_MIN, "in 1d"},
    {"the largest unit is enough", -(2 * USEC_PER_HOUR + 20 * USEC_PER_MIN), "2h ago"},
    {"days are the largest", 400 * USEC_PER_DAY, "in 400d"},
};

START_TEST(distances_are_short)
{
    usec_t now = 1767225600 * USEC_PER_SEC;
    char text[WHEN_TEXT_SIZE];

    when_relative(now + relatives[_i].distance, now, text);
    ck_assert_msg(strcmp(text, relatives[_i].expected) == 0, "%s, not '%s'", relatives[_i].rule,
                  text);
}
END_TEST

START_TEST(a_moment_shows_by_the_local_clock)
{
    char text[WHEN_TEXT_SIZE];

    set_zone(BERLIN);
    when_format(at("2026-01-31T10:00:00.999999Z"), at("2026-01-31T10:05:00Z"), text);
    ck_assert_str_eq(text, "2026-01-31 11:00:00 +0100 (5m ago)");
}
END_TEST

Suite *when_suite(void)
{
    Suite *suite = suite_create("thctl/when");
    TCase *parse = pure_case("parse");
    TCase *format = pure_case("format");

    tcase_add_loop_test(parse, what_people_write_is_understood, 0, COUNT_OF(accepted));
    tcase_add_loop_test(parse, what_cannot_be_is_refused_with_a_sentence, 0, COUNT_OF(refused));
    tcase_add_test(parse, an_hour_that_is_skipped_tomorrow_is_refused);
    tcase_add_loop_test(parse, what_has_happened_is_asked_for_backwards, 0, COUNT_OF(pasts));
    tcase_add_loop_test(format, distances_are_short, 0, COUNT_OF(relatives));
    tcase_add_test(format, a_moment_shows_by_the_local_clock);
    suite_add_tcase(suite, parse);
    suite_add_tcase(suite, format);
    return suite;
}

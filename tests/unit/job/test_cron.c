/*
 * test_cron.c - when schedules run: eleven years in twelve zones, and every second around shifts.
 */
#include "job/cron.h"

#include "base/calendar.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "job/cron_parse.h"
#include "suites.h"
#include "zones.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#define ORACLE     TH_SOURCE_DIR "/tests/fixtures/cron_oracle.txt"
#define LINES      180 /* of the oracle */
#define FIRST_YEAR 2024
#define YEARS      11

static struct cron parsed(const char *text)
{
    struct cron cron = {0};
    struct error err;

    ck_assert_msg(cron_parse(text, &cron, &err), "%s: %s", text, err.text);
    return cron;
}

static usec_t usec(const char *text)
{
    return zones_seconds(text) * USEC_PER_SEC;
}

static const struct {
    const char *rule, *schedule, *zone, *after, *next;
} times[] = {
    {"the next one", "0 3 * * *", "UTC", "2024-01-01T00:00:00Z", "2024-01-01T03:00:00Z"},
    {"strictly after", "0 3 * * *", "UTC", "2024-01-01T03:00:00Z", "2024-01-02T03:00:00Z"},
    {"a second before", "0 3 * * *", "UTC", "2024-01-01T02:59:59Z", "2024-01-01T03:00:00Z"},
    {"the end of a year", "59 23 31 12 *", "UTC", "2024-12-31T23:59:00Z", "2025-12-31T23:59:00Z"},
    {"seconds", "*/20 * * * * *", "UTC", "2024-01-01T00:00:59Z", "2024-01-01T00:01:00Z"},
    {"seconds of an hour", "30 5 4 * * *", "UTC", "2024-01-01T04:05:29Z", "2024-01-01T04:05:30Z"},
    {"a leap day", "0 0 29 2 *", "UTC", "2024-02-29T00:00:00Z", "2028-02-29T00:00:00Z"},
    {"one of eight years", "0 0 29 2 *", "UTC", "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z"},
    {"the 31st", "0 0 31 * *", "UTC", "2024-01-31T00:00:00Z", "2024-03-31T00:00:00Z"},
    {"Sunday is 7", "0 0 * * 7", "UTC", "2024-01-01T00:00:00Z", "2024-01-07T00:00:00Z"},
    {"either day: Friday", "0 0 13 * FRI", "UTC", "2024-01-01T00:00:00Z", "2024-01-05T00:00:00Z"},
    {"either day: the 13th", "0 0 13 * FRI", "UTC", "2024-01-12T00:00:00Z", "2024-01-13T00:00:00Z"},
    {"a local day", "0 0 * * *", "Asia/Kolkata", "2024-01-01T00:00:00Z", "2024-01-01T18:30:00Z"},
    {"what is skipped runs at the shift", "30 2 * * *", "Europe/Berlin", "2024-03-30T12:00:00Z",
     "2024-03-31T01:00:00Z"},
    {"and on the next day as ever", "30 2 * * *", "Europe/Berlin", "2024-03-31T01:00:00Z",
     "2024-04-01T00:30:00Z"},
    {"twice is once: the first", "30 2 * * *", "Europe/Berlin", "2024-10-26T12:00:00Z",
     "2024-10-27T00:30:00Z"},
    {"not the second", "30 2 * * *", "Europe/Berlin", "2024-10-27T00:30:00Z",
     "2024-10-28T01:30:00Z"},
    {"nor when asked in between", "30 2 * * *", "Europe/Berlin", "2024-10-27T01:10:00Z",
     "2024-10-28T01:30:00Z"},
    {"every hour runs in both", "30 * * * *", "Europe/Berlin", "2024-10-27T00:30:00Z",
     "2024-10-27T01:30:00Z"},
    {"every hour has no gap", "30 * * * *", "Europe/Berlin", "2024-03-31T00:30:00Z",
     "2024-03-31T01:30:00Z"},
    {"a step that is skipped does not run", "30 2-2/1 * * *", "Europe/Berlin",
     "2024-03-30T12:00:00Z", "2024-04-01T00:30:00Z"},
    {"a midnight that is skipped", "0 0 * * *", "Africa/Cairo", "2024-04-25T12:00:00Z",
     "2024-04-25T22:00:00Z"},
    {"a day that is skipped", "0 9 30 12 *", "Pacific/Apia", "2011-12-01T00:00:00Z",
     "2011-12-30T10:00:00Z"},
    {"half an hour that is skipped", "15 2 6 10 *", "Australia/Lord_Howe", "2024-10-01T00:00:00Z",
     "2024-10-05T15:30:00Z"},
    {"years after the table", "0 12 1 7 *", "Europe/Berlin", "2500-01-01T00:00:00Z",
     "2500-07-01T10:00:00Z"},
};

START_TEST(the_next_time_is_found)
{
    const struct cron cron = parsed(times[_i].schedule);
    const usec_t next = cron_next(&cron, zones_get(times[_i].zone), usec(times[_i].after));
    char text[TIMESTAMP_SIZE];

    ck_assert_msg(next == usec(times[_i].next), "%s: %s", times[_i].rule,
                  timestamp_format(next, text));
}
END_TEST

START_TEST(parts_of_a_second_count)
{
    const struct cron cron = parsed("* * * * * *");

    ck_assert_int_eq(cron_next(&cron, &zone_utc, 1), USEC_PER_SEC);
    ck_assert_int_eq(cron_next(&cron, &zone_utc, USEC_PER_SEC - 1), USEC_PER_SEC);
    ck_assert_int_eq(cron_next(&cron, &zone_utc, USEC_PER_SEC), 2 * USEC_PER_SEC);
}
END_TEST

START_TEST(what_does_not_come_for_years_has_no_next_time)
{
    const struct cron sunday = parsed("0 0 29 2 */7"), yearly = parsed("@yearly");

    ck_assert_int_eq(cron_next(&sunday, &zone_utc, usec("2033-01-01T00:00:00Z")), 0);
    ck_assert_int_eq(cron_next(&sunday, &zone_utc, usec("2053-01-01T00:00:00Z")),
                     usec("2060-02-29T00:00:00Z"));
    ck_assert_int_eq(cron_next(&yearly, &zone_utc, usec("9999-06-01T00:00:00Z")), 0);
    ck_assert_int_eq(cron_next(&yearly, &zone_utc, USEC_MAX), 0);
}
END_TEST

/* ---- all years ---- */

struct oracle {
    char zone[64], schedule[64];
    unsigned long long hash;
    int counts[YEARS];
};

static void read_oracle(int number, struct oracle *oracle)
{
    FILE *file = fopen(ORACLE, "r");
    char line[256];

    ck_assert_ptr_nonnull(file);
    for (int i = 0; i <= number; i++)
        ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
    fclose(file);
    int *n = oracle->counts;
    ck_assert_int_eq(sscanf(line, "%63[^|]|%63[^|]|%llx|%d %d %d %d %d %d %d %d %d %d %d",
                            oracle->zone, oracle->schedule, &oracle->hash, &n[0], &n[1], &n[2],
                            &n[3], &n[4], &n[5], &n[6], &n[7], &n[8], &n[9], &n[10]),
                     3 + YEARS);
}

/* FNV-1a */
static unsigned long long add_hash(unsigned long long hash, int64_t moment)
{
    for (int i = 0; i < 8; i++)
        hash = (hash ^ (unsigned long long)(moment >> 8 * i & 0xff)) * 0x100000001b3;
    return hash;
}

START_TEST(schedules_run_as_the_clock_shows_in_eleven_years)
{
    struct oracle oracle;
    unsigned long long hash = 0xcbf29ce484222325;
    int counts[YEARS] = {0};

    read_oracle(_i, &oracle);
    const struct zone *zone = zones_get(oracle.zone);
    const struct cron cron = parsed(oracle.schedule);
    const usec_t end = calendar_day(FIRST_YEAR + YEARS, 1, 1) * USEC_PER_DAY;
    usec_t at = calendar_day(FIRST_YEAR, 1, 1) * USEC_PER_DAY - 1;
    while ((at = cron_next(&cron, zone, at)) != 0 && at < end) {
        counts[calendar_date(at / USEC_PER_DAY).year - FIRST_YEAR]++;
        hash = add_hash(hash, at / USEC_PER_SEC);
    }
    for (int i = 0; i < YEARS; i++)
        ck_assert_msg(counts[i] == oracle.counts[i], "%s %s %d: %d times, not %d", oracle.zone,
                      oracle.schedule, FIRST_YEAR + i, counts[i], oracle.counts[i]);
    ck_assert_msg(hash == oracle.hash, "%s %s: other times", oracle.zone, oracle.schedule);
}
END_TEST

/* ---- every second around the shifts ---- */

static const char *const shifting[] = {"Europe/Berlin",       "Europe/Dublin", "America/New_York",
                                       "Africa/Casablanca",   "Africa/Cairo",  "America/St_Johns",
                                       "Australia/Lord_Howe", "Pacific/Apia"};

static const char *const to_the_second[] = {
    "* * * * * *", "*/7 */13 * * * *",   "59 59 0-4 * * *", "0,30 15 1-3 * * *", "* 30 2 * * *",
    "* * 2 * * *", "5 */10 0,1,2 * * *", "17 0 */2 * * *",  "0 0 0-23 * * *",    "1 0 0 * * 0,5",
};

#define AROUND (3 * 3600)

static bool has(uint64_t set, int64_t number)
{
    return (set >> number & 1) != 0;
}

static bool matches(const struct cron *cron, int64_t local)
{
    const int64_t day = calendar_divide(local, SECONDS_PER_DAY);
    const struct calendar_date date = calendar_date(day);
    const int64_t second = local - day * SECONDS_PER_DAY;
    const bool by_date = has(cron->days, date.day);
    const bool by_week = has(cron->weekdays, calendar_weekday(day));

    return has(cron->hours, second / 3600) && has(cron->minutes, second / 60 % 60) &&
           has(cron->seconds, second % 60) && has(cron->months, date.month) &&
           (cron->either_day ? by_date || by_week : by_date && by_week);
}

/* Whether it runs at a moment: its clock shows `local`, and has shown `passed` at most before. */
static bool runs(const struct cron *cron, int64_t passed, int64_t local)
{
    if (cron->hours_repeat)
        return matches(cron, local);
    for (int64_t reached = passed + 1; reached <= local; reached++) {
        if (matches(cron, reached))
            return true;
    }
    return false;
}

static void watch(const struct cron *cron, const struct zone *zone, int64_t shift)
{
    int64_t passed = zone_local(zone, shift - AROUND - 1);
    int64_t next = cron_next(cron, zone, (shift - AROUND - 1) * USEC_PER_SEC) / USEC_PER_SEC;

    for (int64_t at = shift - AROUND; at < shift + AROUND; at++) {
        const int64_t local = zone_local(zone, at);

        if (runs(cron, passed, local) != (at == next))
            ck_abort_msg("%s: at %lld, not %lld", zone->name, (long long)at, (long long)next);
        if (at == next)
            next = cron_next(cron, zone, at * USEC_PER_SEC) / USEC_PER_SEC;
        passed = local > passed ? local : passed;
    }
}

START_TEST(schedules_run_to_the_second_around_shifts)
{
    const struct zone *zone = zones_get(shifting[_i]);
    const int64_t end = zones_seconds("2026-01-01T00:00:00Z");

    for (size_t i = 0; i < COUNT_OF(to_the_second); i++) {
        const struct cron cron = parsed(to_the_second[i]);
        int64_t at = zones_seconds("2010-12-01T00:00:00Z");

        /* Apia has not had a shift since 2021, but in 2011 it skipped a day. */
        if (strcmp(shifting[_i], "Pacific/Apia") != 0)
            at = zones_seconds("2024-12-01T00:00:00Z");
        while ((at = zone_span_at(zone, at).until) < end)
            watch(&cron, zone, at);
    }
}
END_TEST

Suite *cron_suite(void)
{
    Suite *suite = suite_create("job/cron");
    TCase *next = pure_case("next");
    TCase *years = pure_case("years");
    TCase *shifts = pure_case("shifts");

    tcase_add_loop_test(next, the_next_time_is_found, 0, COUNT_OF(times));
    tcase_add_test(next, parts_of_a_second_count);
    tcase_add_test(next, what_does_not_come_for_years_has_no_next_time);
    suite_add_tcase(suite, next);

    tcase_add_loop_test(years, schedules_run_as_the_clock_shows_in_eleven_years, 0, LINES);
    tcase_set_timeout(years, 60);
    suite_add_tcase(suite, years);

    tcase_add_loop_test(shifts, schedules_run_to_the_second_around_shifts, 0, COUNT_OF(shifting));
    tcase_set_timeout(shifts, 120);
    suite_add_tcase(suite, shifts);
    return suite;
}

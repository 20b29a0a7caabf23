/*
 * test_zone.c - what clocks show: the arithmetic, against values of Python's zoneinfo.
 */
#include "base/zone.h"
#include "suites.h"
#include "zones.h"

#include <check.h>
#include <string.h>

/* Meets every half hour of the day within a week. */
#define STRIDE (7 * 1800)

static const struct {
    const char *rule, *zone, *moment, *local;
} locals[] = {
    {"UTC is itself", "UTC", "2024-07-01T12:00:00Z", "2024-07-01T12:00:00Z"},
    {"winter", "Europe/Berlin", "2024-01-15T12:00:00Z", "2024-01-15T13:00:00Z"},
    {"the last second of winter", "Europe/Berlin", "2024-03-31T00:59:59Z", "2024-03-31T01:59:59Z"},
    {"the first of summer", "Europe/Berlin", "2024-03-31T01:00:00Z", "2024-03-31T03:00:00Z"},
    {"the last of summer", "Europe/Berlin", "2024-10-27T00:59:59Z", "2024-10-27T02:59:59Z"},
    {"winter again", "Europe/Berlin", "2024-10-27T01:00:00Z", "2024-10-27T02:00:00Z"},
    {"in its table", "Europe/Berlin", "1980-04-06T01:00:00Z", "1980-04-06T03:00:00Z"},
    {"by its rule, far away", "Europe/Berlin", "2999-07-01T12:00:00Z", "2999-07-01T14:00:00Z"},
    {"winter is what is shifted", "Europe/Dublin", "2030-01-01T12:00:00Z", "2030-01-01T12:00:00Z"},
    {"summer is standard there", "Europe/Dublin", "2030-07-01T12:00:00Z", "2030-07-01T13:00:00Z"},
    {"half an hour", "Australia/Lord_Howe", "2024-04-06T14:59:59Z", "2024-04-07T01:59:59Z"},
    {"half an hour back", "Australia/Lord_Howe", "2024-04-06T15:00:00Z", "2024-04-07T01:30:00Z"},
    {"three quarters", "Asia/Kathmandu", "2024-05-01T00:00:00Z", "2024-05-01T05:45:00Z"},
    {"no summer time any more", "America/Sao_Paulo", "2030-01-01T12:00:00Z",
     "2030-01-01T09:00:00Z"},
    {"Ramadan, from the table", "Africa/Casablanca", "2030-01-10T12:00:00Z",
     "2030-01-10T12:00:00Z"},
    {"a shift at 24:00", "Africa/Cairo", "2024-10-31T20:59:59Z", "2024-10-31T23:59:59Z"},
    {"goes back to 23:00", "Africa/Cairo", "2024-10-31T21:00:00Z", "2024-10-31T23:00:00Z"},
    {"across the date line", "Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29T23:59:59Z"},
    {"a day was skipped", "Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31T00:00:00Z"},
    {"west and a half", "America/St_Johns", "2026-01-01T00:00:00Z", "2025-12-31T20:30:00Z"},
};

START_TEST(the_clock_shows_the_local_time)
{
    const int64_t local = zone_local(zones_get(locals[_i].zone), zones_seconds(locals[_i].moment));

    ck_assert_msg(local == zones_seconds(locals[_i].local), "%s: %s", locals[_i].zone,
                  locals[_i].rule);
}
END_TEST

static const struct {
    const char *rule, *zone, *local;
    enum zone_times times;
    const char *first, *last;
} moments[] = {
    {"most times come once", "Europe/Berlin", "2024-07-01T12:00:00Z", ZONE_ONCE,
     "2024-07-01T10:00:00Z", "2024-07-01T10:00:00Z"},
    {"the start of a gap", "Europe/Berlin", "2024-03-31T02:00:00Z", ZONE_NEVER,
     "2024-03-31T01:00:00Z", "2024-03-31T01:00:00Z"},
    {"the end of a gap", "Europe/Berlin", "2024-03-31T02:59:59Z", ZONE_NEVER,
     "2024-03-31T01:00:00Z", "2024-03-31T01:00:00Z"},
    {"after a gap", "Europe/Berlin", "2024-03-31T03:00:00Z", ZONE_ONCE, "2024-03-31T01:00:00Z",
     "2024-03-31T01:00:00Z"},
    {"the start of an overlap", "Europe/Berlin", "2024-10-27T02:00:00Z", ZONE_TWICE,
     "2024-10-27T00:00:00Z", "2024-10-27T01:00:00Z"},
    {"its end", "Europe/Berlin", "2024-10-27T02:59:59Z", ZONE_TWICE, "2024-10-27T00:59:59Z",
     "2024-10-27T01:59:59Z"},
    {"after an overlap", "Europe/Berlin", "2024-10-27T03:00:00Z", ZONE_ONCE, "2024-10-27T02:00:00Z",
     "2024-10-27T02:00:00Z"},
    {"a gap at midnight", "Africa/Cairo", "2024-04-26T00:30:00Z", ZONE_NEVER,
     "2024-04-25T22:00:00Z", "2024-04-25T22:00:00Z"},
    {"an overlap before midnight", "Africa/Cairo", "2024-10-31T23:30:00Z", ZONE_TWICE,
     "2024-10-31T20:30:00Z", "2024-10-31T21:30:00Z"},
    {"a gap of a day", "Pacific/Apia", "2011-12-30T12:00:00Z", ZONE_NEVER, "2011-12-30T10:00:00Z",
     "2011-12-30T10:00:00Z"},
    {"half an hour twice", "Australia/Lord_Howe", "2024-04-07T01:45:00Z", ZONE_TWICE,
     "2024-04-06T14:45:00Z", "2024-04-06T15:15:00Z"},
};

START_TEST(a_local_time_comes_once_twice_or_never)
{
    const struct zone_moments found =
        zone_resolve(zones_get(moments[_i].zone), zones_seconds(moments[_i].local));

    ck_assert_msg(found.times == moments[_i].times, "%s: %d times", moments[_i].rule, found.times);
    ck_assert_msg(found.first == zones_seconds(moments[_i].first), "%s", moments[_i].rule);
    ck_assert_msg(found.last == zones_seconds(moments[_i].last), "%s", moments[_i].rule);
}
END_TEST

static const char *const names[] = {
    "UTC",
    "Europe/Berlin",
    "Europe/Dublin",
    "America/New_York",
    "America/Sao_Paulo",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "Africa/Cairo",
    "Asia/Tehran",
    "Pacific/Apia",
    "America/St_Johns",
};

START_TEST(spans_follow_each_other_without_a_break)
{
    const struct zone *zone = zones_get(names[_i]);
    const int64_t end = zones_seconds("2150-01-01T00:00:00Z");
    int64_t at = zones_seconds("1970-01-02T00:00:00Z");

    while (at < end) {
        const struct zone_span span = zone_span_at(zone, at);
        const struct zone_span last = zone_span_at(zone, span.until - 1);

        ck_assert_int_gt(span.until, at);
        ck_assert_int_le(span.from, at);
        ck_assert_int_eq(last.from, span.from);
        ck_assert_int_eq(last.offset, span.offset);
        at = span.until;
    }
}
END_TEST

START_TEST(every_moment_is_found_again_by_its_local_time)
{
    const struct zone *zone = zones_get(names[_i]);
    const int64_t end = zones_seconds("2040-01-01T00:00:00Z");

    for (int64_t at = zones_seconds("2008-01-01T00:00:00Z"); at < end; at += STRIDE) {
        const struct zone_moments found = zone_resolve(zone, zone_local(zone, at));

        if ((found.first != at && found.last != at) || found.times == ZONE_NEVER)
            ck_abort_msg("%s: %lld", names[_i], (long long)at);
    }
}
END_TEST

START_TEST(a_table_and_a_rule_that_say_the_same_are_the_same)
{
    const struct zone *table = zones_get("Fat/Berlin"), *rule = zones_get("Europe/Berlin");
    const int64_t end = zones_seconds("2050-01-01T00:00:00Z");

    ck_assert_uint_gt(table->shift_count, rule->shift_count);
    for (int64_t at = zones_seconds("1970-01-02T00:00:00Z"); at < end; at += STRIDE) {
        if (zone_local(table, at) != zone_local(rule, at))
            ck_abort_msg("%lld", (long long)at);
    }
}
END_TEST

START_TEST(times_without_end_do_not_overflow)
{
    const int64_t far[] = {-((int64_t)1 << 50), (int64_t)1 << 50};

    for (size_t i = 0; i < COUNT_OF(far); i++) {
        const struct zone *zone = zones_get("Europe/Berlin");

        ck_assert_int_eq(zone_resolve(zone, zone_local(zone, far[i])).first, far[i]);
    }
}
END_TEST

static const struct {
    const char *text, *moment, *local;
} rules[] = {
    {"UTC0", "2030-07-01T00:00:00Z", "2030-07-01T00:00:00Z"},
    {"<+0530>-5:30", "2030-07-01T00:00:00Z", "2030-07-01T05:30:00Z"},
    {"XYZ+12:00:30", "2030-07-01T12:00:30Z", "2030-07-01T00:00:00Z"},
    {"EST5EDT,M3.2.0,M11.1.0", "2030-03-10T06:59:59Z", "2030-03-10T01:59:59Z"},
    {"EST5EDT,M3.2.0,M11.1.0", "2030-03-10T07:00:00Z", "2030-03-10T03:00:00Z"},
    {"<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", "2030-03-31T00:59:59Z", "2030-03-30T21:59:59Z"},
    {"<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", "2030-03-31T01:00:00Z", "2030-03-30T23:00:00Z"},
    {"AAA0BBB,J60/0,J300/0", "2024-03-01T00:00:00Z", "2024-03-01T01:00:00Z"},
    {"AAA0BBB,J60/0,J300/0", "2024-02-29T23:59:59Z", "2024-02-29T23:59:59Z"},
    {"AAA0BBB,59/0,300/0", "2024-02-29T00:00:00Z", "2024-02-29T01:00:00Z"},
    {"AAA0BBB,59/0,300/0", "2025-03-01T00:00:00Z", "2025-03-01T01:00:00Z"},
    {"XXX3EDT4,0/0,J365/23", "2030-01-01T02:59:59Z", "2029-12-31T22:59:59Z"},
    {"XXX3EDT4,0/0,J365/23", "2030-06-01T00:00:00Z", "2030-05-31T20:00:00Z"},
    {"AAA0BBB,J365/167,J1/-167", "2030-01-02T00:00:00Z", "2030-01-02T00:00:00Z"},
};

START_TEST(a_rule_is_followed)
{
    struct zone zone = {.has_rule = true};

    ck_assert_msg(zone_rule_parse(rules[_i].text, &zone.rule), "%s", rules[_i].text);
    ck_assert_msg(zone_local(&zone, zones_seconds(rules[_i].moment)) ==
                      zones_seconds(rules[_i].local),
                  "%s at %s", rules[_i].text, rules[_i].moment);
}
END_TEST

static const char *const no_rules[] = {
    "",
    "CET",
    "CE-1",
    "-1",
    "<+01-1",
    "CET-25",
    "CET-1:60",
    "CET-1:",
    "CET-1 ",
    "CET-1CEST",
    "CET-1CEST,M3.5.0",
    "CET-1CEST,M13.5.0,M10.5.0",
    "CET-1CEST,M3.6.0,M10.5.0",
    "CET-1CEST,M3.0.0,M10.5.0",
    "CET-1CEST,M3.5.7,M10.5.0",
    "CET-1CEST,M3.5,M10.5.0",
    "CET-1CEST,J0,J365",
    "CET-1CEST,366,J365",
    "CET-1CEST,M3.5.0/168,M10.5.0",
    "CET-1CEST,M3.5.0,M10.5.0/3x",
    "CET-99999999999999999999",
};

START_TEST(what_is_no_rule_is_refused)
{
    struct zone_rule rule;

    ck_assert_msg(!zone_rule_parse(no_rules[_i], &rule), "%s", no_rules[_i]);
}
END_TEST

Suite *zone_suite(void)
{
    Suite *suite = suite_create("base/zone");
    TCase *time = pure_case("time");
    TCase *rule = pure_case("rule");

    tcase_add_loop_test(time, the_clock_shows_the_local_time, 0, COUNT_OF(locals));
    tcase_add_loop_test(time, a_local_time_comes_once_twice_or_never, 0, COUNT_OF(moments));
    tcase_add_loop_test(time, spans_follow_each_other_without_a_break, 0, COUNT_OF(names));
    tcase_add_loop_test(time, every_moment_is_found_again_by_its_local_time, 0, COUNT_OF(names));
    tcase_add_test(time, a_table_and_a_rule_that_say_the_same_are_the_same);
    tcase_add_test(time, times_without_end_do_not_overflow);
    tcase_set_timeout(time, 60);
    suite_add_tcase(suite, time);

    tcase_add_loop_test(rule, a_rule_is_followed, 0, COUNT_OF(rules));
    tcase_add_loop_test(rule, what_is_no_rule_is_refused, 0, COUNT_OF(no_rules));
    suite_add_tcase(suite, rule);
    return suite;
}

/*
 * test_cron_due.c - which slots are enqueued, on time and after an absence.
 */
#include "job/cron_due.h"

#include "base/error.h"
#include "base/timestamp.h"
#include "job/cron_parse.h"
#include "suites.h"
#include "zones.h"

#include <check.h>

static struct cron parsed(const char *text)
{
    struct cron cron = {0};
    struct error err;

    ck_assert_msg(cron_parse(text, &cron, &err), "%s", err.text);
    return cron;
}

static usec_t usec(const char *text)
{
    return zones_seconds(text) * USEC_PER_SEC;
}

#define DAILY     "0 3 * * *"
#define MINUTELY  "* * * * *"
#define SECONDLY  "* * * * * *"
#define LAST_RUN  "2024-05-01T03:00:00Z"
#define THREE_ON  "2024-05-04T12:00:00Z"
#define FIRST_OFF "2024-05-02T03:00:00Z"
#define LAST_OFF  "2024-05-04T03:00:00Z"

static const struct {
    const char *rule, *schedule, *zone;
    enum cron_catch_up catch_up;
    const char *last, *now;
    size_t count;
    const char *first, *final; /* slots */
} cases[] = {
    {"nothing is due before its time", DAILY, "UTC", CATCH_UP_LAST, LAST_RUN,
     "2024-05-02T02:59:59Z", 0, NULL, NULL},
    {"on time it is", DAILY, "UTC", CATCH_UP_LAST, LAST_RUN, FIRST_OFF, 1, FIRST_OFF, FIRST_OFF},
    {"also for none", DAILY, "UTC", CATCH_UP_NONE, LAST_RUN, FIRST_OFF, 1, FIRST_OFF, FIRST_OFF},
    {"a little late is on time", DAILY, "UTC", CATCH_UP_NONE, LAST_RUN, "2024-05-02T03:00:09Z", 1,
     FIRST_OFF, FIRST_OFF},
    {"any later it was missed", DAILY, "UTC", CATCH_UP_NONE, LAST_RUN, "2024-05-02T03:00:10Z", 0,
     NULL, NULL},
    {"three days away: last is one", DAILY, "UTC", CATCH_UP_LAST, LAST_RUN, THREE_ON, 1, LAST_OFF,
     LAST_OFF},
    {"all is three", DAILY, "UTC", CATCH_UP_ALL, LAST_RUN, THREE_ON, 3, FIRST_OFF, LAST_OFF},
    {"none is none", DAILY, "UTC", CATCH_UP_NONE, LAST_RUN, THREE_ON, 0, NULL, NULL},
    {"none goes on", DAILY, "UTC", CATCH_UP_NONE, LAST_RUN, "2024-05-05T03:00:01Z", 1,
     "2024-05-05T03:00:00Z", "2024-05-05T03:00:00Z"},
    {"a clock that was set back", DAILY, "UTC", CATCH_UP_ALL, LAST_RUN, "2024-04-01T00:00:00Z", 0,
     NULL, NULL},
    {"all is bounded", MINUTELY, "UTC", CATCH_UP_ALL, LAST_RUN, THREE_ON, CRON_SLOTS_MAX,
     "2024-05-01T03:01:00Z", "2024-05-01T04:40:00Z"},
    {"last of many is the last", MINUTELY, "UTC", CATCH_UP_LAST, LAST_RUN, "2024-05-04T12:00:40Z",
     1, THREE_ON, THREE_ON},
    {"a second that was missed by a pass is on time", SECONDLY, "UTC", CATCH_UP_LAST, LAST_RUN,
     "2024-05-01T03:00:03Z", 3, "2024-05-01T03:00:01Z", "2024-05-01T03:00:03Z"},
    {"of an absence one second is enough", SECONDLY, "UTC", CATCH_UP_LAST, LAST_RUN, THREE_ON, 1,
     THREE_ON, THREE_ON},
    {"years of seconds are no work", SECONDLY, "UTC", CATCH_UP_LAST, "2004-05-01T00:00:00Z",
     THREE_ON, 1, THREE_ON, THREE_ON},
    {"none of an absence are the last ten", SECONDLY, "UTC", CATCH_UP_NONE, LAST_RUN, THREE_ON, 10,
     "2024-05-04T11:59:51Z", THREE_ON},
    {"what the clocks skipped was not missed", "30 2 * * *", "Europe/Berlin", CATCH_UP_ALL,
     "2024-03-30T01:30:00Z", "2024-04-01T12:00:00Z", 2, "2024-03-31T01:00:00Z",
     "2024-04-01T00:30:00Z"},
    {"nor is what they repeat due again", "30 2 * * *", "Europe/Berlin", CATCH_UP_ALL,
     "2024-10-27T00:30:00Z", "2024-10-27T23:00:00Z", 0, NULL, NULL},
    {"last before a long pause of the schedule", "0 0 1 1 *", "UTC", CATCH_UP_LAST,
     "2020-01-01T00:00:00Z", THREE_ON, 1, "2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z"},
};

START_TEST(slots_are_due_as_catch_up_says)
{
    const struct cron cron = parsed(cases[_i].schedule);
    static struct cron_due due;

    cron_due(&cron, zones_get(cases[_i].zone), cases[_i].catch_up, usec(cases[_i].last),
             usec(cases[_i].now), &due);
    ck_assert_msg(due.count == cases[_i].count, "%s: %zu", cases[_i].rule, due.count);
    if (due.count == 0)
        return;
    ck_assert_msg(due.slots[0] == usec(cases[_i].first), "%s", cases[_i].rule);
    ck_assert_msg(due.slots[due.count - 1] == usec(cases[_i].final), "%s", cases[_i].rule);
}
END_TEST

/* As passes do it: what a pass enqueued is the last slot of the next one. */
START_TEST(all_gets_every_slot_once_in_several_passes)
{
    const struct cron cron = parsed(MINUTELY);
    const usec_t now = usec(THREE_ON);
    static struct cron_due due;
    usec_t last = usec(LAST_RUN);
    size_t passes = 0;

    for (;; passes++) {
        cron_due(&cron, &zone_utc, CATCH_UP_ALL, last, now, &due);
        if (due.count == 0)
            break;
        for (size_t i = 0; i < due.count; i++) {
            ck_assert_int_eq(due.slots[i], last + USEC_PER_MIN);
            last = due.slots[i];
        }
    }
    ck_assert_int_eq(last, now);
    ck_assert_uint_eq(passes, 49);
}
END_TEST

START_TEST(a_schedule_that_is_new_has_missed_nothing)
{
    const struct cron cron = parsed(DAILY);
    const usec_t now = usec(THREE_ON);
    static struct cron_due due;

    cron_due(&cron, &zone_utc, CATCH_UP_ALL, cron_first_mark(now), now, &due);
    ck_assert_uint_eq(due.count, 0);
    cron_due(&cron, &zone_utc, CATCH_UP_ALL, cron_first_mark(now), now + 3 * USEC_PER_DAY, &due);
    ck_assert_uint_eq(due.count, 3);
}
END_TEST

START_TEST(a_mark_is_told_from_a_slot)
{
    const usec_t now = usec(THREE_ON);

    ck_assert(!cron_is_mark(now));
    ck_assert(cron_is_mark(cron_first_mark(now)));
    ck_assert(cron_is_mark(cron_first_mark(now + 1)));
    ck_assert_int_eq(cron_first_mark(now + 1), now + 1);
}
END_TEST

Suite *cron_due_suite(void)
{
    Suite *suite = suite_create("job/cron_due");
    TCase *due = pure_case("due");

    tcase_add_loop_test(due, slots_are_due_as_catch_up_says, 0, COUNT_OF(cases));
    tcase_add_test(due, all_gets_every_slot_once_in_several_passes);
    tcase_add_test(due, a_schedule_that_is_new_has_missed_nothing);
    tcase_add_test(due, a_mark_is_told_from_a_slot);
    suite_add_tcase(suite, due);
    return suite;
}

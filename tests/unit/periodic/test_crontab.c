/*
 * test_crontab.c - passes over the cron entries of a pool, by a clock of their own.
 */
#include "periodic/crontab.h"

#include "base/cleanup.h"
#include "job/cron_parse.h"
#include "periodic/scene.h"
#include "suites.h"

#include <string.h>

#define S(n) ((n)*USEC_PER_SEC)
#define DAY  USEC_PER_DAY
#define NOON ((usec_t)20000 * DAY + 12 * USEC_PER_HOUR) /* of some day */

static struct cron_config entry(const char *name, const char *schedule)
{
    struct cron_config config = {.name = name,
                                 .schedule = schedule,
                                 .zone = &zone_utc,
                                 .type = "report",
                                 .queue = QUEUE,
                                 .payload = {(const unsigned char *)"null", 4},
                                 .priority = 5,
                                 .enabled = true};
    struct error err;

    MUST(cron_parse(schedule, &config.times, &err));
    return config;
}

static void use(struct scene *scene, struct cron_config *entries, size_t count,
                struct crontab *crontab)
{
    struct error err;

    scene->config.cron = entries;
    scene->config.cron_count = count;
    scene->config.max_payload = JOB_PAYLOAD_DEFAULT;
    MUST(crontab_init(crontab, &scene->config, &err));
}

static usec_t pass(struct scene *scene, struct crontab *crontab, usec_t now)
{
    struct error err;
    usec_t next;

    MUST(crontab_pass(crontab, scene->store, now, &next, &err));
    return next;
}

static size_t count_jobs(struct scene *scene)
{
    CLEANUP(job_list_done) struct job_list jobs = {0};
    const struct job_filter filter = {.limit = JOB_PAGE_MAX};
    struct job_cursor next;
    struct error err;

    MUST(store_list(scene->store, &filter, &jobs, &next, &err));
    return jobs.count;
}

START_TEST(a_slot_is_enqueued_when_it_comes_and_once)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(crontab_done) struct crontab crontab = {0};
    struct cron_config entries[] = {entry("minutely", "* * * * *")};

    use(&scene, entries, 1, &crontab);
    ck_assert_int_eq(pass(&scene, &crontab, NOON + S(30)), NOON + S(60));
    ck_assert_uint_eq(count_jobs(&scene), 0);
    pass(&scene, &crontab, NOON + S(60) - 1);
    ck_assert_uint_eq(count_jobs(&scene), 0);
    ck_assert_int_eq(pass(&scene, &crontab, NOON + S(60)), NOON + S(120));
    ck_assert_uint_eq(count_jobs(&scene), 1);
    pass(&scene, &crontab, NOON + S(61));
    ck_assert_uint_eq(count_jobs(&scene), 1);
    pass(&scene, &crontab, NOON + S(121));
    ck_assert_uint_eq(count_jobs(&scene), 2);
}
END_TEST

START_TEST(two_pools_enqueue_a_slot_once)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(crontab_done) struct crontab first = {0};
    CLEANUP(crontab_done) struct crontab second = {0};
    struct cron_config entries[] = {entry("secondly", "* * * * * *")};

    use(&scene, entries, 1, &first);
    use(&scene, entries, 1, &second);
    for (int i = 0; i <= 30; i++) {
        pass(&scene, i % 2 == 0 ? &first : &second, NOON + S(i));
        pass(&scene, i % 2 == 0 ? &second : &first, NOON + S(i));
    }
    ck_assert_uint_eq(count_jobs(&scene), 31);
}
END_TEST

/* The clock said 2040 for a moment, and cron was silent since. */
START_TEST(after_a_clock_that_was_far_ahead_it_goes_on_from_now)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(crontab_done) struct crontab before = {0};
    CLEANUP(crontab_done) struct crontab first = {0};
    CLEANUP(crontab_done) struct crontab second = {0};
    struct cron_config entries[] = {entry("secondly", "* * * * * *")};

    use(&scene, entries, 1, &before);
    pass(&scene, &before, NOON + 5000 * DAY);
    const size_t ahead = count_jobs(&scene);
    use(&scene, entries, 1, &first);
    use(&scene, entries, 1, &second);
    pass(&scene, &first, NOON);
    pass(&scene, &second, NOON);
    for (int i = 1; i <= 10; i++) {
        pass(&scene, &first, NOON + S(i));
        pass(&scene, &second, NOON + S(i));
    }
    ck_assert_uint_eq(count_jobs(&scene), ahead + 11);
}
END_TEST

static const struct {
    enum cron_catch_up catch_up;
    size_t jobs;
} absences[] = {{CATCH_UP_LAST, 1}, {CATCH_UP_ALL, 3}, {CATCH_UP_NONE, 0}};

START_TEST(after_three_days_away_catch_up_says_what_is_enqueued)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(crontab_done) struct crontab before = {0};
    CLEANUP(crontab_done) struct crontab after = {0};
    struct cron_config entries[] = {entry("daily", "0 3 * * *")};

    entries[0].catch_up = absences[_i].catch_up;
    use(&scene, entries, 1, &before);
    pass(&scene, &before, NOON);
    use(&scene, entries, 1, &after);
    pass(&scene, &after, NOON + 3 * DAY);
    ck_assert_uint_eq(count_jobs(&scene), absences[_i].jobs);
    pass(&scene, &after, NOON + 3 * DAY + S(60));
    ck_assert_uint_eq(count_jobs(&scene), absences[_i].jobs);
    pass(&scene, &after, NOON + 3 * DAY + 15 * USEC_PER_HOUR);
    ck_assert_uint_eq(count_jobs(&scene), absences[_i].jobs + 1);
}
END_TEST

START_TEST(a_long_absence_is_made_up_for_in_several_passes)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(crontab_done) struct crontab crontab = {0};
    struct cron_config entries[] = {entry("minutely", "* * * * *")};
    const usec_t now = NOON + (CRON_SLOTS_MAX + 50) * USEC_PER_MIN;

    entries[0].catch_up = CATCH_UP_ALL;
    use(&scene, entries, 1, &crontab);
    pass(&scene, &crontab, NOON + 1);
    ck_assert_int_eq(pass(&scene, &crontab, now), now);
    ck_assert_uint_eq(count_jobs(&scene), CRON_SLOTS_MAX);
    ck_assert_int_eq(pass(&scene, &crontab, now), now + USEC_PER_MIN);
    ck_assert_uint_eq(count_jobs(&scene), CRON_SLOTS_MAX + 50);
}
END_TEST

START_TEST(a_paused_entry_is_passed_over_and_what_it_missed_is_not_made_up_for)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(crontab_done) struct crontab crontab = {0};
    struct cron_config entries[] = {entry("paused", "* * * * *")};
    struct error err;

    entries[0].catch_up = CATCH_UP_ALL;
    use(&scene, entries, 1, &crontab);
    pass(&scene, &crontab, NOON + 1);
    MUST(store_cron_pause(scene.store, "paused", "kim@web-1", NOON + 2, &err));
    pass(&scene, &crontab, NOON + S(60));
    pass(&scene, &crontab, NOON + S(120));
    ck_assert_uint_eq(count_jobs(&scene), 0);
    MUST(store_cron_resume(scene.store, "paused", NOON + S(150), &err));
    pass(&scene, &crontab, NOON + S(180));
    ck_assert_uint_eq(count_jobs(&scene), 1);
}
END_TEST

START_TEST(an_entry_that_is_not_enabled_is_left_alone)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(crontab_done) struct crontab crontab = {0};
    struct cron_config entries[] = {entry("off", "* * * * * *")};
    struct error err;
    struct cron_past past;

    entries[0].enabled = false;
    use(&scene, entries, 1, &crontab);
    ck_assert_int_eq(pass(&scene, &crontab, NOON), 0);
    ck_assert_int_eq(pass(&scene, &crontab, NOON + S(60)), 0);
    MUST(store_cron_last(scene.store, "off", NOON, &past, &err));
    ck_assert_int_eq(past.last, 0);
}
END_TEST

START_TEST(jobs_with_a_key_coalesce)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(crontab_done) struct crontab crontab = {0};
    struct cron_config entries[] = {entry("keyed", "* * * * *")};

    entries[0].key = "one";
    use(&scene, entries, 1, &crontab);
    pass(&scene, &crontab, NOON + 1);
    pass(&scene, &crontab, NOON + S(60));
    pass(&scene, &crontab, NOON + S(120));
    ck_assert_uint_eq(count_jobs(&scene), 1);
}
END_TEST

START_TEST(an_entry_that_is_refused_stops_no_other_and_is_tried_again)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(crontab_done) struct crontab crontab = {0};
    CLEANUP(job_list_done) struct job_list jobs = {0};
    struct cron_config entries[] = {entry("refused", "* * * * *"), entry("fine", "* * * * *")};
    struct cron_config other = entry("other", "* * * * *");
    struct enqueue enqueue = enqueue_defaults();
    struct enqueued enqueued;
    struct error err;

    entries[0].key = other.key = "taken";
    other.type = "of-another-type";
    struct job waiting = config_cron_job(&other);
    MUST(enqueue_jobs(&enqueue, scene.store, &waiting, 1, NOON, &enqueued, &err));
    use(&scene, entries, COUNT_OF(entries), &crontab);
    pass(&scene, &crontab, NOON + 1);
    ck_assert_int_eq(pass(&scene, &crontab, NOON + S(60)), NOON + S(61));
    ck_assert_uint_eq(count_jobs(&scene), 2);
    scene_settle(&scene, scene_take(&scene, LEASE, NOON + S(60), &jobs), SETTLE_ACK, 0,
                 NOON + S(60));
    pass(&scene, &crontab, NOON + S(61));
    ck_assert_uint_eq(count_jobs(&scene), 3);
}
END_TEST

START_TEST(a_clock_that_is_set_back_wakes_it)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(crontab_done) struct crontab crontab = {0};
    struct cron_config entries[] = {entry("late", "0 3 * * *")};

    use(&scene, entries, 1, &crontab);
    ck_assert_int_eq(pass(&scene, &crontab, NOON), NOON + S(60));
    ck_assert_int_eq(pass(&scene, &crontab, NOON - DAY), NOON - DAY + S(60));
}
END_TEST

Suite *crontab_suite(void)
{
    Suite *suite = suite_create("periodic/crontab");
    TCase *passes = tcase_create("passes");

    tcase_add_test(passes, a_slot_is_enqueued_when_it_comes_and_once);
    tcase_add_test(passes, two_pools_enqueue_a_slot_once);
    tcase_add_test(passes, after_a_clock_that_was_far_ahead_it_goes_on_from_now);
    tcase_add_loop_test(passes, after_three_days_away_catch_up_says_what_is_enqueued, 0,
                        COUNT_OF(absences));
    tcase_add_test(passes, a_long_absence_is_made_up_for_in_several_passes);
    tcase_add_test(passes, a_paused_entry_is_passed_over_and_what_it_missed_is_not_made_up_for);
    tcase_add_test(passes, an_entry_that_is_not_enabled_is_left_alone);
    tcase_add_test(passes, jobs_with_a_key_coalesce);
    tcase_add_test(passes, an_entry_that_is_refused_stops_no_other_and_is_tried_again);
    tcase_add_test(passes, a_clock_that_is_set_back_wakes_it);
    suite_add_tcase(suite, passes);
    return suite;
}

/*
 * test_cron.c - slots of schedules: each is stored once, however many try, and whatever a clock has
 * said before.
 */
#include "companion.h"
#include "contract.h"

#include "job/cron_due.h"

#include <string.h>

#define RACERS 32
#define SLOTS  10
#define AHEAD  (NOW + 5000 * USEC_PER_DAY)

static struct job cron_job(const char *queue)
{
    struct uuid_maker ids = {0};
    struct job job = job_defaults();

    job.id = uuid_make(&ids, NOW);
    job.type = "report";
    job.queue = queue;
    return job;
}

static void enqueue_slots(struct racer *racer)
{
    struct error err = {0};

    for (int slot = 1; slot <= SLOTS; slot++) {
        struct job job = cron_job(racer->scene->queue);
        bool stored = false;
        child_must(store_cron_enqueue(racer->store, racer->scene->queue, NOW + slot, &job, NOW,
                                      &stored, &err),
                   &err);
        if (stored)
            race_report(racer, &slot, sizeof slot);
    }
}

START_TEST(cron_enqueue_stores_each_slot_once_among_32_racers)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(buffer_done) struct buffer reports = {0};
    int slots[SLOTS], times[SLOTS + 1] = {0};

    race(&scene, RACERS, enqueue_slots, NULL, &reports);
    ck_assert_uint_eq(reports.length, sizeof slots);
    memcpy(slots, reports.data, sizeof slots);
    for (size_t i = 0; i < SLOTS; i++)
        times[slots[i]]++;
    for (int slot = 1; slot <= SLOTS; slot++)
        ck_assert_int_eq(times[slot], 1);
    ck_assert_uint_eq(scene_count(&scene), SLOTS);
}
END_TEST

static bool cron(struct scene *scene, const char *name, usec_t slot)
{
    struct job job = cron_job(scene->queue);
    struct error err = {0};
    bool stored = false;

    MUST(store_cron_enqueue(scene->store, name, slot, &job, NOW, &stored, &err));
    return stored;
}

START_TEST(cron_enqueue_takes_only_later_slots)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct job invalid = cron_job(scene.queue);
    struct error err = {0};
    bool stored = true;

    ck_assert(cron(&scene, "nightly", NOW));
    ck_assert(!cron(&scene, "nightly", NOW));
    ck_assert(!cron(&scene, "nightly", NOW - 1));
    ck_assert(cron(&scene, "hourly", NOW - 1));
    ck_assert(cron(&scene, "nightly", NOW + 1));
    ck_assert_uint_eq(scene_count(&scene), 3);

    /* A job that is refused does not use its slot up. */
    invalid.type = "";
    MUST_FAIL(TH_E_INVALID,
              store_cron_enqueue(scene.store, "nightly", NOW + 2, &invalid, NOW, &stored, &err));
    ck_assert(cron(&scene, "nightly", NOW + 2));
    ck_assert_uint_eq(scene_count(&scene), 4);
}
END_TEST

START_TEST(cron_enqueue_that_meets_a_conflict_does_not_use_its_slot_up)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct job waiting = scene_job(&scene), job = cron_job(scene.queue);
    struct error err = {0};
    bool stored = true;

    waiting.key = job.key = "key";
    waiting.type = "of-another-type";
    scene_enqueue(&scene, waiting, NOW);
    AUTO_FREE char *before = scene_snapshot_queue(&scene);
    MUST_FAIL(TH_E_CONFLICT,
              store_cron_enqueue(scene.store, "nightly", NOW, &job, NOW, &stored, &err));
    assert_queue_unchanged(&scene, before);
    ck_assert(cron(&scene, "nightly", NOW));
}
END_TEST

static usec_t last_slot(struct scene *scene, const char *name)
{
    struct error err = {0};
    struct cron_past past;

    MUST(store_cron_last(scene->store, name, NOW, &past, &err));
    ck_assert_int_eq(past.doubted, 0);
    return past.last;
}

START_TEST(the_last_slot_of_a_schedule_is_kept)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();

    ck_assert_int_eq(last_slot(&scene, "nightly"), 0);
    ck_assert(cron(&scene, "nightly", NOW));
    ck_assert_int_eq(last_slot(&scene, "nightly"), NOW);
    ck_assert(!cron(&scene, "nightly", NOW - 1));
    ck_assert_int_eq(last_slot(&scene, "nightly"), NOW);
    ck_assert(cron(&scene, "nightly", NOW + 1));
    ck_assert_int_eq(last_slot(&scene, "nightly"), NOW + 1);
    ck_assert_int_eq(last_slot(&scene, "hourly"), 0);
}
END_TEST

START_TEST(only_a_schedule_without_a_slot_is_marked)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct error err = {0};

    MUST(store_cron_mark(scene.store, "nightly", NOW, NOW, &err));
    ck_assert_int_eq(last_slot(&scene, "nightly"), NOW);
    MUST(store_cron_mark(scene.store, "nightly", NOW + 1, NOW, &err));
    ck_assert_int_eq(last_slot(&scene, "nightly"), NOW);
    ck_assert(!cron(&scene, "nightly", NOW));
    ck_assert(cron(&scene, "nightly", NOW + 1));
    MUST(store_cron_mark(scene.store, "nightly", NOW + 2, NOW, &err));
    ck_assert_int_eq(last_slot(&scene, "nightly"), NOW + 1);
    ck_assert_uint_eq(scene_count(&scene), 1);
    MUST_FAIL(TH_E_INVALID, store_cron_mark(scene.store, "", NOW, NOW, &err));
}
END_TEST

START_TEST(a_schedule_is_paused_by_somebody_until_it_is_resumed)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct error err = {0};
    struct cron_past past;

    ck_assert(cron(&scene, "nightly", NOW - 5));
    MUST(store_cron_pause(scene.store, "nightly", "kim@web-1", NOW, &err));
    MUST(store_cron_pause(scene.store, "nightly", "robin@web-2", NOW + 1, &err));
    MUST(store_cron_last(scene.store, "nightly", NOW, &past, &err));
    ASSERT_TIME(past.paused_at, NOW);
    ck_assert_str_eq(past.paused_by, "kim@web-1");
    ASSERT_TIME(past.last, NOW - 5);

    /* What it missed is over. */
    MUST(store_cron_resume(scene.store, "nightly", NOW + 10, &err));
    MUST(store_cron_last(scene.store, "nightly", NOW + 10, &past, &err));
    ASSERT_TIME(past.paused_at, 0);
    ck_assert_str_eq(past.paused_by, "");
    ASSERT_TIME(past.last, cron_first_mark(NOW + 10));

    /* Whoever resumes what was not paused skips nothing. */
    MUST(store_cron_resume(scene.store, "nightly", NOW + 20, &err));
    ASSERT_TIME(last_slot(&scene, "nightly"), cron_first_mark(NOW + 10));
}
END_TEST

START_TEST(a_schedule_that_nobody_has_seen_can_be_paused)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct error err = {0};
    struct cron_past past;

    MUST(store_cron_pause(scene.store, "nightly", NULL, NOW, &err));
    MUST(store_cron_last(scene.store, "nightly", NOW, &past, &err));
    ASSERT_TIME(past.paused_at, NOW);
    ck_assert_str_eq(past.paused_by, "");
    MUST(store_cron_last(scene.store, "hourly", NOW, &past, &err));
    ASSERT_TIME(past.paused_at, 0);
    MUST_FAIL(TH_E_INVALID, store_cron_pause(scene.store, "", NULL, NOW, &err));
}
END_TEST

/* ---- a clock that was ahead ---- */

/* As if the clock had said 2040. */
static void enqueue_ahead(struct scene *scene, const char *name, const char *queue)
{
    struct job job = cron_job(queue);
    struct error err = {0};
    bool stored = false;

    MUST(store_cron_enqueue(scene->store, name, AHEAD, &job, AHEAD, &stored, &err));
    ck_assert(stored);
}

/* Nothing was enqueued any more, for fourteen years. */
START_TEST(a_slot_that_a_wrong_clock_stored_counts_for_nothing)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct error err = {0};
    struct cron_past past;

    enqueue_ahead(&scene, "nightly", scene.queue);
    MUST(store_cron_last(scene.store, "nightly", NOW, &past, &err));
    ck_assert_int_eq(past.last, 0);
    ck_assert_int_eq(past.doubted, AHEAD);
    MUST(store_cron_mark(scene.store, "nightly", NOW - 1, NOW, &err));
    MUST(store_cron_last(scene.store, "nightly", NOW, &past, &err));
    ck_assert_int_eq(past.last, NOW - 1);
    ck_assert(!cron(&scene, "nightly", NOW - 1));
    ck_assert(cron(&scene, "nightly", NOW));
    ck_assert(!cron(&scene, "nightly", NOW));
    ck_assert(cron(&scene, "nightly", NOW + 1));
    ck_assert_int_eq(last_slot(&scene, "nightly"), NOW + 1);
}
END_TEST

START_TEST(a_slot_of_the_next_hours_is_waited_for)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    const usec_t soon = NOW + CRON_AHEAD_MAX;

    ck_assert(cron(&scene, "nightly", soon));
    ck_assert_int_eq(last_slot(&scene, "nightly"), soon);
    ck_assert(!cron(&scene, "nightly", soon - 1));
}
END_TEST

START_TEST(a_slot_of_another_queue_that_cannot_be_counts_for_nothing)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();

    enqueue_ahead(&scene, "nightly", "elsewhere");
    ck_assert(cron(&scene, "nightly", NOW));
    ck_assert(!cron(&scene, "nightly", NOW));
    ck_assert(cron(&scene, "nightly", NOW + 1));
}
END_TEST

START_TEST(behind_a_slot_that_cannot_be_each_slot_is_stored_once_among_32_racers)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(buffer_done) struct buffer reports = {0};
    int times[SLOTS + 1] = {0};

    enqueue_ahead(&scene, scene.queue, scene.queue);
    race(&scene, RACERS, enqueue_slots, NULL, &reports);
    for (size_t at = 0; at < reports.length; at += sizeof(int)) {
        int slot;
        memcpy(&slot, reports.data + at, sizeof slot);
        times[slot]++;
    }
    for (int slot = 1; slot <= SLOTS; slot++)
        ck_assert_int_eq(times[slot], 1);
}
END_TEST

Suite *cron_suite(void)
{
    Suite *suite = suite_create("cron");
    TCase *cron_group = contract_group(suite, "cron");

    tcase_add_test(cron_group, cron_enqueue_stores_each_slot_once_among_32_racers);
    tcase_add_test(cron_group, cron_enqueue_takes_only_later_slots);
    tcase_add_test(cron_group, a_slot_that_a_wrong_clock_stored_counts_for_nothing);
    tcase_add_test(cron_group, a_slot_of_the_next_hours_is_waited_for);
    tcase_add_test(cron_group, a_slot_of_another_queue_that_cannot_be_counts_for_nothing);
    tcase_add_test(cron_group,
                   behind_a_slot_that_cannot_be_each_slot_is_stored_once_among_32_racers);
    tcase_add_test(cron_group, the_last_slot_of_a_schedule_is_kept);
    tcase_add_test(cron_group, a_schedule_is_paused_by_somebody_until_it_is_resumed);
    tcase_add_test(cron_group, a_schedule_that_nobody_has_seen_can_be_paused);
    tcase_add_test(cron_group, only_a_schedule_without_a_slot_is_marked);
    tcase_add_test(cron_group, cron_enqueue_that_meets_a_conflict_does_not_use_its_slot_up);
    return suite;
}

/*
 * test_redis_pages.c - many waiting jobs, where one record holds the places of several: each goes
 * its own way, and when such a record is damaged no others are lost with it.
 */
#include "contract.h"
#include "scene.h"

#define PAGE 14 /* as in src/store/redis/scripts/parts/pages.lua */
#define LINE (4 * PAGE + 5)

struct line {
    struct scene scene;
    struct uuid ids[LINE];
};

static void line_close(struct line *line)
{
    scene_close(&line->scene);
}

/* A job for each, in one batch or one by one. */
static void line_open(struct line *line, bool together)
{
    line->scene = scene_open_fresh();
    if (together)
        scene_add_many(&line->scene, LINE, line->ids);
    for (size_t i = 0; !together && i < LINE; i++)
        line->ids[i] = scene_add(&line->scene);
}

static void assert_sound(struct line *line)
{
    const struct backdoor *backdoor = scene_backend()->backdoor;
    char why[256] = "";

    if (backdoor->is_sound)
        ck_assert_msg(backdoor->is_sound(line->scene.url, why, sizeof why), "%s", why);
}

/* They are what a list with this filter shows, in pages of any size. */
static void assert_listed(struct line *line, struct job_filter filter, size_t first, size_t count)
{
    struct job_cursor next = {0};
    struct error err = {0};
    size_t seen = 0;

    do {
        CLEANUP(job_list_done) struct job_list found = {0};
        MUST(store_list(line->scene.store, &filter, &found, &next, &err));
        for (size_t i = 0; i < found.count; i++, seen++) {
            size_t at = filter.oldest_first ? first + seen : first + count - 1 - seen;
            ck_assert_uint_lt(seen, count);
            ASSERT_SAME_ID(&found.items[i].id, &line->ids[at]);
        }
        filter.after = next;
    } while (next.is_set);
    ck_assert_uint_eq(seen, count);
}

static void assert_all_listed(struct line *line, size_t first, size_t count)
{
    static const size_t limits[] = {1, PAGE - 1, PAGE, PAGE + 1, MANY};

    for (size_t i = 0; i < 2 * COUNT_OF(limits); i++) {
        struct job_filter filter = {.limit = limits[i / 2], .oldest_first = i % 2 == 0};
        assert_listed(line, filter, first, count);
        filter.by_state = true;
        filter.state = JOB_READY;
        assert_listed(line, filter, first, count);
    }
}

static void assert_before(struct line *line, size_t i, size_t expected)
{
    CLEANUP(job_list_done) struct job_list found = {0};
    struct error err = {0};
    size_t before;

    MUST(store_get(line->scene.store, &line->ids[i], &found, &err));
    MUST(store_count_before(line->scene.store, &found.items[0], MANY, &before, &err));
    ck_assert_uint_eq(before, expected);
}

static void take(struct line *line, size_t count, size_t first)
{
    CLEANUP(job_list_done) struct job_list taken = {0};
    const struct reservation wanted = scene_wants(&line->scene, count);

    scene_reserve(&line->scene, &wanted, NOW, &taken);
    ck_assert_uint_eq(taken.count, count);
    for (size_t i = 0; i < count; i++)
        ASSERT_SAME_ID(&taken.items[i].id, &line->ids[first + i]);
}

/* Loops over both ways to come: together and one by one. */
START_TEST(many_that_wait_are_in_order)
{
    CLEANUP(line_close) struct line line;

    line_open(&line, _i == 0);
    assert_sound(&line);
    assert_all_listed(&line, 0, LINE);
    ck_assert_int_eq(scene_stats(&line.scene).jobs[JOB_READY], LINE);
    for (size_t i = 0; i < LINE; i++)
        assert_before(&line, i, i);
    take(&line, 3, 0);
    take(&line, 2 * PAGE, 3);
    assert_sound(&line);
    assert_before(&line, LINE - 1, LINE - 4 - 2 * PAGE);
    ck_assert_int_eq(scene_stats(&line.scene).jobs[JOB_READY], LINE - 3 - 2 * PAGE);
    take(&line, LINE - 3 - 2 * PAGE, 3 + 2 * PAGE);
    assert_sound(&line);
}
END_TEST

START_TEST(each_of_many_that_wait_goes_its_own_way)
{
    CLEANUP(line_close) struct line line;
    const struct uuid *gone = &line.ids[PAGE + 3];
    enum th_error_code verdict;
    struct error err = {0};

    line_open(&line, _i == 0);
    ASSERT_VERDICT(scene_cancel(&line.scene, gone, NOW), TH_OK);
    ASSERT_STATE(&line.scene, gone, JOB_CANCELLED);
    assert_before(&line, LINE - 1, LINE - 2);
    assert_sound(&line);
    MUST(store_requeue(line.scene.store, gone, 1, 0, NOW, &verdict, &err));
    ASSERT_VERDICT(verdict, TH_OK);
    ASSERT_STATE(&line.scene, gone, JOB_READY);
    assert_sound(&line);
    take(&line, LINE, 0);
}
END_TEST

START_TEST(acks_of_some_leave_the_others_listed)
{
    CLEANUP(line_close) struct line line;
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct settlement settlements[LINE];
    enum th_error_code verdicts[LINE];
    struct error err = {0};

    line_open(&line, _i == 0);
    const struct reservation wanted = scene_wants(&line.scene, LINE - 7);
    scene_reserve(&line.scene, &wanted, NOW, &taken);
    for (size_t i = 0; i < taken.count; i++) {
        const struct claim claim = claim_of(&line.scene, &taken.items[i]);
        settlements[i] = claim_settlement(&claim, SETTLE_ACK);
        settlements[i].forget = true;
    }
    const struct settlement_list finished = {settlements, taken.count};
    MUST(store_settle(line.scene.store, &finished, NOW, verdicts, &err));
    assert_all_listed(&line, LINE - 7, 7);
    assert_sound(&line);
}
END_TEST

/* A repeated batch is answered with what there is, and a part of it that is new is stored. */
START_TEST(a_batch_that_is_partly_there_is_completed)
{
    CLEANUP(line_close) struct line line;
    struct job jobs[LINE];
    struct enqueued enqueued[LINE];
    struct error err = {0};

    line.scene = scene_open_fresh();
    for (size_t i = 0; i < LINE; i++) {
        jobs[i] = scene_job(&line.scene);
        line.ids[i] = jobs[i].id;
    }
    MUST(store_enqueue(line.scene.store, jobs + PAGE, 2 * PAGE, NOW, enqueued, &err));
    MUST(store_enqueue(line.scene.store, jobs, LINE, NOW, enqueued, &err));
    for (size_t i = 0; i < LINE; i++) {
        ASSERT_SAME_ID(&enqueued[i].id, &line.ids[i]);
        ck_assert_int_eq(enqueued[i].existed, i >= PAGE && i < PAGE + 2 * PAGE);
        ck_assert_int_eq(enqueued[i].state, JOB_READY);
    }
    assert_sound(&line);
    assert_listed(&line, (struct job_filter){.limit = MANY, .oldest_first = true}, 0, LINE);
}
END_TEST

/* What is damaged, and how many jobs are lost with it. */
static const struct {
    const char *key, *way;
    size_t lost;
} damages[] = {
    {"ready_pages", "half", PAGE / 2}, {"ready_pages", "gone", PAGE},
    {"ready_pages", "first", PAGE},    {"ready_pages", "garbage", PAGE},
    {"ready_pages", "letters", PAGE},  {"ready_pages", "nines", PAGE},
    {"ids_pages", "half", 0},          {"ids_pages", "gone", 0},
    {"ids_pages", "first", 0},         {"ids_pages", "garbage", 0},
    {"ids_pages", "letters", 0},       {"ids_pages", "nines", 0},
};

START_TEST(a_damaged_record_of_several_places_holds_up_nobody_else)
{
    const struct backdoor *backdoor = scene_backend()->backdoor;
    const struct damage damage = {.what = damages[_i].key,
                                  .kind = "zset",
                                  .key = damages[_i].key,
                                  .name = "",
                                  .way = damages[_i].way};
    const struct job_filter all = {.limit = MANY};
    size_t ran = 0, count;

    if (!backdoor->damage)
        return;
    CLEANUP(line_close) struct line line;
    line_open(&line, true);
    backdoor->do_damage(line.scene.url, line.scene.queue, &line.ids[0], &damage);
    do {
        CLEANUP(job_list_done) struct job_list taken = {0}, listed = {0};
        const struct reservation wanted = scene_wants(&line.scene, PAGE + 1);
        scene_list(&line.scene, &all, &listed);
        scene_reserve(&line.scene, &wanted, NOW, &taken);
        for (size_t i = 0; i < taken.count; i++) {
            const struct claim claim = claim_of(&line.scene, &taken.items[i]);
            scene_finish(&line.scene, &claim, SETTLE_ACK, NOW);
        }
        count = taken.count;
        ran += count;
    } while (count > 0);
    ck_assert_uint_eq(ran, LINE - damages[_i].lost);
    ck_assert_int_eq(scene_stats(&line.scene).jobs[JOB_READY], 0);
    scene_add_many(&line.scene, LINE, line.ids);
    take(&line, LINE, 0);
}
END_TEST

Suite *redis_pages_suite(void)
{
    Suite *suite = suite_create("redis_pages");
    TCase *places = contract_group(suite, "places");
    TCase *damage = contract_group(suite, "damage");

    tcase_add_loop_test(places, many_that_wait_are_in_order, 0, 2);
    tcase_add_loop_test(places, each_of_many_that_wait_goes_its_own_way, 0, 2);
    tcase_add_loop_test(places, acks_of_some_leave_the_others_listed, 0, 2);
    tcase_add_test(places, a_batch_that_is_partly_there_is_completed);
    tcase_add_loop_test(damage, a_damaged_record_of_several_places_holds_up_nobody_else, 0,
                        COUNT_OF(damages));
    return suite;
}

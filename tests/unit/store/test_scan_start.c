#include "store/postgres/ops/scan_start.h"

#include "base/cleanup.h"
#include "suites.h"

#include <check.h>

#define NOW        ((usec_t)1893553445123456)
#define SECONDS(n) ((usec_t)(n)*USEC_PER_SEC)
#define LONG       (10 * USEC_PER_MSEC)

static struct pg_scan_start *looked_start(struct pg_scan_starts *starts, usec_t took)
{
    struct pg_scan_start *start = pg_scan_starts_find(starts, "mail");

    ck_assert_ptr_nonnull(start);
    pg_scan_start_looked(start, NOW, took, true);
    return start;
}

START_TEST(the_first_scan_starts_at_the_head)
{
    CLEANUP(pg_scan_starts_done) struct pg_scan_starts starts = {0};

    ck_assert(pg_scan_start_is_due(pg_scan_starts_find(&starts, "mail"), NOW));
}
END_TEST

START_TEST(a_scan_each_second_starts_at_the_head)
{
    CLEANUP(pg_scan_starts_done) struct pg_scan_starts starts = {0};
    struct pg_scan_start *start = looked_start(&starts, 0);

    ck_assert(!pg_scan_start_is_due(start, NOW));
    ck_assert(!pg_scan_start_is_due(start, NOW + SECONDS(1) - 1));
    ck_assert(pg_scan_start_is_due(start, NOW + SECONDS(1)));
    ck_assert_msg(pg_scan_start_is_due(start, NOW - 1), "also when the clock goes back");
}
END_TEST

START_TEST(looking_again_takes_at_most_a_tenth_of_the_time)
{
    CLEANUP(pg_scan_starts_done) struct pg_scan_starts starts = {0};
    struct pg_scan_start *start = looked_start(&starts, 5000);

    ck_assert(!pg_scan_start_may_look_again(start, NOW + 49999));
    ck_assert(pg_scan_start_may_look_again(start, NOW + 50000));
    pg_scan_start_looked(start, NOW, SECONDS(3), true);
    ck_assert_msg(pg_scan_start_may_look_again(start, NOW + SECONDS(1)),
                  "it never waits for over a second");
}
END_TEST

START_TEST(each_priority_has_a_place_of_its_own)
{
    CLEANUP(pg_scan_starts_done) struct pg_scan_starts starts = {0};
    struct pg_scan_start *start = looked_start(&starts, 0);

    pg_scan_start_took(start, &(struct job){.priority = 5, .due = NOW, .ref = 7});
    ck_assert(start->behind[5].known && !start->behind[0].known && !start->behind[9].known);
    ck_assert_int_eq(start->behind[5].due, NOW);
    ck_assert_int_eq(start->behind[5].seq, 7);
    pg_scan_starts_forget(&starts);
    ck_assert(pg_scan_start_is_due(start, NOW));
    pg_scan_start_looked(start, NOW, 0, true);
    ck_assert(!start->behind[5].known);
}
END_TEST

START_TEST(places_outlast_a_long_scan_that_found_all)
{
    CLEANUP(pg_scan_starts_done) struct pg_scan_starts starts = {0};
    struct pg_scan_start *start = looked_start(&starts, LONG);

    pg_scan_start_took(start, &(struct job){.priority = 5, .due = NOW, .ref = 7});
    pg_scan_start_looked(start, NOW, LONG, true);
    pg_scan_start_took(start, &(struct job){.priority = 5, .due = NOW, .ref = 3});
    ck_assert_int_eq(start->behind[5].seq, 7);
    pg_scan_start_looked(start, NOW, LONG, false);
    ck_assert_msg(!start->behind[5].known, "others may have come back as well");
    pg_scan_start_took(start, &(struct job){.priority = 5, .due = NOW, .ref = 3});
    ck_assert_int_eq(start->behind[5].seq, 3);
}
END_TEST

START_TEST(the_bell_is_answered_from_the_head_when_that_is_short)
{
    CLEANUP(pg_scan_starts_done) struct pg_scan_starts starts = {0};
    struct pg_scan_start *start = looked_start(&starts, 100);

    pg_scan_starts_rang(&starts);
    ck_assert(pg_scan_start_is_due(start, NOW));
    ck_assert(!pg_scan_starts_pay(&starts));
}
END_TEST

START_TEST(a_bell_that_is_answered_sooner_owes_the_head)
{
    CLEANUP(pg_scan_starts_done) struct pg_scan_starts starts = {0};
    struct pg_scan_start *start = looked_start(&starts, LONG);

    pg_scan_starts_rang(&starts);
    ck_assert_msg(!pg_scan_start_is_due(start, NOW + SECONDS(5)), "however long nothing came");
    ck_assert(!pg_scan_start_may_look_again(start, NOW + SECONDS(5)));
    ck_assert(pg_scan_starts_pay(&starts));
    ck_assert(pg_scan_start_is_due(start, NOW));
    pg_scan_starts_rang(&starts);
    ck_assert_msg(pg_scan_start_is_due(start, NOW), "the next bell does not put it off");
    ck_assert(!pg_scan_starts_pay(&starts));
}
END_TEST

START_TEST(a_scan_from_the_head_pays_what_is_owed)
{
    CLEANUP(pg_scan_starts_done) struct pg_scan_starts starts = {0};
    struct pg_scan_start *start = looked_start(&starts, LONG);

    pg_scan_starts_rang(&starts);
    pg_scan_start_looked(start, NOW, LONG, true);
    ck_assert(!pg_scan_starts_pay(&starts));
    ck_assert(!pg_scan_start_is_due(start, NOW));
}
END_TEST

START_TEST(a_second_bell_is_answered_from_the_head)
{
    CLEANUP(pg_scan_starts_done) struct pg_scan_starts starts = {0};
    struct pg_scan_start *start = looked_start(&starts, LONG);

    pg_scan_starts_rang(&starts);
    pg_scan_starts_rang(&starts);
    ck_assert(pg_scan_start_is_due(start, NOW));
}
END_TEST

START_TEST(each_queue_has_a_head_of_its_own)
{
    CLEANUP(pg_scan_starts_done) struct pg_scan_starts starts = {0};

    looked_start(&starts, 0);
    ck_assert(pg_scan_start_is_due(pg_scan_starts_find(&starts, "other"), NOW));
    ck_assert(!pg_scan_start_is_due(pg_scan_starts_find(&starts, "mail"), NOW));
    ck_assert_uint_eq(starts.count, 2);
}
END_TEST

Suite *scan_start_suite(void)
{
    Suite *suite = suite_create("store/scan_start");
    TCase *group = tcase_create("scan_start");

    tcase_add_test(group, the_first_scan_starts_at_the_head);
    tcase_add_test(group, a_scan_each_second_starts_at_the_head);
    tcase_add_test(group, looking_again_takes_at_most_a_tenth_of_the_time);
    tcase_add_test(group, each_priority_has_a_place_of_its_own);
    tcase_add_test(group, each_queue_has_a_head_of_its_own);
    tcase_add_test(group, places_outlast_a_long_scan_that_found_all);
    tcase_add_test(group, the_bell_is_answered_from_the_head_when_that_is_short);
    tcase_add_test(group, a_bell_that_is_answered_sooner_owes_the_head);
    tcase_add_test(group, a_scan_from_the_head_pays_what_is_owed);
    tcase_add_test(group, a_second_bell_is_answered_from_the_head);
    suite_add_tcase(suite, group);
    return suite;
}

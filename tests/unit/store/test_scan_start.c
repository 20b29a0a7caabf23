#include "store/postgres/ops/scan_start.h"

#include "base/cleanup.h"
#include "suites.h"

#include <check.h>

#define NOW        ((usec_t)1893553445123456)
#define SECONDS(n) ((usec_t)(n)*USEC_PER_SEC)

static struct head *looked_head(struct heads *heads, usec_t took)
{
    struct head *head = heads_find(heads, "mail");

    ck_assert_ptr_nonnull(head);
    head_looked(head, NOW, took);
    return head;
}

START_TEST(the_first_scan_starts_at_the_head)
{
    CLEANUP(heads_done) struct heads heads = {0};

    ck_assert(head_is_due(heads_find(&heads, "mail"), NOW));
}
END_TEST

START_TEST(a_scan_each_second_starts_at_the_head)
{
    CLEANUP(heads_done) struct heads heads = {0};
    struct head *head = looked_head(&heads, 0);

    ck_assert(!head_is_due(head, NOW));
    ck_assert(!head_is_due(head, NOW + SECONDS(1) - 1));
    ck_assert(head_is_due(head, NOW + SECONDS(1)));
    ck_assert_msg(head_is_due(head, NOW - 1), "also when the clock goes back");
}
END_TEST

START_TEST(looking_again_takes_at_most_a_tenth_of_the_time)
{
    CLEANUP(heads_done) struct heads heads = {0};
    struct head *head = looked_head(&heads, 5000);

    ck_assert(!head_may_look_again(head, NOW + 49999));
    ck_assert(head_may_look_again(head, NOW + 50000));
    head_looked(head, NOW, SECONDS(3));
    ck_assert_msg(head_may_look_again(head, NOW + SECONDS(1)), "it never waits for over a second");
}
END_TEST

START_TEST(each_priority_has_a_place_of_its_own)
{
    CLEANUP(heads_done) struct heads heads = {0};
    struct head *head = looked_head(&heads, 0);

    head_took(head, &(struct job){.priority = 5, .due = NOW, .ref = 7});
    ck_assert(head->behind[5].known && !head->behind[0].known && !head->behind[9].known);
    ck_assert_int_eq(head->behind[5].due, NOW);
    ck_assert_int_eq(head->behind[5].seq, 7);
    heads_forget(&heads);
    ck_assert(!head->behind[5].known);
    ck_assert(head_is_due(head, NOW));
}
END_TEST

START_TEST(each_queue_has_a_head_of_its_own)
{
    CLEANUP(heads_done) struct heads heads = {0};

    looked_head(&heads, 0);
    ck_assert(head_is_due(heads_find(&heads, "other"), NOW));
    ck_assert(!head_is_due(heads_find(&heads, "mail"), NOW));
    ck_assert_uint_eq(heads.count, 2);
}
END_TEST

Suite *heads_suite(void)
{
    Suite *suite = suite_create("store/heads");
    TCase *group = tcase_create("heads");

    tcase_add_test(group, the_first_scan_starts_at_the_head);
    tcase_add_test(group, a_scan_each_second_starts_at_the_head);
    tcase_add_test(group, looking_again_takes_at_most_a_tenth_of_the_time);
    tcase_add_test(group, each_priority_has_a_place_of_its_own);
    tcase_add_test(group, each_queue_has_a_head_of_its_own);
    suite_add_tcase(suite, group);
    return suite;
}

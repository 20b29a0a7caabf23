/*
 * test_result_ring.c - results that wait for the dispatcher: looked at, left behind by the dying,
 * forged; and who sleeps.
 */
#include "../../fixtures/scribble.h"
#include "base/arena.h"
#include "base/error.h"
#include "process/result_ring.h"
#include "suites.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEATS 3
#define FIRST 1
#define OTHER 2

static struct result_rings *rings;
static struct arena arena;
static struct error err;

static void setup(void)
{
    ck_assert_msg(result_rings_open(SEATS, &rings, &err), "%s", err.text);
    for (int ring = FIRST; ring <= SEATS; ring++)
        ck_assert_int_eq(result_rings_issue(rings), ring);
    result_ring_use(rings, FIRST);
    result_ring_use(rings, OTHER);
}

static void teardown(void)
{
    arena_done(&arena);
    result_rings_close(&rings);
    result_rings_close(&rings);
}

static bool put(int worker, uint32_t number)
{
    const struct result result = {.hold = {number, 7}, .outcome = {.error = "it went wrong"}};

    return result_ring_put(rings, worker, &result);
}

static void expect(int worker, uint32_t number)
{
    struct result result;

    ck_assert_msg(result_ring_look(rings, worker, &arena, &result, &err) == DELIVERY_DONE, "%s",
                  err.text);
    ck_assert_uint_eq(result.hold.entry, number);
    ck_assert_str_eq(result.outcome.error, "it went wrong");
}

static void expect_nothing(int worker)
{
    struct result result;

    ck_assert_int_eq(result_ring_look(rings, worker, &arena, &result, &err), DELIVERY_NONE);
}

START_TEST(results_come_in_order_and_from_their_worker)
{
    ck_assert(put(FIRST, 1) && put(OTHER, 2) && put(FIRST, 3));
    ck_assert(result_rings_have_news(rings));
    expect(FIRST, 1);
    expect(FIRST, 3);
    expect_nothing(FIRST);
    expect(OTHER, 2);
    ck_assert(!result_rings_have_news(rings));
}
END_TEST

START_TEST(only_the_first_of_what_was_looked_at_may_be_settled)
{
    ck_assert(put(FIRST, 1) && put(FIRST, 2) && put(FIRST, 3));
    expect(FIRST, 1);
    expect(FIRST, 2);
    ck_assert_uint_eq(result_ring_looked(rings, FIRST), 2);
    result_ring_take_first(rings, FIRST, 1);
    ck_assert_uint_eq(result_ring_looked(rings, FIRST), 1);
    result_ring_use(rings, FIRST); /* as the next dispatcher does */
    expect(FIRST, 2);
    expect(FIRST, 3);
}
END_TEST

static void die_as_dispatcher(void)
{
    result_ring_use(rings, SEATS);
    expect(SEATS, 1);
    result_ring_take(rings, SEATS);
    expect(SEATS, 2);
    expect(SEATS, 3);
    _exit(0); /* without having settled the last two */
}

START_TEST(a_dispatcher_that_dies_leaves_what_it_has_not_taken)
{
    int status;

    ck_assert(put(SEATS, 1) && put(SEATS, 2) && put(SEATS, 3));
    if (fork() == 0)
        die_as_dispatcher();
    ck_assert_int_gt(wait(&status), 0);
    ck_assert_int_eq(status, 0);
    result_ring_use(rings, SEATS);
    expect(SEATS, 2);
    expect(SEATS, 3);
    expect_nothing(SEATS);
}
END_TEST

START_TEST(a_worker_that_dies_leaves_its_results)
{
    if (fork() == 0) {
        if (!result_rings_restrict(rings, OTHER, &err) || !put(OTHER, 5))
            _exit(1);
        raise(SIGKILL);
    }
    ck_assert_int_gt(wait(NULL), 0);
    ck_assert_msg(result_rings_issue(rings) == 0,
                  "and nobody gets its ring before they are settled");
    expect(OTHER, 5);
}
END_TEST

static const int wild[] = {0xff, 0x7f, 0x01, 0x00};

/* Some counts lie before what was looked at: nothing may be read again, or for ever. */
START_TEST(a_wild_write_ends_with_its_worker)
{
    struct result result;
    size_t read = 0;

    for (uint32_t i = 0; i < 10; i++)
        ck_assert(put(OTHER, i));
    expect(OTHER, 0);
    if (fork() == 0) {
        if (!result_rings_restrict(rings, OTHER, &err))
            _exit(1);
        scribble(wild[_i]);
        _exit(0);
    }
    ck_assert_int_gt(wait(NULL), 0);
    while (result_ring_look(rings, OTHER, &arena, &result, &err) != DELIVERY_NONE)
        ck_assert_uint_lt(read++, 5000);
    result_ring_take(rings, OTHER);
    result_ring_drop(rings, OTHER);
    result_rings_return(rings, OTHER);

    ck_assert_int_eq(result_rings_issue(rings), OTHER);
    result_ring_use(rings, OTHER);
    ck_assert(!result_rings_have_news(rings));
    ck_assert_uint_eq(result_rings_sleepers(rings), 0);
    ck_assert(put(OTHER, 7));
    expect(OTHER, 7);
    expect_nothing(OTHER);
}
END_TEST

START_TEST(a_full_ring_refuses_until_something_was_taken)
{
    uint32_t count = 0;

    while (put(FIRST, count))
        count++;
    ck_assert_uint_gt(count, 100);
    ck_assert(put(OTHER, 0));
    ck_assert(!result_ring_is_filling(rings, FIRST)); /* as far as was looked */
    expect(FIRST, 0);
    ck_assert(!put(FIRST, count)); /* looked at is not taken */
    result_ring_take(rings, FIRST);
    ck_assert(put(FIRST, count));
    for (uint32_t i = 1; i <= count; i++)
        expect(FIRST, i);
    ck_assert(result_ring_is_filling(rings, FIRST));
    result_ring_take(rings, FIRST);
    ck_assert(!result_ring_is_filling(rings, FIRST));
    expect_nothing(FIRST);
}
END_TEST

START_TEST(a_result_that_does_not_fit_is_refused)
{
    char error[4096];
    const struct result result = {.outcome = {.error = error}};

    memset(error, 'x', sizeof error - 1);
    error[sizeof error - 1] = '\0';
    ck_assert(!result_ring_put(rings, FIRST, &result));
    expect_nothing(FIRST);
}
END_TEST

START_TEST(a_worker_cannot_reach_the_ring_of_another)
{
    signal(SIGSEGV, SIG_DFL); /* without a report of the sanitizer */
    ck_assert_msg(result_rings_restrict(rings, OTHER, &err), "%s", err.text);
    ck_assert(put(OTHER, 1));
    (void)put(FIRST, 1);
}
END_TEST

START_TEST(a_worker_cannot_say_that_the_dispatcher_is_awake)
{
    signal(SIGSEGV, SIG_DFL); /* without a report of the sanitizer */
    ck_assert_msg(result_rings_restrict(rings, OTHER, &err), "%s", err.text);
    result_rings_set_call(rings, RESULT_CALL_AWAKE);
}
END_TEST

START_TEST(who_sleeps_is_seen_by_the_others)
{
    ck_assert_uint_eq(result_rings_sleepers(rings), 0);
    result_ring_set_asleep(rings, FIRST, true);
    result_ring_set_asleep(rings, OTHER, true);
    ck_assert_uint_eq(result_rings_sleepers(rings), 2);
    result_ring_set_asleep(rings, FIRST, false);
    result_ring_leave(rings, OTHER); /* killed while it slept */
    ck_assert_uint_eq(result_rings_sleepers(rings), 0);

    ck_assert_int_eq(result_rings_call(rings), RESULT_CALL_AWAKE);
    result_rings_set_call(rings, RESULT_CALL_PACING);
    ck_assert_int_eq(result_rings_call(rings), RESULT_CALL_PACING);
}
END_TEST

Suite *result_ring_suite(void)
{
    Suite *suite = suite_create("process/result_ring");
    TCase *results = tcase_create("results");
    TCase *reach = tcase_create("reach");

    tcase_add_checked_fixture(results, setup, teardown);
    tcase_add_test(results, results_come_in_order_and_from_their_worker);
    tcase_add_test(results, only_the_first_of_what_was_looked_at_may_be_settled);
    tcase_add_test(results, a_dispatcher_that_dies_leaves_what_it_has_not_taken);
    tcase_add_test(results, a_worker_that_dies_leaves_its_results);
    tcase_add_loop_test(results, a_wild_write_ends_with_its_worker, 0, COUNT_OF(wild));
    tcase_add_test(results, a_full_ring_refuses_until_something_was_taken);
    tcase_add_test(results, a_result_that_does_not_fit_is_refused);
    suite_add_tcase(suite, results);

    tcase_add_checked_fixture(reach, setup, teardown);
    tcase_add_test_raise_signal(reach, a_worker_cannot_reach_the_ring_of_another, SIGSEGV);
    tcase_add_test_raise_signal(reach, a_worker_cannot_say_that_the_dispatcher_is_awake, SIGSEGV);
    tcase_add_test(reach, who_sleeps_is_seen_by_the_others);
    suite_add_tcase(suite, reach);
    return suite;
}

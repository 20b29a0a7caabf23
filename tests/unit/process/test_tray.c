/*
 * test_tray.c - results that wait for the dispatcher: looked at, left behind by the dying, forged;
 * and who sleeps.
 */
#include "../../fixtures/scribble.h"
#include "base/arena.h"
#include "base/error.h"
#include "process/tray.h"
#include "suites.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEATS 3
#define FIRST 1
#define OTHER 2

static struct trays *trays;
static struct arena arena;
static struct error err;

static void setup(void)
{
    ck_assert_msg(trays_open(SEATS, &trays, &err), "%s", err.text);
    for (int tray = FIRST; tray <= SEATS; tray++)
        ck_assert_int_eq(trays_issue(trays), tray);
    tray_use(trays, FIRST);
    tray_use(trays, OTHER);
}

static void teardown(void)
{
    arena_done(&arena);
    trays_close(&trays);
    trays_close(&trays);
}

static bool put(int worker, uint32_t number)
{
    const struct result result = {.hold = {number, 7}, .outcome = {.error = "it went wrong"}};

    return tray_put(trays, worker, &result);
}

static void expect(int worker, uint32_t number)
{
    struct result result;

    ck_assert_msg(tray_look(trays, worker, &arena, &result, &err) == DELIVERY_DONE, "%s", err.text);
    ck_assert_uint_eq(result.hold.entry, number);
    ck_assert_str_eq(result.outcome.error, "it went wrong");
}

static void expect_nothing(int worker)
{
    struct result result;

    ck_assert_int_eq(tray_look(trays, worker, &arena, &result, &err), DELIVERY_NONE);
}

START_TEST(results_come_in_order_and_from_their_worker)
{
    ck_assert(put(FIRST, 1) && put(OTHER, 2) && put(FIRST, 3));
    ck_assert(trays_have_news(trays));
    expect(FIRST, 1);
    expect(FIRST, 3);
    expect_nothing(FIRST);
    expect(OTHER, 2);
    ck_assert(!trays_have_news(trays));
}
END_TEST

static void die_as_dispatcher(void)
{
    tray_use(trays, SEATS);
    expect(SEATS, 1);
    tray_take(trays, SEATS);
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
    tray_use(trays, SEATS);
    expect(SEATS, 2);
    expect(SEATS, 3);
    expect_nothing(SEATS);
}
END_TEST

START_TEST(a_worker_that_dies_leaves_its_results)
{
    if (fork() == 0) {
        if (!trays_restrict(trays, OTHER, &err) || !put(OTHER, 5))
            _exit(1);
        raise(SIGKILL);
    }
    ck_assert_int_gt(wait(NULL), 0);
    ck_assert_msg(trays_issue(trays) == 0, "and nobody gets its tray before they are settled");
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
        if (!trays_restrict(trays, OTHER, &err))
            _exit(1);
        scribble(wild[_i]);
        _exit(0);
    }
    ck_assert_int_gt(wait(NULL), 0);
    while (tray_look(trays, OTHER, &arena, &result, &err) != DELIVERY_NONE)
        ck_assert_uint_lt(read++, 5000);
    tray_take(trays, OTHER);
    tray_drop(trays, OTHER);
    trays_return(trays, OTHER);

    ck_assert_int_eq(trays_issue(trays), OTHER);
    tray_use(trays, OTHER);
    ck_assert(!trays_have_news(trays));
    ck_assert_uint_eq(trays_sleepers(trays), 0);
    ck_assert(put(OTHER, 7));
    expect(OTHER, 7);
    expect_nothing(OTHER);
}
END_TEST

START_TEST(a_full_tray_refuses_until_something_was_taken)
{
    uint32_t count = 0;

    while (put(FIRST, count))
        count++;
    ck_assert_uint_gt(count, 100);
    ck_assert(put(OTHER, 0));
    ck_assert(!tray_is_filling(trays, FIRST)); /* as far as was looked */
    expect(FIRST, 0);
    ck_assert(!put(FIRST, count)); /* looked at is not taken */
    tray_take(trays, FIRST);
    ck_assert(put(FIRST, count));
    for (uint32_t i = 1; i <= count; i++)
        expect(FIRST, i);
    ck_assert(tray_is_filling(trays, FIRST));
    tray_take(trays, FIRST);
    ck_assert(!tray_is_filling(trays, FIRST));
    expect_nothing(FIRST);
}
END_TEST

START_TEST(a_result_that_does_not_fit_is_refused)
{
    char error[4096];
    const struct result result = {.outcome = {.error = error}};

    memset(error, 'x', sizeof error - 1);
    error[sizeof error - 1] = '\0';
    ck_assert(!tray_put(trays, FIRST, &result));
    expect_nothing(FIRST);
}
END_TEST

START_TEST(a_worker_cannot_reach_the_tray_of_another)
{
    signal(SIGSEGV, SIG_DFL); /* the sanitizer would tell a story */
    ck_assert_msg(trays_restrict(trays, OTHER, &err), "%s", err.text);
    ck_assert(put(OTHER, 1));
    (void)put(FIRST, 1);
}
END_TEST

START_TEST(a_worker_cannot_say_that_the_dispatcher_is_awake)
{
    signal(SIGSEGV, SIG_DFL); /* the sanitizer would tell a story */
    ck_assert_msg(trays_restrict(trays, OTHER, &err), "%s", err.text);
    trays_set_call(trays, TRAY_AWAKE);
}
END_TEST

START_TEST(who_sleeps_is_seen_by_the_others)
{
    ck_assert_uint_eq(trays_sleepers(trays), 0);
    tray_set_asleep(trays, FIRST, true);
    tray_set_asleep(trays, OTHER, true);
    ck_assert_uint_eq(trays_sleepers(trays), 2);
    tray_set_asleep(trays, FIRST, false);
    tray_leave(trays, OTHER); /* killed while it slept */
    ck_assert_uint_eq(trays_sleepers(trays), 0);

    ck_assert_int_eq(trays_call(trays), TRAY_AWAKE);
    trays_set_call(trays, TRAY_PACING);
    ck_assert_int_eq(trays_call(trays), TRAY_PACING);
}
END_TEST

Suite *tray_suite(void)
{
    Suite *suite = suite_create("process/tray");
    TCase *results = tcase_create("results");
    TCase *reach = tcase_create("reach");

    tcase_add_checked_fixture(results, setup, teardown);
    tcase_add_test(results, results_come_in_order_and_from_their_worker);
    tcase_add_test(results, a_dispatcher_that_dies_leaves_what_it_has_not_taken);
    tcase_add_test(results, a_worker_that_dies_leaves_its_results);
    tcase_add_loop_test(results, a_wild_write_ends_with_its_worker, 0, COUNT_OF(wild));
    tcase_add_test(results, a_full_tray_refuses_until_something_was_taken);
    tcase_add_test(results, a_result_that_does_not_fit_is_refused);
    suite_add_tcase(suite, results);

    tcase_add_checked_fixture(reach, setup, teardown);
    tcase_add_test_raise_signal(reach, a_worker_cannot_reach_the_tray_of_another, SIGSEGV);
    tcase_add_test_raise_signal(reach, a_worker_cannot_say_that_the_dispatcher_is_awake, SIGSEGV);
    tcase_add_test(reach, who_sleeps_is_seen_by_the_others);
    suite_add_tcase(suite, reach);
    return suite;
}

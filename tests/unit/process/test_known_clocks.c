/*
 * test_known_clocks.c - a service begins with what the one before it knew.
 */
#include "base/error.h"
#include "job/timekeeper.h"
#include "process/known_clocks.h"
#include "suites.h"

#include <check.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS(n) ((usec_t)(n)*USEC_PER_SEC)
#define LEASE      SECONDS(30)
#define OFFSET     SECONDS(1000000)
#define STEP       SECONDS(3600)

static struct known_clocks *open_clocks(void)
{
    struct known_clocks *clocks = NULL;
    struct error err;

    ck_assert_msg(known_clocks_open(2, &clocks, &err), "%s", err.text);
    return clocks;
}

/* An answer of no width at this boot time. */
static void hear(struct timekeeper *keeper, usec_t boot, usec_t offset)
{
    const struct timekeeper_sample sample = {boot, boot, boot + offset};

    timekeeper_note(keeper, &sample);
}

static void assert_clock(const struct timekeeper *keeper, usec_t boot, usec_t offset, usec_t lead)
{
    ck_assert_int_eq(timekeeper_now(keeper, boot), boot + offset);
    ck_assert_int_eq(timekeeper_lead(keeper, boot), lead);
}

/* Ends as if it were killed. */
static void live_and_die(struct known_clock *clock, usec_t stepped_by)
{
    const pid_t pid = fork();
    int status;

    if (pid == 0) {
        struct timekeeper keeper = {.lease = LEASE};

        hear(&keeper, SECONDS(10), OFFSET);
        if (stepped_by != 0)
            hear(&keeper, SECONDS(20), OFFSET + stepped_by);
        known_clock_keep(clock, &keeper);
        raise(SIGKILL);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
}

START_TEST(a_service_that_was_replaced_knew_only_the_new_clock)
{
    struct known_clocks *clocks = open_clocks();
    struct timekeeper next = {.lease = LEASE};

    live_and_die(known_clocks_of(clocks, 1), 0);
    known_clock_recall(known_clocks_of(clocks, 1), &next);
    hear(&next, SECONDS(25), OFFSET + STEP);
    assert_clock(&next, SECONDS(26), OFFSET, STEP);
    assert_clock(&next, SECONDS(25) + LEASE, OFFSET + STEP, 0);
    known_clocks_close(&clocks);
}
END_TEST

START_TEST(a_step_that_was_seen_before_the_birth_lasts_as_long_as_for_the_others)
{
    struct known_clocks *clocks = open_clocks();
    struct timekeeper next = {.lease = LEASE};

    live_and_die(known_clocks_of(clocks, 0), STEP);
    known_clock_recall(known_clocks_of(clocks, 0), &next);
    hear(&next, SECONDS(25), OFFSET + STEP);
    assert_clock(&next, SECONDS(26), OFFSET, STEP);
    assert_clock(&next, SECONDS(20) + LEASE, OFFSET + STEP, 0);
    ck_assert_uint_eq(next.steps, 0); /* told by the one that saw it */
    known_clocks_close(&clocks);
}
END_TEST

START_TEST(what_is_recalled_does_not_outweigh_the_first_answer)
{
    struct known_clocks *clocks = open_clocks();
    struct timekeeper next = {.lease = LEASE};
    const struct timekeeper_sample slow = {SECONDS(25), SECONDS(27), SECONDS(26) + OFFSET + 500};

    live_and_die(known_clocks_of(clocks, 0), 0);
    known_clock_recall(known_clocks_of(clocks, 0), &next);
    timekeeper_note(&next, &slow);
    assert_clock(&next, SECONDS(28), OFFSET + 500, 0);
    known_clocks_close(&clocks);
}
END_TEST

START_TEST(a_service_that_was_replaced_may_learn_that_it_is_earlier)
{
    struct known_clocks *clocks = open_clocks();
    struct timekeeper next = {.lease = LEASE};
    const struct timekeeper_sample slow = {SECONDS(25), SECONDS(25) + 600,
                                           SECONDS(25) + OFFSET - 500};

    live_and_die(known_clocks_of(clocks, 0), 0);
    known_clock_recall(known_clocks_of(clocks, 0), &next);
    timekeeper_note(&next, &slow);
    assert_clock(&next, SECONDS(26), OFFSET - 800, 0);
    known_clocks_close(&clocks);
}
END_TEST

START_TEST(a_clock_that_was_set_back_unseen_goes_on)
{
    struct known_clocks *clocks = open_clocks();
    struct timekeeper next = {.lease = LEASE};

    live_and_die(known_clocks_of(clocks, 0), 0);
    known_clock_recall(known_clocks_of(clocks, 0), &next);
    hear(&next, SECONDS(25), OFFSET - STEP);
    assert_clock(&next, SECONDS(26), OFFSET - STEP, STEP);
    known_clocks_close(&clocks);
}
END_TEST

START_TEST(the_first_of_all_knows_nothing)
{
    struct known_clocks *clocks = open_clocks();
    struct timekeeper unset = {.lease = LEASE};
    struct timekeeper first = {.lease = LEASE};

    known_clock_keep(known_clocks_of(clocks, 0), &unset);
    known_clock_recall(known_clocks_of(clocks, 0), &first);
    ck_assert(!first.is_set);
    hear(&first, SECONDS(10), OFFSET);
    assert_clock(&first, SECONDS(11), OFFSET, 0);
    known_clocks_close(&clocks);
}
END_TEST

START_TEST(a_worker_does_not_have_them)
{
    struct known_clocks *clocks = open_clocks();
    const struct timekeeper keeper = {.is_set = true};
    struct error err;
    int status;

    const pid_t pid = fork();
    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL);
        if (known_clocks_restrict(clocks, &err))
            known_clock_keep(known_clocks_of(clocks, 0), &keeper);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    known_clocks_close(&clocks);
}
END_TEST

Suite *known_clocks_suite(void)
{
    Suite *suite = suite_create("process/known_clocks");
    TCase *cases = tcase_create("known_clocks");

    tcase_add_test(cases, a_service_that_was_replaced_knew_only_the_new_clock);
    tcase_add_test(cases, a_step_that_was_seen_before_the_birth_lasts_as_long_as_for_the_others);
    tcase_add_test(cases, what_is_recalled_does_not_outweigh_the_first_answer);
    tcase_add_test(cases, a_service_that_was_replaced_may_learn_that_it_is_earlier);
    tcase_add_test(cases, a_clock_that_was_set_back_unseen_goes_on);
    tcase_add_test(cases, the_first_of_all_knows_nothing);
    tcase_add_test(cases, a_worker_does_not_have_them);
    suite_add_tcase(suite, cases);
    return suite;
}

/*
 * test_clock.c - wall time, boot time, and a wait that signals do not shorten.
 */
#include "base/clock.h"
#include "suites.h"

#include <limits.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static usec_t read_kernel(clockid_t id)
{
    struct timespec now;

    ck_assert_int_eq(clock_gettime(id, &now), 0);
    return (usec_t)now.tv_sec * USEC_PER_SEC + now.tv_nsec / 1000;
}

static const struct {
    const char *rule;
    usec_t (*read)(void);
    clockid_t id;
} clocks[] = {
    {"wall time is since 1970", clock_wall, CLOCK_REALTIME},
    {"boot time is since boot", clock_boot, CLOCK_BOOTTIME},
    {"monotonic time is that of systemd", clock_monotonic, CLOCK_MONOTONIC},
};

START_TEST(a_clock_is_that_of_the_kernel_in_microseconds)
{
    const usec_t before = read_kernel(clocks[_i].id);
    const usec_t now = clocks[_i].read();
    const usec_t after = read_kernel(clocks[_i].id);

    ck_assert_msg(now >= before && now <= after, "%s, not %lld", clocks[_i].rule, (long long)now);
}
END_TEST

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
    (void)number;
    signals = signals + 1;
}

START_TEST(signals_do_not_shorten_a_wait)
{
    const struct sigaction action = {.sa_handler = count_signal};
    const struct itimerval often = {{0, 300}, {0, 300}};
    const usec_t start = clock_boot();

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    clock_sleep(5 * USEC_PER_MSEC);
    const usec_t waited = clock_boot() - start;

    ck_assert_int_gt(signals, 0);
    ck_assert_int_ge(waited, 5 * USEC_PER_MSEC);
}
END_TEST

static const usec_t no_waits[] = {0, -1, -USEC_PER_HOUR, INT64_MIN};

START_TEST(a_wait_for_nothing_returns_at_once)
{
    const usec_t start = clock_boot();

    clock_sleep(no_waits[_i]);
    ck_assert_int_lt(clock_boot() - start, USEC_PER_SEC);
}
END_TEST

START_TEST(the_time_of_a_process_is_what_it_worked)
{
    const usec_t before = clock_cpu_of(getpid());

    while (clock_cpu_of(getpid()) == before) {
    }
    clock_sleep(50 * USEC_PER_MSEC);
    ck_assert_int_lt(clock_cpu_of(getpid()) - before, 50 * USEC_PER_MSEC);
}
END_TEST

START_TEST(one_that_is_gone_has_none)
{
    const pid_t child = fork();

    if (child == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert_int_eq(clock_cpu_of(child), 0);
}
END_TEST

/* clang-format off */
static const struct {
    const char *rule;
    usec_t left;
    int milliseconds;
} timeouts[] = {
    {"what has passed is not waited for", -1,                   0},
    {"nor is nothing",                    0,                    0},
    {"a part is rounded up",              1,                    1},
    {"a whole one stays",                 USEC_PER_MSEC,        1},
    {"and a little more is two",          USEC_PER_MSEC + 1,    2},
    {"more than fits is as much as fits", INT64_MAX,            INT_MAX},
};
/* clang-format on */

START_TEST(a_timeout_of_poll_never_cuts_a_wait_to_a_busy_loop)
{
    ck_assert_msg(clock_poll_timeout(timeouts[_i].left) == timeouts[_i].milliseconds, "%s",
                  timeouts[_i].rule);
}
END_TEST

Suite *clock_suite(void)
{
    Suite *suite = suite_create("base/clock");
    TCase *reading = tcase_create("reading");
    TCase *waiting = tcase_create("waiting");

    tcase_add_loop_test(reading, a_clock_is_that_of_the_kernel_in_microseconds, 0,
                        COUNT_OF(clocks));
    tcase_add_test(reading, the_time_of_a_process_is_what_it_worked);
    tcase_add_test(reading, one_that_is_gone_has_none);
    suite_add_tcase(suite, reading);

    tcase_add_test(waiting, signals_do_not_shorten_a_wait);
    tcase_add_loop_test(waiting, a_wait_for_nothing_returns_at_once, 0, COUNT_OF(no_waits));
    tcase_add_loop_test(waiting, a_timeout_of_poll_never_cuts_a_wait_to_a_busy_loop, 0,
                        (int)COUNT_OF(timeouts));
    suite_add_tcase(suite, waiting);
    return suite;
}

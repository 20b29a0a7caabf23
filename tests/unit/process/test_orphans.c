/*
 * test_orphans.c - real descendants that try to stay.
 */
#include "base/clock.h"
#include "base/error.h"
#include "process/orphans.h"
#include "suites.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct error err;
static struct usage usage;

static pid_t shell(const char *script)
{
    const pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", script, (char *)NULL);
        _exit(1);
    }
    return pid;
}

static void kill_until_nobody_is_left(const pid_t *spared, size_t count)
{
    bool left;

    do {
        ck_assert_msg(orphans_kill(spared, count, &usage, &left, &err), "%s", err.text);
        clock_sleep(left ? USEC_PER_MSEC : 0);
    } while (left);
}

static bool has_children(void)
{
    siginfo_t info;

    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

START_TEST(nobody_left_is_the_end_of_it)
{
    bool left = true;

    ck_assert(orphans_kill(NULL, 0, &usage, &left, &err));
    ck_assert(!left);
}
END_TEST

static const struct {
    const char *rule;
    const char *script;
} stubborn[] = {
    {"one in the background", "sleep 1000 &"},
    {"one in a session of its own", "setsid sleep 1000 &"},
    {"one that ignores all it can",
     "trap '' HUP INT TERM; setsid sh -c 'sleep 1000; sleep 1000' &"},
    {"a whole tree",
     "for i in 1 2 3; do setsid sh -c 'sleep 100 & setsid sleep 100 & wait' & done"},
    {"one that goes on by forking", "f() { sleep 0.01; (f &) ; }; f"},
    {"one that is stopped", "setsid sh -c 'kill -STOP $$' &"},
};

START_TEST(whatever_was_left_behind_is_killed)
{
    ck_assert(orphans_adopt(&err));
    ck_assert_int_gt(waitpid(shell(stubborn[_i].script), NULL, 0), 0);
    kill_until_nobody_is_left(NULL, 0);
    ck_assert_msg(!has_children(), "%s", stubborn[_i].rule);
}
END_TEST

START_TEST(those_spared_stay)
{
    ck_assert(orphans_adopt(&err));
    const pid_t spared = shell("exec sleep 1000");

    ck_assert_int_gt(waitpid(shell("sleep 1000 &"), NULL, 0), 0);
    kill_until_nobody_is_left(&spared, 1);
    ck_assert_int_eq(waitpid(spared, NULL, WNOHANG), 0);
    kill_until_nobody_is_left(NULL, 0);
    ck_assert(!has_children());
}
END_TEST

START_TEST(the_children_are_listed)
{
    pid_t *pids = NULL;
    size_t count = 1;

    ck_assert_msg(orphans_list(&pids, &count, &err), "%s", err.text);
    ck_assert_uint_eq(count, 0);
    free(pids);

    const pid_t first = shell("exec sleep 1000"), second = shell("exec sleep 1000");
    ck_assert_msg(orphans_list(&pids, &count, &err), "%s", err.text);
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(pids[0], first);
    ck_assert_int_eq(pids[1], second);
    free(pids);
    kill_until_nobody_is_left(NULL, 0);
}
END_TEST

START_TEST(usage_is_added_up_and_the_largest_counts)
{
    const struct rusage one = {.ru_utime = {1, 5}, .ru_stime = {0, 7}, .ru_maxrss = 300};
    const struct rusage two = {.ru_utime = {2, 0}, .ru_stime = {0, 1}, .ru_maxrss = 200};

    usage_add(&usage, &one);
    usage_add(&usage, &two);
    ck_assert_int_eq(usage.user, 3000005);
    ck_assert_int_eq(usage.system, 8);
    ck_assert_int_eq(usage.max_rss_kb, 300);
}
END_TEST

Suite *orphans_suite(void)
{
    Suite *suite = suite_create("process/orphans");
    TCase *left = tcase_create("left");

    tcase_set_timeout(left, 30);
    tcase_add_test(left, nobody_left_is_the_end_of_it);
    tcase_add_loop_test(left, whatever_was_left_behind_is_killed, 0, COUNT_OF(stubborn));
    tcase_add_test(left, those_spared_stay);
    tcase_add_test(left, the_children_are_listed);
    tcase_add_test(left, usage_is_added_up_and_the_largest_counts);
    suite_add_tcase(suite, left);
    return suite;
}

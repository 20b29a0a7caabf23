/*
 * test_execution.c - programs that behave, and programs that do not.
 */
#include "base/buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "process/loop.h"
#include "process/nobody.h"
#include "suites.h"
#include "worker/execution.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG_TIME   (600 * USEC_PER_SEC)
#define SHORT_GRACE (50 * USEC_PER_MSEC)

static struct loop *loop;
static struct execution *execution;
static struct execution_plan plan;
static struct execution_end end;
static struct error err;
static struct buffer received[SPAWN_FDS] = {BUFFER(0), BUFFER(4096), BUFFER(4096), BUFFER(4096)};
static uint64_t received_count[SPAWN_FDS];
static const char *const environment[] = {"PATH=/usr/bin:/bin", NULL};

static void receive(void *context, enum program_stream stream, struct bytes data)
{
    ck_assert_ptr_eq(context, &plan);
    received_count[stream] += data.length;
    buffer_add(&received[stream], data.data, data.length);
}

static void begin(void)
{
    ck_assert_msg(loop_open(&loop, &err), "%s", err.text);
    ck_assert_msg(execution_open(loop, &execution, &err), "%s", err.text);
    plan = (struct execution_plan){
        .spawn = {.environment = environment, .umask = SPAWN_KEEP},
        .timeout = LONG_TIME,
        .kill_grace = LONG_TIME,
        .received = receive,
        .context = &plan,
    };
}

static void finish(void)
{
    execution_close(&execution);
    loop_close(&loop);
    for (int i = 0; i < SPAWN_FDS; i++)
        buffer_done(&received[i]);
}

static bool try_shell(const char *script)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};

    plan.spawn.argv = argv;
    return execution_run(execution, &plan, &end, &err);
}

static bool has_children(void)
{
    siginfo_t info;

    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static void run_shell(const char *script)
{
    ck_assert_msg(try_shell(script), "%s", err.text);
    ck_assert_msg(!has_children(), "a process was left behind by: %s", script);
}

START_TEST(the_streams_reach_those_they_are_meant_for)
{
    plan.input = (struct bytes){(const unsigned char *)"hello", 5};
    run_shell("cat; echo oops >&2; echo progress >&3; exit 7");
    ck_assert_int_eq(end.exit_code, 7);
    ck_assert_int_eq(end.signal, 0);
    ck_assert_int_eq(end.stop, STOP_NONE);
    ck_assert_str_eq(buffer_str(&received[STREAM_OUTPUT]), "hello");
    ck_assert_str_eq(buffer_str(&received[STREAM_ERROR]), "oops\n");
    ck_assert_str_eq(buffer_str(&received[STREAM_STEERING]), "progress\n");
}
END_TEST

START_TEST(without_input_stdin_is_empty)
{
    run_shell("cat");
    ck_assert_int_eq(end.exit_code, 0);
    ck_assert_uint_eq(received_count[STREAM_OUTPUT], 0);
}
END_TEST

#define INPUT_SIZE ((size_t)900 * 1000)

static const struct {
    const char *rule;
    const char *script;
    int exit_code;
} readers[] = {
    {"a program that reads all gets all", "[ $(wc -c) = 900000 ]", 0},
    {"one that never reads ends", "exit 3", 3},
    {"one that closes it ends", "exec <&-; exit 4", 4},
    {"one that reads a bit ends", "head -c 100000 >/dev/null; exit 5", 5},
    {"one that prints before it reads is not waited for", "head -c 900000 /dev/zero; wc -c >&2", 0},
};

START_TEST(large_input_is_read_or_not)
{
    unsigned char *input = calloc(1, INPUT_SIZE);

    plan.input = (struct bytes){input, INPUT_SIZE};
    run_shell(readers[_i].script);
    ck_assert_msg(end.exit_code == readers[_i].exit_code, "%s", readers[_i].rule);
    free(input);
}
END_TEST

START_TEST(a_program_that_exits_at_once_leaves_no_descriptor)
{
    const int before = dup(0);

    for (int i = 0; i < 50; i++)
        run_shell("exit 0");
    ck_assert_int_eq(dup(0), before + 1);
}
END_TEST

#ifdef __SANITIZE_ADDRESS__
#define PLENTY_MIB 64
#else
#define PLENTY_MIB 1024
#endif

static int64_t largest_size_kb(void)
{
    struct rusage used;

    ck_assert_int_eq(getrusage(RUSAGE_SELF, &used), 0);
    return used.ru_maxrss;
}

START_TEST(any_amount_of_output_is_read_in_bounded_memory)
{
    char script[100];

    run_shell("head -c 1M /dev/zero");
    const int64_t before = largest_size_kb();
    snprintf(script, sizeof script, "head -c %dM /dev/zero; head -c 1M /dev/zero >&2", PLENTY_MIB);
    run_shell(script);
    ck_assert_uint_eq(received_count[STREAM_OUTPUT], (uint64_t)(PLENTY_MIB + 1) << 20);
    ck_assert_uint_eq(received_count[STREAM_ERROR], 1 << 20);
    ck_assert_int_lt(largest_size_kb() - before, 8 * 1024);
}
END_TEST

static const struct {
    const char *rule;
    const char *script;
} stayers[] = {
    {"one in the background", "sleep 1000 & echo x"},
    {"one that holds the output", "(trap '' TERM HUP; sleep 1000) & echo x"},
    {"one in a session of its own", "setsid sleep 1000 & echo x"},
    {"one that went twice", "setsid sh -c 'setsid sleep 1000 & setsid sleep 1000 &' & echo x"},
    {"one that prints on", "setsid yes & echo x"},
};

START_TEST(what_it_left_behind_is_gone_and_its_output_not_waited_for)
{
    run_shell(stayers[_i].script);
    ck_assert_msg(end.exit_code == 0, "%s", stayers[_i].rule);
    ck_assert_uint_ge(received_count[STREAM_OUTPUT], 2);
}
END_TEST

static void stop_at_first_word(void *context, enum program_stream stream, struct bytes data)
{
    receive(context, stream, data);
    execution_stop(execution, STOP_CANCEL, LONG_TIME);
}

static int stolen = -1;

static void steal_output(void *context, enum program_stream stream, struct bytes data)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%.*s/fd/1", (int)data.length - 1, (const char *)data.data);
    stolen = open(path, O_WRONLY | O_CLOEXEC);
    stop_at_first_word(context, stream, data);
}

START_TEST(output_held_open_by_an_outsider_is_not_waited_for)
{
    plan.received = steal_output;
    run_shell("echo $$; exec sleep 1000");
    ck_assert_int_ge(stolen, 0);
    ck_assert_int_eq(end.signal, SIGTERM);
}
END_TEST

static const struct {
    const char *rule;
    const char *script;
    int signal, exit_code;
} stopped[] = {
    {"TERM ends it", "echo x; exec sleep 1000", SIGTERM, -1},
    {"TERM goes to its whole group", "sleep 1000 & echo x; wait", SIGTERM, -1},
    {"it may end in its own way", "trap 'exit 9' TERM; echo x; while :; do sleep 0.01; done", 0, 9},
    {"one that is stopped ends too", "echo x; kill -STOP $$; sleep 1000", SIGTERM, -1},
};

START_TEST(a_stop_asks_with_term_first)
{
    plan.received = stop_at_first_word;
    run_shell(stopped[_i].script);
    ck_assert_int_eq(end.stop, STOP_CANCEL);
    ck_assert_msg(end.signal == stopped[_i].signal, "%s, not signal %d", stopped[_i].rule,
                  end.signal);
    ck_assert_int_eq(end.exit_code, stopped[_i].exit_code);
}
END_TEST

#define IGNORES_TERM "trap '' TERM HUP INT; while :; do sleep 1000; done & echo x; wait; wait"

START_TEST(what_ignores_term_is_killed_after_the_grace)
{
    plan.timeout = 20 * USEC_PER_MSEC;
    plan.kill_grace = 30 * USEC_PER_MSEC;
    run_shell(IGNORES_TERM);
    ck_assert_int_eq(end.stop, STOP_TIMEOUT);
    ck_assert_int_ge(end.wall, 20 * USEC_PER_MSEC);
    ck_assert(end.signal == SIGKILL || end.signal == SIGTERM); /* TERM: before its trap */
    ck_assert_int_eq(end.exit_code, -1);
}
END_TEST

#define CHILD_CLEANS_UP                                                                            \
    "sh -c 'trap \"sleep 0.1; echo cleaned; exit\" TERM; echo x; while :; do sleep 0.01; done' &"  \
    "wait"

START_TEST(the_grace_is_for_the_whole_group)
{
    plan.received = stop_at_first_word;
    run_shell(CHILD_CLEANS_UP);
    ck_assert_int_eq(end.signal, SIGTERM);
    ck_assert_str_eq(buffer_str(&received[STREAM_OUTPUT]), "x\ncleaned\n");
}
END_TEST

static void stop_soon(void *context, enum program_stream stream, struct bytes data)
{
    receive(context, stream, data);
    execution_stop(execution, STOP_DRAIN, SHORT_GRACE);
}

START_TEST(a_group_that_outlives_its_leader_is_killed_after_the_grace)
{
    plan.received = stop_soon;
    run_shell("sh -c 'trap \"\" TERM; echo x; while :; do sleep 1000; done' & wait");
    ck_assert_int_eq(end.stop, STOP_DRAIN);
    ck_assert_int_eq(end.signal, SIGTERM);
    ck_assert_int_ge(end.wall, SHORT_GRACE);
}
END_TEST

static void stop_twice(void *context, enum program_stream stream, struct bytes data)
{
    receive(context, stream, data);
    execution_stop(execution, STOP_DRAIN, LONG_TIME);
    execution_stop(execution, STOP_CANCEL, 2 * LONG_TIME);
    execution_stop(execution, STOP_LOST_LEASE, 0);
}

START_TEST(a_second_stop_brings_the_kill_forward_and_the_first_reason_stays)
{
    plan.received = stop_twice;
    run_shell(IGNORES_TERM);
    ck_assert_int_eq(end.stop, STOP_DRAIN);
    ck_assert_int_eq(end.signal, SIGKILL);
}
END_TEST

static void stop_when_over(void *context, enum program_stream stream, struct bytes data)
{
    siginfo_t info;

    receive(context, stream, data);
    /* ECHILD: it has been waited for already. */
    ck_assert(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == 0 || errno == ECHILD);
    execution_stop(execution, STOP_CANCEL, 0);
}

START_TEST(a_stop_that_comes_too_late_changes_nothing)
{
    plan.received = stop_when_over;
    run_shell("echo x");
    ck_assert_int_eq(end.stop, STOP_NONE);
    ck_assert_int_eq(end.exit_code, 0);
    execution_stop(execution, STOP_CANCEL, 0);
}
END_TEST

static int tick_count;
static struct loop_timer ticker;

static void tick(void *context)
{
    (void)context;
    if (++tick_count == 5)
        execution_stop(execution, STOP_DRAIN, LONG_TIME);
    else
        loop_set_timer(loop, &ticker, clock_boot() + USEC_PER_MSEC);
}

START_TEST(whoever_else_uses_the_loop_is_served_meanwhile)
{
    ticker.call = tick;
    loop_set_timer(loop, &ticker, clock_boot());
    run_shell("exec sleep 1000");
    ck_assert_int_eq(end.stop, STOP_DRAIN);
    ck_assert_int_eq(tick_count, 5);
}
END_TEST

START_TEST(time_and_memory_of_the_tree_are_measured)
{
    run_shell("(dd if=/dev/zero of=/dev/null bs=40M count=20 2>/dev/null)");
    ck_assert_int_ge(end.usage.max_rss_kb, 40 * 1024);
    ck_assert_int_gt(end.usage.user + end.usage.system, 0);
    ck_assert_int_gt(end.wall, 0);
}
END_TEST

START_TEST(a_program_that_cannot_start_is_no_failed_one)
{
    static const char *const argv[] = {"/nowhere/x", NULL};
    const int before = dup(0);

    plan.spawn.argv = argv;
    ck_assert(!execution_run(execution, &plan, &end, &err));
    ck_assert_int_eq(err.code, TH_E_UNAVAILABLE);
    ck_assert_str_eq(err.text, "exec /nowhere/x: No such file or directory");
    ck_assert(!has_children());
    ck_assert_int_eq(dup(0), before + 1);
    run_shell("exit 0");
}
END_TEST

static TCase *runs_case(const char *name)
{
    TCase *runs = tcase_create(name);

    tcase_set_timeout(runs, 60);
    tcase_add_checked_fixture(runs, begin, finish);
    tcase_add_test(runs, the_streams_reach_those_they_are_meant_for);
    tcase_add_test(runs, without_input_stdin_is_empty);
    tcase_add_loop_test(runs, large_input_is_read_or_not, 0, COUNT_OF(readers));
    tcase_add_test(runs, a_program_that_exits_at_once_leaves_no_descriptor);
    tcase_add_test(runs, any_amount_of_output_is_read_in_bounded_memory);
    tcase_add_loop_test(runs, what_it_left_behind_is_gone_and_its_output_not_waited_for, 0,
                        COUNT_OF(stayers));
    tcase_add_test(runs, output_held_open_by_an_outsider_is_not_waited_for);
    tcase_add_loop_test(runs, a_stop_asks_with_term_first, 0, COUNT_OF(stopped));
    tcase_add_test(runs, what_ignores_term_is_killed_after_the_grace);
    tcase_add_test(runs, the_grace_is_for_the_whole_group);
    tcase_add_test(runs, a_group_that_outlives_its_leader_is_killed_after_the_grace);
    tcase_add_test(runs, a_second_stop_brings_the_kill_forward_and_the_first_reason_stays);
    tcase_add_test(runs, a_stop_that_comes_too_late_changes_nothing);
    tcase_add_test(runs, whoever_else_uses_the_loop_is_served_meanwhile);
    tcase_add_test(runs, time_and_memory_of_the_tree_are_measured);
    tcase_add_test(runs, a_program_that_cannot_start_is_no_failed_one);
    return runs;
}

Suite *execution_suite(void)
{
    Suite *suite = suite_create("worker/execution");
    TCase *as_nobody = runs_case("as nobody");

    suite_add_tcase(suite, runs_case("runs"));
    tcase_add_checked_fixture(as_nobody, nobody_become, NULL);
    suite_add_tcase(suite, as_nobody);
    return suite;
}

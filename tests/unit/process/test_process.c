/*
 * test_process.c - a process and its master, with a real fork between them.
 */
#include "base/error.h"
#include "process/message.h"
#include "process/process.h"
#include "suites.h"

#include <check.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BEREAVED_CODE 42
#define PATIENCE_MS   10000

static struct error err;
static int control; /* the master's end */
static pid_t child;

static void clear_up(void *context)
{
    (void)context;
    _exit(BEREAVED_CODE);
}

static void obey_by_code(void *context, const struct order *order, int fd)
{
    (void)fd;
    process_stop(context, order->worker);
}

/* How the process of a test differs from a plain one. */
static void (*prepare)(struct process *process);

static _Noreturn void be_process(int end)
{
    struct process process = {.name = "tester", .serial = 7, .control = end, .nudge = -1};

    if (prepare)
        prepare(&process);
    if (!process_begin(&process, &err) || !process_ready(&process, &err))
        _exit(process_fail(&err));
    _exit(process_run(&process));
}

/* Forks with all signals of the master blocked, as the master has them. */
static void start(void (*wish)(struct process *process))
{
    sigset_t all;
    int ends[2];

    prepare = wish;
    sigfillset(&all);
    ck_assert_int_eq(sigprocmask(SIG_BLOCK, &all, NULL), 0);
    ck_assert_msg(message_pair(ends, &err), "%s", err.text);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        close(ends[0]);
        be_process(ends[1]);
    }
    close(ends[1]);
    control = ends[0];
}

static void await_report(enum report_kind kind)
{
    struct pollfd readable = {.fd = control, .events = POLLIN};
    struct report report;

    ck_assert_int_eq(poll(&readable, 1, PATIENCE_MS), 1);
    ck_assert_int_eq(report_receive(control, &report, &err), DELIVERY_DONE);
    ck_assert_int_eq(report.kind, kind);
    ck_assert_uint_eq(report.serial, 7);
}

static void await_ready(void)
{
    await_report(REPORT_READY);
}

static void give(const struct order *order)
{
    ck_assert_int_eq(order_send(control, order, -1, &err), DELIVERY_DONE);
}

static void expect_exit(int code)
{
    int status;

    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), code);
}

START_TEST(a_process_reports_ready_and_exits_when_told)
{
    start(NULL);
    await_ready();
    give(&(struct order){.kind = ORDER_EXIT});
    expect_exit(PROCESS_OK);
}
END_TEST

START_TEST(a_process_whose_loop_turns_gives_a_sign_of_life_when_asked)
{
    start(NULL);
    await_ready();
    for (int i = 0; i < 3; i++) {
        give(&(struct order){.kind = ORDER_PULSE});
        await_report(REPORT_PULSE);
    }
    give(&(struct order){.kind = ORDER_EXIT});
    expect_exit(PROCESS_OK);
}
END_TEST

static void wish_to_obey(struct process *process)
{
    process->obey = obey_by_code;
    process->context = process;
}

START_TEST(orders_go_to_whoever_obeys_them)
{
    start(wish_to_obey);
    await_ready();
    give(&(struct order){.kind = ORDER_PAUSE, .worker = 17});
    expect_exit(17);
}
END_TEST

START_TEST(an_order_that_is_not_for_it_is_passed_over)
{
    start(NULL);
    await_ready();
    give(&(struct order){.kind = ORDER_PAUSE});
    give(&(struct order){.kind = ORDER_EXIT});
    expect_exit(PROCESS_OK);
}
END_TEST

START_TEST(a_process_ends_when_its_master_is_gone)
{
    start(NULL);
    await_ready();
    close(control);
    expect_exit(PROCESS_FAILED);
}
END_TEST

static void wish_to_clear_up(struct process *process)
{
    process->number = 1;
    process->bereaved = clear_up;
}

START_TEST(a_worker_clears_up_when_its_master_is_gone)
{
    start(wish_to_clear_up);
    await_ready();
    close(control);
    expect_exit(BEREAVED_CODE);
}
END_TEST

static const int masters_signals[] = {SIGTERM, SIGINT,  SIGQUIT, SIGHUP,
                                      SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

START_TEST(a_signal_for_the_master_does_no_harm)
{
    start(NULL);
    await_ready();
    ck_assert_int_eq(kill(child, masters_signals[_i]), 0);
    give(&(struct order){.kind = ORDER_EXIT});
    expect_exit(PROCESS_OK);
}
END_TEST

START_TEST(not_even_before_it_has_begun)
{
    start(NULL);
    ck_assert_int_eq(kill(child, masters_signals[_i]), 0);
    await_ready();
    give(&(struct order){.kind = ORDER_EXIT});
    expect_exit(PROCESS_OK);
}
END_TEST

Suite *process_suite(void)
{
    Suite *suite = suite_create("process/process");
    TCase *orders = tcase_create("orders");
    TCase *signals = tcase_create("signals");

    tcase_add_test(orders, a_process_reports_ready_and_exits_when_told);
    tcase_add_test(orders, a_process_whose_loop_turns_gives_a_sign_of_life_when_asked);
    tcase_add_test(orders, orders_go_to_whoever_obeys_them);
    tcase_add_test(orders, an_order_that_is_not_for_it_is_passed_over);
    tcase_add_test(orders, a_process_ends_when_its_master_is_gone);
    tcase_add_test(orders, a_worker_clears_up_when_its_master_is_gone);
    suite_add_tcase(suite, orders);
    tcase_add_loop_test(signals, a_signal_for_the_master_does_no_harm, 0,
                        COUNT_OF(masters_signals));
    tcase_add_loop_test(signals, not_even_before_it_has_begun, 0, COUNT_OF(masters_signals));
    suite_add_tcase(suite, signals);
    return suite;
}

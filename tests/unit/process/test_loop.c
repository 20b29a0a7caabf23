/*
 * test_loop.c - what wakes a process, with real pipes, signals and clocks.
 */
#include "base/clock.h"
#include "base/error.h"
#include "process/loop.h"
#include "suites.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS(n) ((n)*USEC_PER_SEC)

static struct loop *loop;
static struct error err;
static int calls[8];
static int call_count;
static int ends[2];

static void setup(void)
{
    ck_assert_msg(loop_open(&loop, &err), "%s", err.text);
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
}

static void teardown(void)
{
    loop_close(&loop);
    loop_close(&loop);
}

static void note(int what)
{
    ck_assert_int_lt(call_count, (int)COUNT_OF(calls));
    calls[call_count++] = what;
}

static void note_timer(void *context)
{
    note(*(const int *)context);
}

static void stop_timer(void *context)
{
    note_timer(context);
    loop_stop(loop);
}

static void note_signal(void *context, int number)
{
    note(number);
    ck_assert_ptr_eq(context, &call_count);
    loop_stop(loop);
}

static void note_events(void *context, unsigned events)
{
    (void)context;
    note((int)events);
}

static void step(void)
{
    ck_assert_msg(loop_step(loop, &err), "%s", err.text);
}

START_TEST(timers_are_called_in_the_order_of_their_time)
{
    const int names[] = {1, 2, 3};
    struct loop_timer third = {.call = stop_timer, .context = (void *)&names[2]};
    struct loop_timer second = {.call = note_timer, .context = (void *)&names[1]};
    struct loop_timer first = {.call = note_timer, .context = (void *)&names[0]};
    const usec_t start = clock_boot();

    loop_set_timer(loop, &third, start + 3000);
    loop_set_timer(loop, &second, start + 2000);
    loop_set_timer(loop, &first, 0);
    ck_assert(loop_run(loop, &err));
    ck_assert_int_eq(call_count, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(calls[i], names[i]);
    ck_assert_int_ge(clock_boot(), start + 3000);
}
END_TEST

START_TEST(a_timer_that_is_moved_or_cleared_is_not_called_at_its_old_time)
{
    const int names[] = {1, 2, 3};
    struct loop_timer cleared = {.call = note_timer, .context = (void *)&names[0]};
    struct loop_timer moved = {.call = note_timer, .context = (void *)&names[1]};
    struct loop_timer last = {.call = stop_timer, .context = (void *)&names[2]};
    const usec_t start = clock_boot();

    loop_set_timer(loop, &cleared, start + 500);
    loop_set_timer(loop, &moved, start + 600);
    loop_set_timer(loop, &last, start + 2000);
    loop_set_timer(loop, &moved, start + SECONDS(100));
    loop_clear_timer(loop, &cleared);
    loop_clear_timer(loop, &cleared);
    ck_assert(loop_run(loop, &err));
    ck_assert_int_eq(call_count, 1);
    ck_assert_int_eq(calls[0], 3);
    ck_assert(moved.is_on && !last.is_on);
}
END_TEST

static void set_due_timer(struct loop *waiting, void *context)
{
    loop_set_timer(waiting, context, clock_boot());
}

START_TEST(a_timer_set_just_before_the_wait_is_called_by_it)
{
    const int name = 1;
    struct loop_timer timer = {.call = note_timer, .context = (void *)&name};

    loop_before_wait(loop, set_due_timer, &timer);
    step();
    step();
    ck_assert_int_eq(call_count, 2);

    loop_before_wait(loop, NULL, NULL);
    loop_set_timer(loop, &timer, clock_boot());
    step();
    ck_assert_int_eq(call_count, 3);
    ck_assert(!timer.is_on);
}
END_TEST

START_TEST(a_pipe_wakes_when_there_is_something_to_read)
{
    struct loop_watch watch = {.fd = ends[0], .call = note_events};

    ck_assert(loop_watch(loop, &watch, LOOP_READ, &err));
    ck_assert_int_eq(write(ends[1], "x", 1), 1);
    step();
    ck_assert_int_eq(call_count, 1);
    ck_assert_int_eq(calls[0], LOOP_READ);
    loop_unwatch(loop, &watch);
    loop_unwatch(loop, &watch);
}
END_TEST

START_TEST(a_pipe_wakes_when_the_other_end_closes)
{
    const int other = _i == 0 ? ends[1] : ends[0];
    struct loop_watch watch = {.fd = _i == 0 ? ends[0] : ends[1], .call = note_events};

    ck_assert(loop_watch(loop, &watch, _i == 0 ? LOOP_READ : LOOP_WRITE, &err));
    close(other);
    step();
    ck_assert_int_eq(call_count, 1);
    ck_assert(calls[0] & (int)(_i == 0 ? LOOP_READ : LOOP_WRITE));
    loop_unwatch(loop, &watch);
}
END_TEST

static struct loop_watch twins[2];

static void take_both_off(void *context, unsigned events)
{
    note_events(context, events);
    loop_unwatch(loop, &twins[0]);
    loop_unwatch(loop, &twins[1]);
}

START_TEST(a_watch_that_was_taken_off_is_not_called_for_an_event_in_hand)
{
    for (int i = 0; i < 2; i++) {
        twins[i] =
            (struct loop_watch){.fd = i == 0 ? ends[0] : dup(ends[0]), .call = take_both_off};
        ck_assert(loop_watch(loop, &twins[i], LOOP_READ, &err));
    }
    ck_assert_int_eq(write(ends[1], "x", 1), 1);
    step();
    ck_assert_int_eq(call_count, 1);
}
END_TEST

START_TEST(a_signal_is_an_event)
{
    sigset_t blocked;

    ck_assert(loop_catch(loop, SIGTERM, note_signal, &call_count, &err));
    ck_assert(loop_catch(loop, SIGCHLD, note_signal, &call_count, &err));
    raise(SIGTERM);
    ck_assert_int_eq(call_count, 0);
    ck_assert(loop_run(loop, &err));
    ck_assert_int_eq(call_count, 1);
    ck_assert_int_eq(calls[0], SIGTERM);
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    ck_assert(sigismember(&blocked, SIGTERM) && sigismember(&blocked, SIGCHLD));
    ck_assert(!sigismember(&blocked, SIGINT));
}
END_TEST

START_TEST(a_broken_pipe_is_an_error_of_write)
{
    close(ends[0]);
    ck_assert_int_eq(write(ends[1], "x", 1), -1);
}
END_TEST

START_TEST(children_can_be_waited_for_even_if_our_parent_ignored_its_own)
{
    struct loop *another = NULL;

    signal(SIGCHLD, SIG_IGN);
    ck_assert(loop_open(&another, &err));
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    loop_close(&another);
}
END_TEST

START_TEST(a_descriptor_that_is_not_open_cannot_be_watched)
{
    struct loop_watch watch = {.fd = -1, .call = note_events};

    ck_assert(!loop_watch(loop, &watch, LOOP_READ, &err));
    ck_assert_str_eq(err.text, "watch a descriptor: Bad file descriptor");
    ck_assert(!watch.is_on);
}
END_TEST

Suite *loop_suite(void)
{
    Suite *suite = suite_create("process/loop");
    TCase *events = tcase_create("events");

    tcase_add_checked_fixture(events, setup, teardown);
    tcase_add_test(events, timers_are_called_in_the_order_of_their_time);
    tcase_add_test(events, a_timer_that_is_moved_or_cleared_is_not_called_at_its_old_time);
    tcase_add_test(events, a_timer_set_just_before_the_wait_is_called_by_it);
    tcase_add_test(events, a_pipe_wakes_when_there_is_something_to_read);
    tcase_add_loop_test(events, a_pipe_wakes_when_the_other_end_closes, 0, 2);
    tcase_add_test(events, a_watch_that_was_taken_off_is_not_called_for_an_event_in_hand);
    tcase_add_test(events, a_signal_is_an_event);
    tcase_add_test(events, a_broken_pipe_is_an_error_of_write);
    tcase_add_test(events, children_can_be_waited_for_even_if_our_parent_ignored_its_own);
    tcase_add_test(events, a_descriptor_that_is_not_open_cannot_be_watched);
    suite_add_tcase(suite, events);
    return suite;
}

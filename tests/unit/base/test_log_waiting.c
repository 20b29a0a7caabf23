/*
 * test_log_waiting.c - lines that do not get away: kept, counted, waited for.
 */
#include "base/cases.h"
#include "base/listener.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct log_options options = {.level = LEVEL_INFO, .pool = "web-1"};

static void setup(void)
{
    unsetenv("JOURNAL_STREAM");
    listener_open();
}

static void teardown(void)
{
    log_close(0);
    listener_close();
}

static void open_log(void)
{
    log_open(&options);
    log_set_process("dispatcher");
}

static void read_all_the_rest(void)
{
    while (log_is_behind()) {
        listener_hear();
        log_flush();
    }
    listener_hear();
}

/* Reads the lines of count_up(): each number comes once, in order, or is counted as dropped. */
static int check_numbers(const char *text)
{
    int next = 0, dropped = 0;

    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
        int number;

        if (sscanf(line,
                   "%*s level=warning event=lines_dropped pool=web-1 process=dispatcher "
                   "count=%d\n",
                   &number) == 1) {
            dropped += number;
            next += number;
            continue;
        }
        ck_assert_int_eq(
            sscanf(line, "%*s level=info event=count pool=web-1 process=dispatcher n=%d", &number),
            1);
        ck_assert_int_eq(number, next);
        next++;
    }
    ck_assert_int_gt(dropped, 0);
    return next;
}

static void count_up(int from, int to)
{
    for (int i = from; i < to; i++)
        log_info("count", "n=%d", i);
}

START_TEST(lines_that_nobody_reads_are_dropped_and_counted_where_they_are_missing)
{
    open_log();
    count_up(0, 2000);
    ck_assert(log_is_behind());
    listener_hear();
    count_up(2000, 3000);
    listener_hear();
    count_up(3000, 5000);
    read_all_the_rest();
    count_up(5000, 5010);
    ck_assert_int_eq(check_numbers(listener_hear()), 5010);
    ck_assert(!log_is_behind());
}
END_TEST

START_TEST(what_was_dropped_is_told_without_a_further_line)
{
    open_log();
    count_up(0, 2000);
    read_all_the_rest();
    ck_assert_int_eq(check_numbers(listener_hear()), 2000);
}
END_TEST

START_TEST(what_was_dropped_is_told_even_if_only_errors_are)
{
    struct log_options errors = options;

    errors.level = LEVEL_ERROR;
    log_open(&errors);
    for (int i = 0; i < 2000; i++)
        log_error("count", "n=%d", i);
    read_all_the_rest();
    ck_assert_uint_eq(listener_count("level=warning event=lines_dropped"), 1);
}
END_TEST

START_TEST(a_reader_that_is_gone_is_not_waited_for)
{
    open_log();
    count_up(0, 2000);
    listener_close();
    log_flush();
    ck_assert(!log_is_behind());
    count_up(0, 2000);
    ck_assert(!log_is_behind());
}
END_TEST

/* Every write to a packet socket is a packet. */
static void listen_to_packets(void)
{
    int ends[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    listener_connect(ends[0], ends[1]);
}

START_TEST(lines_that_are_held_are_one_write)
{
    listen_to_packets();
    open_log();
    log_hold();
    count_up(0, 10);
    ck_assert_uint_eq(listener_take_piece(), 0);
    ck_assert(!log_is_behind());
    log_release();
    const size_t ten = listener_take_piece();
    ck_assert_uint_eq(listener_take_piece(), 0);
    count_up(0, 1);
    ck_assert_uint_eq(listener_take_piece() * 10, ten);
}
END_TEST

START_TEST(more_lines_than_fit_are_several_writes_and_none_is_lost)
{
    open_log();
    log_hold();
    for (int i = 0; i < 3000; i++) {
        log_info("count", "n=%d", i);
        if (i % 20 == 0)
            listener_hear();
    }
    log_release();
    read_all_the_rest();
    ck_assert_uint_eq(listener_count("event=count"), 3000);
    ck_assert_uint_eq(listener_count("lines_dropped"), 0);
}
END_TEST

START_TEST(the_last_words_are_waited_for)
{
    open_log();
    count_up(0, 500);
    ck_assert(log_is_behind());
    log_error("last_words", "a=1");
    const pid_t child = fork();
    if (child == 0) {
        log_close(0);
        close(STDERR_FILENO);
        listener_wait_for_the_end();
        _exit(listener_count("event=last_words") != 1 || listener_count("event=count") != 500);
    }
    log_close(600 * USEC_PER_SEC);
    close(STDERR_FILENO);
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(the_last_words_are_not_waited_for_longer_than_asked)
{
    open_log();
    count_up(0, 2000);
    log_close(10 * USEC_PER_MSEC);
    ck_assert(!log_is_behind());
}
END_TEST

START_TEST(what_waits_outlives_another_opening)
{
    open_log();
    count_up(0, 500);
    ck_assert(log_is_behind());
    open_log();
    read_all_the_rest();
    ck_assert_uint_eq(listener_count("event=count"), 500);
}
END_TEST

TCase *log_waiting_case(void)
{
    TCase *waiting = tcase_create("waiting");

    tcase_add_checked_fixture(waiting, setup, teardown);
    tcase_add_test(waiting, lines_that_nobody_reads_are_dropped_and_counted_where_they_are_missing);
    tcase_add_test(waiting, what_was_dropped_is_told_without_a_further_line);
    tcase_add_test(waiting, what_was_dropped_is_told_even_if_only_errors_are);
    tcase_add_test(waiting, a_reader_that_is_gone_is_not_waited_for);
    tcase_add_test(waiting, lines_that_are_held_are_one_write);
    tcase_add_test(waiting, more_lines_than_fit_are_several_writes_and_none_is_lost);
    tcase_add_test(waiting, the_last_words_are_waited_for);
    tcase_add_test(waiting, the_last_words_are_not_waited_for_longer_than_asked);
    tcase_add_test(waiting, what_waits_outlives_another_opening);
    return waiting;
}

/*
 * test_log_sink.c - stderr of every kind: files, pipes, terminals and sockets.
 */
#include "base/cleanup.h"
#include "base/listener.h"
#include "base/log_sink.h"
#include "suites.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define LINES_MAX ((size_t)1 << 20)

static struct log_sink sink;
static char lines[LINES_MAX];

/* Lines of 100 bytes. */
static void setup(void)
{
    memset(lines, 'x', sizeof lines);
    for (size_t i = 99; i < sizeof lines; i += 100)
        lines[i] = '\n';
}

static void teardown(void)
{
    log_sink_close(&sink);
    log_sink_close(&sink);
    listener_close();
}

static size_t write_text(const char *text)
{
    return log_sink_write(&sink, text, strlen(text));
}

START_TEST(a_file_takes_all_at_once)
{
    AUTO_CLOSE int file = memfd_create("log", MFD_CLOEXEC);

    listener_connect(dup(file), dup(file));
    log_sink_open(&sink);
    ck_assert_int_eq(sink.kind, SINK_FILE);
    ck_assert_uint_eq(log_sink_write(&sink, lines, sizeof lines), sizeof lines);
    ck_assert_int_eq(lseek(file, 0, SEEK_CUR), sizeof lines);
}
END_TEST

START_TEST(a_full_pipe_takes_whole_lines_and_leaves_the_rest)
{
    listener_open();
    log_sink_open(&sink);
    if (_i == 1)
        sink = (struct log_sink){.kind = SINK_SHARED, .fd = STDERR_FILENO};
    const size_t done = log_sink_write(&sink, lines, sizeof lines);
    ck_assert(done > 0 && done < sizeof lines);
    ck_assert_uint_eq(done % 100, 0);
    ck_assert_uint_eq(log_sink_write(&sink, lines, 100), 0);
    ck_assert_uint_eq(listener_length(), done);
    ck_assert_uint_eq(write_text("more\n"), 5);
}
END_TEST

START_TEST(those_who_share_our_stderr_still_block)
{
    listener_open();
    log_sink_open(&sink);
    ck_assert_int_eq(sink.kind, SINK_OWN);
    ck_assert_int_eq(fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK, 0);
    ck_assert_int_ne(fcntl(sink.fd, F_GETFL) & O_NONBLOCK, 0);
    ck_assert_int_ne(fcntl(sink.fd, F_GETFD) & FD_CLOEXEC, 0);
}
END_TEST

START_TEST(a_terminal_that_nobody_reads_does_not_block)
{
    listener_open_terminal();
    log_sink_open(&sink);
    ck_assert_int_eq(sink.kind, SINK_OWN);
    ck_assert_uint_lt(log_sink_write(&sink, lines, sizeof lines), sizeof lines);
}
END_TEST

static const struct {
    const char *rule;
    int type;
} sockets[] = {
    {"a stream, as journald has it", SOCK_STREAM},
    {"datagrams", SOCK_DGRAM},
    {"packets", SOCK_SEQPACKET},
};

START_TEST(a_full_socket_leaves_the_rest)
{
    int ends[2];

    ck_assert_int_eq(socketpair(AF_UNIX, sockets[_i].type | SOCK_CLOEXEC, 0, ends), 0);
    listener_connect(ends[0], ends[1]);
    log_sink_open(&sink);
    ck_assert_int_eq(sink.kind, SINK_SOCKET);
    const size_t done = log_sink_write(&sink, lines, sizeof lines);
    ck_assert_msg(done < sizeof lines && done % 100 == 0, "%s: %zu", sockets[_i].rule, done);
    ck_assert_uint_eq(listener_length(), done);
}
END_TEST

START_TEST(a_reader_that_is_gone_is_no_reason_to_wait_or_to_die)
{
    listener_open();
    log_sink_open(&sink);
    if (_i == 1)
        sink = (struct log_sink){.kind = SINK_SHARED, .fd = STDERR_FILENO};
    listener_close();
    ck_assert_uint_eq(log_sink_write(&sink, lines, sizeof lines), sizeof lines);
}
END_TEST

START_TEST(a_closed_stderr_takes_everything)
{
    close(STDERR_FILENO);
    log_sink_open(&sink);
    ck_assert_int_eq(sink.kind, SINK_NONE);
    ck_assert_uint_eq(log_sink_write(&sink, lines, sizeof lines), sizeof lines);
}
END_TEST

START_TEST(a_descriptor_that_became_another_file_is_known_and_not_closed)
{
    AUTO_CLOSE int other = memfd_create("other", MFD_CLOEXEC);

    listener_open();
    log_sink_open(&sink);
    ck_assert(log_sink_is_intact(&sink));
    const int number = sink.fd;
    ck_assert_int_eq(dup2(other, number), number);
    ck_assert(!log_sink_is_intact(&sink));
    log_sink_close(&sink);
    ck_assert_int_ge(fcntl(number, F_GETFD), 0);
    close(number);
}
END_TEST

START_TEST(waiting_ends_when_somebody_reads)
{
    listener_open();
    log_sink_open(&sink);
    log_sink_write(&sink, lines, sizeof lines);
    const pid_t child = fork();
    if (child == 0) {
        listener_hear();
        _exit(0);
    }
    log_sink_wait(&sink, 600 * USEC_PER_SEC);
    ck_assert_uint_eq(write_text("more\n"), 5);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}
END_TEST

Suite *log_sink_suite(void)
{
    Suite *suite = suite_create("base/log_sink");
    TCase *kinds = tcase_create("kinds");

    tcase_add_checked_fixture(kinds, setup, teardown);
    tcase_add_test(kinds, a_file_takes_all_at_once);
    tcase_add_loop_test(kinds, a_full_pipe_takes_whole_lines_and_leaves_the_rest, 0, 2);
    tcase_add_test(kinds, those_who_share_our_stderr_still_block);
    tcase_add_test(kinds, a_terminal_that_nobody_reads_does_not_block);
    tcase_add_loop_test(kinds, a_full_socket_leaves_the_rest, 0, COUNT_OF(sockets));
    tcase_add_loop_test(kinds, a_reader_that_is_gone_is_no_reason_to_wait_or_to_die, 0, 2);
    tcase_add_test(kinds, a_closed_stderr_takes_everything);
    tcase_add_test(kinds, a_descriptor_that_became_another_file_is_known_and_not_closed);
    tcase_add_test(kinds, waiting_ends_when_somebody_reads);
    suite_add_tcase(suite, kinds);
    return suite;
}

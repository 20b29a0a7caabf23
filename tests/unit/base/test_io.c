/*
 * test_io.c - reading and writing all of it, through real pipes and files.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/io.h"
#include "suites.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* More than a pipe holds, so that one side has to wait for the other. */
#define PLENTY ((size_t)1024 * 1024)

static unsigned char pattern[PLENTY];

static void fill_pattern(void)
{
    for (size_t i = 0; i < PLENTY; i++)
        pattern[i] = (unsigned char)(i * 31 % 251);
}

static void ignore_signal(int number)
{
    (void)number;
}

/* Without SA_RESTART, so that read() and write() end with EINTR or short. */
static void be_interruptible(void)
{
    const struct sigaction action = {.sa_handler = ignore_signal};

    sigaction(SIGUSR1, &action, NULL);
}

static void interrupt_parent(void)
{
    for (int i = 0; i < 200; i++)
        kill(getppid(), SIGUSR1);
}

static int file_of(const void *data, size_t length)
{
    const int fd = memfd_create("test", MFD_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, data, length), (ssize_t)length);
    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static void wait_for(pid_t child)
{
    int status = -1;

    while (waitpid(child, &status, 0) < 0)
        ck_assert_int_eq(errno, EINTR);
    ck_assert_int_eq(status, 0);
}

START_TEST(a_file_of_any_length_is_read_to_its_end)
{
    static const size_t lengths[] = {0, 1, 65535, 65536, 65537, PLENTY};
    AUTO_CLOSE int fd = file_of(pattern, lengths[_i]);
    CLEANUP(buffer_done) struct buffer content = BUFFER(PLENTY + 1);
    struct error err = {0};

    ck_assert_msg(io_read_all(fd, "test", &content, &err), "%s", err.text);
    ck_assert_uint_eq(content.length, lengths[_i]);
    ck_assert_mem_eq(buffer_str(&content), pattern, lengths[_i]);
    ck_assert_int_eq(buffer_str(&content)[content.length], '\0');
}
END_TEST

START_TEST(a_file_as_large_as_the_limit_fits)
{
    AUTO_CLOSE int fd = file_of("12345", 5);
    CLEANUP(buffer_done) struct buffer content = BUFFER(5);
    struct error err = {0};

    ck_assert(io_read_all(fd, "test", &content, &err));
    ck_assert_str_eq(buffer_str(&content), "12345");
}
END_TEST

START_TEST(a_file_larger_than_the_limit_is_refused_with_its_name)
{
    AUTO_CLOSE int fd = file_of("123456", 6);
    CLEANUP(buffer_done) struct buffer content = BUFFER(5);
    struct error err = {0};

    ck_assert(!io_read_all(fd, "conf/jobs.yaml", &content, &err));
    ck_assert_int_eq(err.code, TH_E_INVALID);
    ck_assert_str_eq(err.text, "conf/jobs.yaml is larger than 5 bytes");
}
END_TEST

START_TEST(what_is_read_stands_behind_what_was_there)
{
    AUTO_CLOSE int fd = file_of("345", 3);
    CLEANUP(buffer_done) struct buffer content = BUFFER(5);
    struct error err = {0};

    buffer_text(&content, "12");
    ck_assert(io_read_all(fd, "test", &content, &err));
    ck_assert_str_eq(buffer_str(&content), "12345");
}
END_TEST

START_TEST(a_buffer_that_failed_before_is_not_read_into)
{
    AUTO_CLOSE int fd = file_of("345", 3);
    CLEANUP(buffer_done) struct buffer content = BUFFER(5);
    struct error err = {0};

    buffer_text(&content, "123456");
    ck_assert(!io_read_all(fd, "test", &content, &err));
    ck_assert_str_eq(err.text, "read test: longer than 5 bytes");
}
END_TEST

START_TEST(a_file_that_cannot_be_read_is_refused_with_the_reason)
{
    CLEANUP(buffer_done) struct buffer content = BUFFER(5);
    struct error err = {0};

    ck_assert(!io_read_all(-1, "test", &content, &err));
    ck_assert_str_eq(err.text, "read test: Bad file descriptor");

    /* The same, where only the end is left to be found. */
    buffer_text(&content, "12345");
    ck_assert(!io_read_all(-1, "test", &content, &err));
    ck_assert_str_eq(err.text, "read test: Bad file descriptor");
}
END_TEST

START_TEST(signals_and_short_reads_do_not_end_a_read)
{
    CLEANUP(buffer_done) struct buffer content = BUFFER(PLENTY);
    struct error err = {0};
    int ends[2];

    be_interruptible();
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = fork();
    if (child == 0) {
        interrupt_parent();
        _exit(io_write_all(ends[1], pattern, PLENTY, &err) ? 0 : 1);
    }
    close(ends[1]);
    ck_assert_msg(io_read_all(ends[0], "pipe", &content, &err), "%s", err.text);
    close(ends[0]);
    wait_for(child);
    ck_assert_uint_eq(content.length, PLENTY);
    ck_assert_mem_eq(content.data, pattern, PLENTY);
}
END_TEST

START_TEST(signals_and_short_writes_do_not_end_a_write)
{
    CLEANUP(buffer_done) struct buffer content = BUFFER(PLENTY);
    struct error err = {0};
    int ends[2];

    be_interruptible();
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        interrupt_parent();
        const bool same = io_read_all(ends[0], "pipe", &content, &err) &&
                          content.length == PLENTY && memcmp(content.data, pattern, PLENTY) == 0;
        buffer_done(&content);
        _exit(same ? 0 : 1);
    }
    close(ends[0]);
    ck_assert_msg(io_write_all(ends[1], pattern, PLENTY, &err), "%s", err.text);
    close(ends[1]);
    wait_for(child);
}
END_TEST

START_TEST(a_write_that_fails_says_why)
{
    struct error err = {0};
    int ends[2];

    signal(SIGPIPE, SIG_IGN);
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    close(ends[0]);
    ck_assert(!io_write_all(ends[1], "x", 1, &err));
    ck_assert_int_eq(err.code, TH_E_UNAVAILABLE);
    ck_assert_str_eq(err.text, "write: Broken pipe");
    ck_assert(io_write_all(ends[1], NULL, 0, &err));
    close(ends[1]);
}
END_TEST

START_TEST(a_path_is_opened_and_read)
{
    CLEANUP(buffer_done) struct buffer content = BUFFER(100);
    struct error err = {0};
    char path[64];

    snprintf(path, sizeof path, "%s/io-XXXXXX", getenv("TMPDIR"));
    AUTO_CLOSE int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert(io_write_all(fd, "content", 7, &err));
    ck_assert_msg(io_read_file(path, &content, &err), "%s", err.text);
    ck_assert_str_eq(buffer_str(&content), "content");
}
END_TEST

START_TEST(reading_a_path_leaves_no_descriptor_open)
{
    CLEANUP(buffer_done) struct buffer content = BUFFER(100000);
    struct error err = {0};
    AUTO_CLOSE int before = open("/dev/null", O_RDONLY | O_CLOEXEC);

    ck_assert(io_read_file("/proc/self/stat", &content, &err));
    AUTO_CLOSE int after = open("/dev/null", O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(after, before + 1);
}
END_TEST

/* Whoever opens a FIFO waits until somebody writes into it. */
START_TEST(nothing_but_a_regular_file_is_waited_for)
{
    CLEANUP(buffer_done) struct buffer content = BUFFER(100);
    char fifo[] = "/tmp/th-io-XXXXXX/fifo";
    struct error err = {0};

    fifo[sizeof "/tmp/th-io-XXXXXX" - 1] = '\0';
    ck_assert_ptr_nonnull(mkdtemp(fifo));
    fifo[sizeof "/tmp/th-io-XXXXXX" - 1] = '/';
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    const bool read = io_read_regular(fifo, &content, &err);
    ck_assert_int_eq(unlink(fifo), 0);
    fifo[sizeof "/tmp/th-io-XXXXXX" - 1] = '\0';
    ck_assert_int_eq(rmdir(fifo), 0);
    ck_assert(!read);
    ck_assert_ptr_nonnull(strstr(err.text, "/fifo: cannot be opened: it is not a regular file"));
    ck_assert(!io_read_regular("/dev/zero", &content, &err));
    ck_assert_str_eq(err.text, "/dev/zero: cannot be opened: it is not a regular file");
    ck_assert(!io_read_regular("/tmp", &content, &err));
    ck_assert_str_eq(err.text, "/tmp: cannot be opened: Is a directory");
    ck_assert(io_read_regular("/proc/self/comm", &content, &err));
}
END_TEST

static const struct {
    const char *rule;
    const char *path;
    const char *text;
} unreadable[] = {
    {"a path that is not there", "/nowhere/jobs.yaml",
     "open /nowhere/jobs.yaml: No such file or directory"},
    {"a folder", "/tmp", "read /tmp: Is a directory"},
};

START_TEST(a_path_that_cannot_be_read_is_named)
{
    CLEANUP(buffer_done) struct buffer content = BUFFER(100);
    struct error err = {0};

    ck_assert_msg(!io_read_file(unreadable[_i].path, &content, &err), "%s", unreadable[_i].rule);
    ck_assert_int_eq(err.code, TH_E_INVALID);
    ck_assert_str_eq(err.text, unreadable[_i].text);
}
END_TEST

Suite *io_suite(void)
{
    Suite *suite = suite_create("base/io");
    TCase *reads = tcase_create("read");
    TCase *writes = tcase_create("write");

    tcase_add_unchecked_fixture(reads, fill_pattern, NULL);
    tcase_add_loop_test(reads, a_file_of_any_length_is_read_to_its_end, 0, 6);
    tcase_add_test(reads, a_file_as_large_as_the_limit_fits);
    tcase_add_test(reads, a_file_larger_than_the_limit_is_refused_with_its_name);
    tcase_add_test(reads, what_is_read_stands_behind_what_was_there);
    tcase_add_test(reads, a_buffer_that_failed_before_is_not_read_into);
    tcase_add_test(reads, a_file_that_cannot_be_read_is_refused_with_the_reason);
    tcase_add_test(reads, signals_and_short_reads_do_not_end_a_read);
    tcase_add_test(reads, a_path_is_opened_and_read);
    tcase_add_test(reads, reading_a_path_leaves_no_descriptor_open);
    tcase_add_test(reads, nothing_but_a_regular_file_is_waited_for);
    tcase_add_loop_test(reads, a_path_that_cannot_be_read_is_named, 0, COUNT_OF(unreadable));
    suite_add_tcase(suite, reads);

    tcase_add_unchecked_fixture(writes, fill_pattern, NULL);
    tcase_add_test(writes, signals_and_short_writes_do_not_end_a_write);
    tcase_add_test(writes, a_write_that_fails_says_why);
    suite_add_tcase(suite, writes);
    return suite;
}

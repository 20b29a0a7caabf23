/*
 * test_log.c - the log of a process: what it lets through, in which form, and after a fork.
 */
#include "base/cases.h"
#include "base/cleanup.h"
#include "base/listener.h"
#include "base/log.h"
#include "base/text.h"
#include "suites.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

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

START_TEST(nothing_is_logged_before_it_is_opened_or_after_it_is_closed)
{
    log_error("too_early", "a=1");
    ck_assert(!log_is_on(LEVEL_ERROR));
    open_log();
    log_close(0);
    log_error("too_late", "a=1");
    ck_assert_str_eq(listener_hear(), "");
}
END_TEST

START_TEST(a_line_has_time_level_event_pool_process_and_its_fields)
{
    open_log();
    log_info("job_done", "job=%s ms=%d", "0193", 12);
    ck_assert(text_starts_with(listener_hear(), "time=20"));
    ck_assert_str_eq(strchr(listener_hear(), ' '), " level=info event=job_done pool=web-1 "
                                                   "process=dispatcher job=0193 ms=12\n");
}
END_TEST

START_TEST(levels_below_the_one_asked_for_are_silent)
{
    struct log_options quiet = options;

    quiet.level = (enum log_level)_i;
    log_open(&quiet);
    log_error("e", "n=0");
    log_warning("e", "n=1");
    log_info("e", "n=2");
    log_debug("e", "n=3");
    log_at(LEVEL_ERROR, "e", "n=4");
    log_at(LEVEL_DEBUG, "e", "n=5");
    ck_assert_uint_eq(listener_count("event=e"), _i == LEVEL_DEBUG ? 6 : (size_t)_i + 2);
    for (int level = LEVEL_ERROR; level <= LEVEL_DEBUG; level++)
        ck_assert_int_eq(log_is_on((enum log_level)level), level <= _i);
}
END_TEST

static void claim_to_be_journald(uintmax_t inode_offset)
{
    struct stat status;
    char stream[64];

    ck_assert_int_eq(fstat(STDERR_FILENO, &status), 0);
    snprintf(stream, sizeof stream, "%ju:%ju", (uintmax_t)status.st_dev,
             (uintmax_t)status.st_ino + inode_offset);
    setenv("JOURNAL_STREAM", stream, 1);
}

START_TEST(journald_is_known_by_its_stream)
{
    claim_to_be_journald(0);
    open_log();
    log_warning("lease_lost", "job=1");
    ck_assert_str_eq(listener_hear(),
                     "<4>level=warning event=lease_lost pool=web-1 process=dispatcher job=1\n");
}
END_TEST

START_TEST(a_stderr_that_is_not_journalds_gets_no_priorities)
{
    claim_to_be_journald(1);
    open_log();
    log_warning("lease_lost", "job=1");
    ck_assert(text_starts_with(listener_hear(), "time="));
}
END_TEST

START_TEST(json_is_json_wherever_it_goes)
{
    struct log_options json = options;

    json.format = FORMAT_JSON;
    log_open(&json);
    log_info("job_done", "ms=%d", 12);
    ck_assert(text_starts_with(listener_hear(), "{\"time\":\"20"));
    ck_assert_uint_eq(listener_count("\"ms\":12}\n"), 1);
}
END_TEST

static const struct {
    const char *rule;
    const char *name, *value; /* of a variable */
    enum log_format format;
    const char *expected; /* is in the line */
} terminals[] = {
    {"a terminal gets colours", "NO_COLOR", "", FORMAT_LOGFMT,
     " dispatcher   \033[0m\033[1mjob_done\033[0m \033[2mms=\033[0m12"},
    {"unless somebody does not want them", "NO_COLOR", "1", FORMAT_LOGFMT,
     " dispatcher   job_done ms=12"},
    {"or it cannot show them", "TERM", "dumb", FORMAT_LOGFMT, " dispatcher   job_done ms=12"},
    {"and JSON if that was asked for", "NO_COLOR", "", FORMAT_JSON, "\"process\":\"dispatcher\""},
};

static const struct {
    const char *rule;
    void (*open)(void);
    enum log_format format;
    const char *expected;
} talks[] = {
    {"who sits at a terminal hears it", listener_open_terminal, FORMAT_LOGFMT, "hello\r\n"},
    {"who asked for JSON does not", listener_open_terminal, FORMAT_JSON, ""},
    {"a program does not", listener_open, FORMAT_LOGFMT, ""},
};

START_TEST(what_is_said_to_people_is_for_nobody_else)
{
    struct log_options chosen = options;

    talks[_i].open();
    chosen.format = talks[_i].format;
    log_open(&chosen);
    log_say("hello\n");
    ck_assert_msg(text_equal(listener_hear(), talks[_i].expected), "%s: %s", talks[_i].rule,
                  listener_hear());
}
END_TEST

START_TEST(a_terminal_gets_what_people_can_read)
{
    struct log_options chosen = options;

    listener_open_terminal();
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    setenv(terminals[_i].name, terminals[_i].value, 1);
    chosen.format = terminals[_i].format;
    log_open(&chosen);
    log_set_process("dispatcher");
    log_info("job_done", "ms=%d", 12);
    ck_assert_msg(strstr(listener_hear(), terminals[_i].expected), "%s: %s", terminals[_i].rule,
                  listener_hear());
}
END_TEST

START_TEST(a_file_gets_every_line)
{
    char text[1000] = "";
    AUTO_CLOSE int file = memfd_create("log", MFD_CLOEXEC);

    listener_connect(dup(file), dup(file));
    open_log();
    log_info("one", "a=1");
    log_info("two", "a=1");
    ck_assert_int_gt(pread(file, text, sizeof text - 1, 0), 0);
    ck_assert_ptr_nonnull(strstr(text, "event=one"));
    ck_assert_ptr_nonnull(strstr(text, "event=two"));
    ck_assert(!log_is_behind());
}
END_TEST

START_TEST(lines_that_wait_at_a_fork_are_written_by_the_parent_alone)
{
    open_log();
    log_hold();
    log_info("before_fork", "a=1");
    const pid_t child = fork();
    if (child == 0) {
        log_set_process("worker 1");
        log_info("in_child", "a=1");
        log_close(0);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    log_release();
    ck_assert_uint_eq(listener_count("before_fork"), 1);
    ck_assert_uint_eq(listener_count("event=in_child pool=web-1 process=\"worker 1\""), 1);
}
END_TEST

START_TEST(a_child_that_closed_all_descriptors_writes_to_no_other_file)
{
    open_log();
    const pid_t child = fork();
    if (child == 0) {
        int files[8];

        for (int fd = STDERR_FILENO + 1; fd < 100; fd++)
            close(fd);
        for (size_t i = 0; i < COUNT_OF(files); i++)
            files[i] = memfd_create("store", MFD_CLOEXEC);
        log_info("in_child", "a=1");
        for (size_t i = 0; i < COUNT_OF(files); i++) {
            if (lseek(files[i], 0, SEEK_END) != 0)
                _exit(1);
        }
        log_close(0);
        _exit(fcntl(files[0], F_GETFD) < 0);
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(listener_count("event=in_child"), 1);
}
END_TEST

#define WRITERS 4
#define EACH    1000

/* Lines of many lengths, so that the pipe is full at many places of them. */
static void write_a_lot(int writer)
{
    char text[4000];

    memset(text, 'a' + writer, sizeof text);
    for (int i = 0; i < EACH; i++)
        log_info("count", "text=%.*s writer=%d", i * 37 % (int)sizeof text, text, writer);
    log_close(600 * USEC_PER_SEC);
    _exit(0);
}

static void check_line(const char *line, size_t length)
{
    const char *text = memmem(line, length, " text=", 6);
    const char *writer = memmem(line, length, " writer=", 8);
    char allowed[] = "?.\"";
    int number = -1;

    ck_assert(text_starts_with(line, "time=2"));
    if (!writer)
        return; /* lines_dropped */
    ck_assert_int_eq(sscanf(writer, " writer=%d\n", &number), 1);
    ck_assert_ptr_nonnull(text);
    allowed[0] = (char)('a' + number);
    ck_assert_ptr_eq(text + 6 + strspn(text + 6, allowed), writer);
}

START_TEST(lines_of_several_processes_do_not_get_mixed)
{
    size_t lines = 0;

    open_log();
    for (int i = 0; i < WRITERS; i++) {
        if (fork() == 0)
            write_a_lot(i);
    }
    close(STDERR_FILENO);
    log_close(0);
    listener_wait_for_the_end();
    for (const char *line = listener_hear(), *end; *line != '\0'; line = end + 1, lines++) {
        end = strchr(line, '\n');
        ck_assert_ptr_nonnull(end);
        check_line(line, (size_t)(end - line) + 1);
    }
    ck_assert_uint_gt(lines, WRITERS);
    while (wait(NULL) > 0) {
    }
}
END_TEST

START_TEST(errno_is_left_alone)
{
    open_log();
    for (int i = 0; i < 2000; i++) {
        errno = ENOENT;
        log_info("count", "n=%d", i);
        ck_assert_int_eq(errno, ENOENT);
    }
}
END_TEST

Suite *log_suite(void)
{
    Suite *suite = suite_create("base/log");
    TCase *lines = tcase_create("lines");
    TCase *processes = tcase_create("processes");

    tcase_add_checked_fixture(lines, setup, teardown);
    tcase_add_test(lines, nothing_is_logged_before_it_is_opened_or_after_it_is_closed);
    tcase_add_test(lines, a_line_has_time_level_event_pool_process_and_its_fields);
    tcase_add_loop_test(lines, levels_below_the_one_asked_for_are_silent, LEVEL_ERROR,
                        LEVEL_DEBUG + 1);
    tcase_add_test(lines, journald_is_known_by_its_stream);
    tcase_add_test(lines, a_stderr_that_is_not_journalds_gets_no_priorities);
    tcase_add_test(lines, json_is_json_wherever_it_goes);
    tcase_add_loop_test(lines, what_is_said_to_people_is_for_nobody_else, 0, COUNT_OF(talks));
    tcase_add_loop_test(lines, a_terminal_gets_what_people_can_read, 0, COUNT_OF(terminals));
    tcase_add_test(lines, a_file_gets_every_line);
    tcase_add_test(lines, errno_is_left_alone);
    suite_add_tcase(suite, lines);

    suite_add_tcase(suite, log_waiting_case());

    tcase_add_checked_fixture(processes, setup, teardown);
    tcase_set_timeout(processes, 60);
    tcase_add_test(processes, lines_that_wait_at_a_fork_are_written_by_the_parent_alone);
    tcase_add_test(processes, a_child_that_closed_all_descriptors_writes_to_no_other_file);
    tcase_add_test(processes, lines_of_several_processes_do_not_get_mixed);
    suite_add_tcase(suite, processes);
    return suite;
}

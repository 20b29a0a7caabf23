/*
 * test_notify.c - a service manager of our own, that listens.
 */
#include "base/error.h"
#include "process/notify.h"
#include "suites.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct notify notify;
static struct error err;
static char folder[64];
static char name[80];
static int manager = -1;

/* A socket in the folder, or one without a file; `name` is how $NOTIFY_SOCKET has it. */
static void listen_at(bool is_abstract)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(name, sizeof name, "%s%s/socket", is_abstract ? "@" : "", folder);
    memcpy(address.sun_path, name, strlen(name));
    if (is_abstract)
        address.sun_path[0] = '\0';
    manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ck_assert_int_eq(bind(manager, (struct sockaddr *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))),
                     0);
    setenv("NOTIFY_SOCKET", name, 1);
}

static void setup(void)
{
    snprintf(folder, sizeof folder, "%s/notify-XXXXXX", getenv("TMPDIR"));
    ck_assert_ptr_nonnull(mkdtemp(folder));
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
}

static void teardown(void)
{
    notify_close(&notify);
    notify_close(&notify);
    close(manager);
    if (name[0] == '/')
        unlink(name);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void open_notify(void)
{
    ck_assert_msg(notify_open(&notify, &err), "%s", err.text);
}

static void expect_message(const char *expected)
{
    char message[2000] = "";

    ck_assert_int_ge(recv(manager, message, sizeof message - 1, 0), 0);
    ck_assert_str_eq(message, expected);
}

START_TEST(messages_arrive)
{
    listen_at(_i == 1);
    open_notify();
    notify_send(&notify, "READY=1\nSTATUS=%d workers", 4);
    expect_message("READY=1\nSTATUS=4 workers");
    ck_assert_int_ne(fcntl(notify.socket, F_GETFD) & FD_CLOEXEC, 0);
}
END_TEST

START_TEST(without_a_manager_every_call_does_nothing)
{
    setenv("NOTIFY_SOCKET", "", _i);
    setenv("WATCHDOG_USEC", "1000000", 1);
    open_notify();
    ck_assert_int_eq(notify.socket, -1);
    ck_assert_int_eq(notify.watchdog_half, 0);
    notify_send(&notify, "READY=1");
    notify = (struct notify){.socket = -1};
}
END_TEST

START_TEST(a_manager_that_does_not_read_or_goes_away_is_no_reason_to_wait)
{
    listen_at(false);
    open_notify();
    for (int i = 0; i < 10000; i++)
        notify_send(&notify, "WATCHDOG=1");
    close(manager);
    notify_send(&notify, "WATCHDOG=1");
}
END_TEST

START_TEST(the_environment_is_for_this_process_alone)
{
    char pid[16];

    snprintf(pid, sizeof pid, "%d", (int)getpid());
    listen_at(false);
    setenv("WATCHDOG_USEC", "3000000", 1);
    setenv("WATCHDOG_PID", pid, 1);
    if (_i == 1)
        setenv("NOTIFY_SOCKET", "wrong", 1);
    ck_assert_int_eq(notify_open(&notify, &err), _i == 0);
    ck_assert_ptr_null(getenv("NOTIFY_SOCKET"));
    ck_assert_ptr_null(getenv("WATCHDOG_USEC"));
    ck_assert_ptr_null(getenv("WATCHDOG_PID"));
}
END_TEST

static const char *variable(const char *key)
{
    const char *value = getenv(key);

    return value ? value : "none";
}

START_TEST(whoever_takes_our_place_gets_it_back)
{
    char pid[16];

    snprintf(pid, sizeof pid, "%d", (int)getpid());
    listen_at(_i > 0);
    if (_i > 0)
        setenv("WATCHDOG_USEC", "3000000", 1);
    open_notify();
    ck_assert_msg(notify_restore(&notify, &err), "%s", err.text);
    ck_assert_str_eq(variable("NOTIFY_SOCKET"), name);
    ck_assert_str_eq(variable("WATCHDOG_USEC"), _i > 0 ? "3000000" : "none");
    ck_assert_str_eq(variable("WATCHDOG_PID"), _i > 0 ? pid : "none");
}
END_TEST

START_TEST(where_there_was_nothing_nothing_is_put_back)
{
    open_notify();
    ck_assert(notify_restore(&notify, &err));
    ck_assert_str_eq(variable("NOTIFY_SOCKET"), "none");
    ck_assert_str_eq(variable("WATCHDOG_USEC"), "none");
}
END_TEST

static const struct {
    const char *rule;
    const char *usec, *pid; /* NULL: not set; "own": ours */
    usec_t half;
} watchdogs[] = {
    {"the watchdog is heard of at half its time", "3000000", "own", 1500000},
    {"also where it does not say whose it is", "3000000", NULL, 1500000},
    {"one for another process is not ours", "3000000", "1", 0},
    {"nor is one for nobody", "3000000", "self", 0},
    {"there may be none", NULL, "own", 0},
};

START_TEST(the_watchdog_wants_to_hear_of_us)
{
    char pid[16];

    listen_at(false);
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    if (watchdogs[_i].usec)
        setenv("WATCHDOG_USEC", watchdogs[_i].usec, 1);
    if (watchdogs[_i].pid)
        setenv("WATCHDOG_PID", strcmp(watchdogs[_i].pid, "own") == 0 ? pid : watchdogs[_i].pid, 1);
    open_notify();
    ck_assert_msg(notify.watchdog_half == watchdogs[_i].half, "%s", watchdogs[_i].rule);
}
END_TEST

#define HUNDRED                                                                                    \
    "/2345678901234567890123456789012345678901234567890123456789"                                  \
    "01234567890123456789012345678901234567890"

static const struct {
    const char *variable, *value;
    const char *error;
} refused[] = {
    {"NOTIFY_SOCKET", "run/notify", "NOTIFY_SOCKET is 'run/notify': it has to start with / or @"},
    {"NOTIFY_SOCKET", "vsock:2:1234",
     "NOTIFY_SOCKET is 'vsock:2:1234': it has to start with / or @"},
    {"NOTIFY_SOCKET", "@", "NOTIFY_SOCKET is '@': its length has to be from 2 to 107"},
    {"NOTIFY_SOCKET", HUNDRED "/2345678",
     "NOTIFY_SOCKET is '/2345678901234567890123456789012345678901234...': its length has to be "
     "from 2 to 107"},
    {"NOTIFY_SOCKET", "/nowhere/notify",
     "connect to NOTIFY_SOCKET '/nowhere/notify': No such file or directory"},
    {"WATCHDOG_USEC", "soon", "WATCHDOG_USEC is 'soon': it has to be a number over 1"},
    {"WATCHDOG_USEC", "0", "WATCHDOG_USEC is '0': it has to be a number over 1"},
};

START_TEST(what_cannot_work_is_refused)
{
    listen_at(false);
    setenv(refused[_i].variable, refused[_i].value, 1);
    ck_assert(!notify_open(&notify, &err));
    ck_assert_str_eq(err.text, refused[_i].error);
    ck_assert_int_eq(notify.socket, -1);
}
END_TEST

Suite *notify_suite(void)
{
    Suite *suite = suite_create("process/notify");
    TCase *manager_case = tcase_create("manager");

    tcase_add_checked_fixture(manager_case, setup, teardown);
    tcase_add_loop_test(manager_case, messages_arrive, 0, 2);
    tcase_add_loop_test(manager_case, without_a_manager_every_call_does_nothing, 0, 2);
    tcase_add_test(manager_case, a_manager_that_does_not_read_or_goes_away_is_no_reason_to_wait);
    tcase_add_loop_test(manager_case, the_environment_is_for_this_process_alone, 0, 2);
    tcase_add_loop_test(manager_case, whoever_takes_our_place_gets_it_back, 0, 2);
    tcase_add_test(manager_case, where_there_was_nothing_nothing_is_put_back);
    tcase_add_loop_test(manager_case, the_watchdog_wants_to_hear_of_us, 0, COUNT_OF(watchdogs));
    tcase_add_loop_test(manager_case, what_cannot_work_is_refused, 0, COUNT_OF(refused));
    suite_add_tcase(suite, manager_case);
    return suite;
}

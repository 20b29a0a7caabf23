/*
 * test_listeners.c - sockets from one config, and one thd, to the next.
 */
#include "../config/folder.h"
#include "base/error.h"
#include "config/config.h"
#include "master/listeners.h"
#include "suites.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PORT "127.0.0.1:0" /* another one each time that it is opened */

#define ALL_DOORS (1U << DOOR_HTTP | 1U << DOOR_FAKTORY)

static struct error err;
static struct listeners listeners, next_listeners;
static enum door door;

static struct config config_with(const char *http, const char *faktory)
{
    return (struct config){
        .has_http = http != NULL,
        .has_faktory = faktory != NULL,
        .http = {.listen = http},
        .faktory = {.listen = faktory},
    };
}

static void setup(void)
{
    folder_setup();
    listeners = next_listeners = (struct listeners){0};
}

static void teardown(void)
{
    listeners_close(&listeners);
    listeners_close(&next_listeners);
    folder_teardown();
}

static void open_all(const struct config *config)
{
    ck_assert_msg(listeners_open(&listeners, config, ALL_DOORS, &door, &err), "%s", err.text);
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* ---- from one config to the next ---- */

START_TEST(each_door_that_the_config_has_listens)
{
    const struct config config = config_with(PORT, NULL);

    open_all(&config);
    ck_assert_uint_eq(listeners.count, 1);
    ck_assert(is_open(listeners_find(&listeners, DOOR_HTTP, &config)));
    ck_assert_int_eq(listeners_find(&listeners, DOOR_FAKTORY, &config), -1);
}
END_TEST

START_TEST(where_nobody_answers_nobody_listens)
{
    const struct config config = config_with(PORT, PORT);

    ck_assert(listeners_open(&listeners, &config, 1U << DOOR_HTTP, &door, &err));
    ck_assert_uint_eq(listeners.count, 1);
    ck_assert_int_eq(listeners_find(&listeners, DOOR_FAKTORY, &config), -1);
}
END_TEST

START_TEST(an_address_that_stays_keeps_its_socket)
{
    const struct config config = config_with(PORT, "unix:jobs");

    open_all(&config);
    const int http = listeners_find(&listeners, DOOR_HTTP, &config);
    const int faktory = listeners_find(&listeners, DOOR_FAKTORY, &config);
    open_all(&config);
    listeners_keep(&listeners, &config, NULL);
    ck_assert_uint_eq(listeners.count, 2);
    ck_assert_int_eq(listeners_find(&listeners, DOOR_HTTP, &config), http);
    ck_assert_int_eq(listeners_find(&listeners, DOOR_FAKTORY, &config), faktory);
    ck_assert_int_eq(access("jobs", F_OK), 0);
}
END_TEST

START_TEST(an_old_address_is_closed_when_no_config_wants_it_any_more)
{
    const struct config old = config_with("unix:old", NULL), new = config_with("unix:new", NULL);

    open_all(&old);
    const int fd = listeners_find(&listeners, DOOR_HTTP, &old);
    open_all(&new);
    listeners_keep(&listeners, &old, &new);
    ck_assert(is_open(fd));
    ck_assert_int_eq(access("old", F_OK), 0);
    listeners_keep(&listeners, &new, NULL);
    ck_assert(!is_open(fd));
    ck_assert_int_ne(access("old", F_OK), 0);
    ck_assert_int_eq(access("new", F_OK), 0);
    ck_assert(is_open(listeners_find(&listeners, DOOR_HTTP, &new)));
}
END_TEST

START_TEST(one_that_cannot_be_opened_leaves_the_others_as_they_were)
{
    const struct config old = config_with(PORT, NULL);
    const struct config new = config_with("unix:new", "unix:/no/such/folder/socket");

    open_all(&old);
    ck_assert(!listeners_open(&listeners, &new, ALL_DOORS, &door, &err));
    ck_assert_int_eq(door, DOOR_FAKTORY);
    ck_assert_msg(strstr(err.text, "faktory.listen: cannot listen on unix:/no/such/folder/socket"),
                  "%s", err.text);
    listeners_keep(&listeners, &old, NULL);
    ck_assert_uint_eq(listeners.count, 1);
    ck_assert(is_open(listeners_find(&listeners, DOOR_HTTP, &old)));
    ck_assert_int_ne(access("new", F_OK), 0);
}
END_TEST

START_TEST(two_doors_cannot_have_one_address)
{
    const struct config config = config_with("unix:both", "unix:both");

    ck_assert(!listeners_open(&listeners, &config, ALL_DOORS, &door, &err));
    ck_assert_int_eq(door, DOOR_FAKTORY);
}
END_TEST

/* ---- files ---- */

START_TEST(a_file_that_somebody_else_put_there_stays)
{
    const struct config config = config_with("unix:door", NULL);

    open_all(&config);
    ck_assert_int_eq(unlink("door"), 0);
    folder_write("door", "precious");
    listeners_close(&listeners);
    ck_assert_int_eq(access("door", F_OK), 0);
}
END_TEST

START_TEST(whoever_has_given_way_leaves_the_files_to_the_next)
{
    const struct config config = config_with("unix:door", NULL);

    open_all(&config);
    listeners_disown(&listeners);
    listeners_close(&listeners);
    ck_assert_int_eq(access("door", F_OK), 0);
}
END_TEST

/* ---- from one thd to the next ---- */

/* As in the next thd: copies of them, from *first_out on. */
static void pass(int *first_out)
{
    int fds[LISTENERS_MAX];
    size_t count;

    ck_assert_msg(listeners_pass(&listeners, fds, &count, &err), "%s", err.text);
    *first_out = 100;
    for (size_t i = 0; i < count; i++)
        ck_assert_int_ge(dup2(fds[i], *first_out + (int)i), 0);
}

static ino_t inode_of(int fd)
{
    struct stat found;

    ck_assert_int_eq(fstat(fd, &found), 0);
    return found.st_ino;
}

START_TEST(the_next_thd_has_the_same_sockets)
{
    const struct config config = config_with(PORT, "unix:jobs");
    int first;

    open_all(&config);
    pass(&first);
    ck_assert_msg(listeners_take(&next_listeners, first, &err), "%s", err.text);
    ck_assert(listeners_open(&next_listeners, &config, ALL_DOORS, &door, &err));
    ck_assert_uint_eq(next_listeners.count, 2);
    for (enum door each = 0; each < DOORS; each++) {
        const int before = listeners_find(&listeners, each, &config);
        const int after = listeners_find(&next_listeners, each, &config);

        ck_assert_int_ne(before, after);
        ck_assert_uint_eq(inode_of(before), inode_of(after));
        ck_assert_int_eq(fcntl(after, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    }
    ck_assert(!getenv("LISTEN_FDS") && !getenv("LISTEN_PID") && !getenv("LISTEN_FDNAMES"));
    ck_assert(!getenv("TH_LISTEN_0") && !getenv("TH_LISTEN_1"));
}
END_TEST

START_TEST(a_next_thd_that_fails_leaves_the_files_to_the_old_one)
{
    const struct config config = config_with("unix:door", NULL);
    int first;

    open_all(&config);
    pass(&first);
    ck_assert(listeners_take(&next_listeners, first, &err));
    listeners_close(&next_listeners);
    ck_assert_int_eq(access("door", F_OK), 0);
}
END_TEST

START_TEST(a_next_thd_that_took_over_removes_the_files_at_its_end)
{
    const struct config config = config_with("unix:door", NULL);
    int first;

    open_all(&config);
    pass(&first);
    ck_assert(listeners_take(&next_listeners, first, &err));
    listeners_own(&next_listeners);
    listeners_close(&next_listeners);
    ck_assert_int_ne(access("door", F_OK), 0);
}
END_TEST

START_TEST(a_next_thd_with_another_address_opens_that_one)
{
    const struct config old = config_with("unix:old", NULL), new = config_with("unix:new", NULL);
    int first;

    open_all(&old);
    pass(&first);
    ck_assert(listeners_take(&next_listeners, first, &err));
    ck_assert(listeners_open(&next_listeners, &new, ALL_DOORS, &door, &err));
    listeners_keep(&next_listeners, &new, NULL);
    ck_assert_uint_eq(next_listeners.count, 1);
    ck_assert(!is_open(first));
    ck_assert_int_eq(access("old", F_OK), 0);
    ck_assert_int_eq(access("new", F_OK), 0);
}
END_TEST

/* ---- from systemd ---- */

static void say(const char *pid, const char *fds, const char *names)
{
    char own[16];

    snprintf(own, sizeof own, "%d", getpid());
    setenv("LISTEN_PID", pid ? pid : own, 1);
    setenv("LISTEN_FDS", fds, 1);
    if (names)
        setenv("LISTEN_FDNAMES", names, 1);
}

static int open_foreign(void)
{
    const struct config config = config_with("unix:foreign", NULL);

    open_all(&config);
    return listeners_find(&listeners, DOOR_HTTP, &config);
}

START_TEST(a_socket_of_systemd_is_its_doors_whatever_the_config_says)
{
    const struct config config = config_with("unix:ours", NULL), none = config_with(NULL, NULL);
    const int fd = dup(open_foreign());

    say(NULL, "1", "http");
    ck_assert_msg(listeners_take(&next_listeners, fd, &err), "%s", err.text);
    ck_assert(listeners_open(&next_listeners, &config, ALL_DOORS, &door, &err));
    ck_assert_int_eq(listeners_find(&next_listeners, DOOR_HTTP, &config), fd);
    ck_assert_int_ne(access("ours", F_OK), 0);
    listeners_keep(&next_listeners, &none, NULL);
    ck_assert_int_eq(listeners_find(&next_listeners, DOOR_HTTP, &none), -1);
    ck_assert_int_eq(listeners_find(&next_listeners, DOOR_HTTP, &config), fd);
    listeners_own(&next_listeners);
    listeners_close(&next_listeners);
    ck_assert_int_eq(access("foreign", F_OK), 0);
}
END_TEST

START_TEST(sockets_for_somebody_else_are_not_ours)
{
    say("1", "1", "http");
    ck_assert(listeners_take(&next_listeners, 100, &err));
    ck_assert_uint_eq(next_listeners.count, 0);
    ck_assert(!getenv("LISTEN_FDS"));
}
END_TEST

static const struct {
    const char *rule, *fds, *names, *reason;
} wrong[] = {
    {"a name of no door", "1", "web", "has 'web'"},
    {"no name", "1", NULL, "has ''"},
    {"a name for the first only", "2", "http", "has ''"},
    {"two of a name", "2", "http:http", "two sockets for http"},
    {"too many", "9", "http", "at most 8"},
    {"no number", "x", "http", "LISTEN_FDS is 'x'"},
};

START_TEST(what_systemd_was_told_wrongly_is_refused)
{
    const int fd = open_foreign();

    dup2(fd, 100);
    dup2(fd, 101);
    say(NULL, wrong[_i].fds, wrong[_i].names);
    ck_assert_msg(!listeners_take(&next_listeners, 100, &err), "%s", wrong[_i].rule);
    ck_assert_msg(strstr(err.text, wrong[_i].reason), "%s: %s", wrong[_i].rule, err.text);
}
END_TEST

START_TEST(a_descriptor_that_does_not_listen_is_refused)
{
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    say(NULL, "1", "http");
    ck_assert(!listeners_take(&next_listeners, fd, &err));
    ck_assert_msg(strstr(err.text, "does not listen"), "%s", err.text);
}
END_TEST

Suite *listeners_suite(void)
{
    Suite *suite = suite_create("master/listeners");
    TCase *configs = tcase_create("configs"), *successors = tcase_create("successors");

    tcase_add_checked_fixture(configs, setup, teardown);
    tcase_add_test(configs, each_door_that_the_config_has_listens);
    tcase_add_test(configs, where_nobody_answers_nobody_listens);
    tcase_add_test(configs, an_address_that_stays_keeps_its_socket);
    tcase_add_test(configs, an_old_address_is_closed_when_no_config_wants_it_any_more);
    tcase_add_test(configs, one_that_cannot_be_opened_leaves_the_others_as_they_were);
    tcase_add_test(configs, two_doors_cannot_have_one_address);
    tcase_add_test(configs, a_file_that_somebody_else_put_there_stays);
    tcase_add_test(configs, whoever_has_given_way_leaves_the_files_to_the_next);
    suite_add_tcase(suite, configs);
    tcase_add_checked_fixture(successors, setup, teardown);
    tcase_add_test(successors, the_next_thd_has_the_same_sockets);
    tcase_add_test(successors, a_next_thd_that_fails_leaves_the_files_to_the_old_one);
    tcase_add_test(successors, a_next_thd_that_took_over_removes_the_files_at_its_end);
    tcase_add_test(successors, a_next_thd_with_another_address_opens_that_one);
    tcase_add_test(successors, a_socket_of_systemd_is_its_doors_whatever_the_config_says);
    tcase_add_test(successors, sockets_for_somebody_else_are_not_ours);
    tcase_add_loop_test(successors, what_systemd_was_told_wrongly_is_refused, 0, COUNT_OF(wrong));
    tcase_add_test(successors, a_descriptor_that_does_not_listen_is_refused);
    suite_add_tcase(suite, successors);
    return suite;
}

/*
 * test_address.c - one socket that listens, for real: ports of this machine, files of a folder.
 */
#include "../config/folder.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "master/address.h"
#include "suites.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static struct error err;

static int open_at(const char *address)
{
    int fd = -1;

    ck_assert_msg(address_listen(address, &fd, &err), "%s", err.text);
    return fd;
}

static void expect_refusal(const char *address, const char *reason)
{
    int fd = -1;

    ck_assert(!address_listen(address, &fd, &err));
    ck_assert_int_eq(err.code, TH_E_INVALID);
    ck_assert_msg(strstr(err.text, reason), "%s", err.text);
}

/* Returns errno of the attempt. */
static int try_connecting(int listener)
{
    struct sockaddr_storage name;
    socklen_t size = sizeof name;

    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&name, &size), 0);
    AUTO_CLOSE int fd = socket(name.ss_family, SOCK_STREAM, 0);
    return connect(fd, (const struct sockaddr *)&name, size) == 0 ? 0 : errno;
}

START_TEST(a_port_is_listened_on_without_blocking_and_not_by_programs_that_we_start)
{
    AUTO_CLOSE int fd = open_at("127.0.0.1:0");

    ck_assert_int_eq(try_connecting(fd), 0);
    ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    ck_assert_int_eq(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
}
END_TEST

START_TEST(where_it_listens_is_told_with_the_port_that_it_was_given)
{
    CLEANUP(buffer_done) struct buffer shown = BUFFER(256);
    struct sockaddr_in name;
    socklen_t size = sizeof name;
    char expected[64];
    AUTO_CLOSE int fd = open_at("localhost:0");

    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&name, &size), 0);
    if (name.sin_family != AF_INET)
        return;
    snprintf(expected, sizeof expected, "127.0.0.1:%d", ntohs(name.sin_port));
    address_show(fd, &shown);
    ck_assert_str_eq(buffer_str(&shown), expected);
}
END_TEST

START_TEST(an_address_of_ipv6_is_for_ipv6_alone)
{
    int only = 0;
    socklen_t size = sizeof only;
    int fd = -1;

    if (!address_listen("[::1]:0", &fd, &err))
        return; /* a machine without it */
    ck_assert_int_eq(getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, &size), 0);
    ck_assert_int_eq(only, 1);
    close(fd);
}
END_TEST

START_TEST(a_port_that_is_taken_is_refused)
{
    CLEANUP(buffer_done) struct buffer taken = BUFFER(256);
    AUTO_CLOSE int fd = open_at("127.0.0.1:0");

    address_show(fd, &taken);
    expect_refusal(buffer_str(&taken), "in use");
}
END_TEST

static const struct {
    const char *address;
    const char *reason;
} impossible[] = {
    {"192.0.2.1:0", "cannot listen on 192.0.2.1:0: "}, /* an address for examples */
    {"no.such.name.invalid:0", "cannot listen on no.such.name.invalid:0: "},
    {"unix:/no/such/folder/socket", "No such file"},
    {"unix:" /* of 108 bytes */
     "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
     "aaaaaaaaaaaaaaa",
     "at most 107 bytes"},
};

START_TEST(an_address_that_cannot_be_is_refused_with_its_reason)
{
    expect_refusal(impossible[_i].address, impossible[_i].reason);
}
END_TEST

/* ---- files ---- */

#define DOOR_FILE "door"
#define ADDRESS   "unix:" DOOR_FILE

START_TEST(a_socket_file_is_for_us_and_our_group_whatever_the_umask_is)
{
    struct stat found;

    umask(0);
    AUTO_CLOSE int fd = open_at(ADDRESS);
    ck_assert_int_eq(lstat(DOOR_FILE, &found), 0);
    ck_assert(S_ISSOCK(found.st_mode));
    ck_assert_int_eq(found.st_mode & 07777, 0660);
    ck_assert_int_eq(umask(0), 0);
    ck_assert_int_eq(try_connecting(fd), 0);
}
END_TEST

START_TEST(what_a_dead_server_left_behind_is_replaced)
{
    close(open_at(ADDRESS));
    AUTO_CLOSE int fd = open_at(ADDRESS);
    ck_assert_int_eq(try_connecting(fd), 0);
}
END_TEST

START_TEST(a_live_servers_file_stays_even_if_its_queue_is_full)
{
    AUTO_CLOSE int fd = open_at(ADDRESS);

    expect_refusal(ADDRESS, "somebody else does");
    ck_assert_int_eq(listen(fd, 0), 0);
    expect_refusal(ADDRESS, "somebody else does");
    expect_refusal(ADDRESS, "somebody else does");
    ck_assert_int_eq(access(DOOR_FILE, F_OK), 0);
}
END_TEST

START_TEST(a_file_of_another_kind_stays)
{
    folder_write(DOOR_FILE, "precious");
    expect_refusal(ADDRESS, "not a socket");
    ck_assert_int_eq(access(DOOR_FILE, F_OK), 0);
}
END_TEST

Suite *address_suite(void)
{
    Suite *suite = suite_create("master/address");
    TCase *ports = pure_case("ports"), *files = tcase_create("files");

    tcase_add_test(ports, a_port_is_listened_on_without_blocking_and_not_by_programs_that_we_start);
    tcase_add_test(ports, where_it_listens_is_told_with_the_port_that_it_was_given);
    tcase_add_test(ports, an_address_of_ipv6_is_for_ipv6_alone);
    tcase_add_test(ports, a_port_that_is_taken_is_refused);
    tcase_add_loop_test(ports, an_address_that_cannot_be_is_refused_with_its_reason, 0,
                        COUNT_OF(impossible));
    suite_add_tcase(suite, ports);
    tcase_add_checked_fixture(files, folder_setup, folder_teardown);
    tcase_add_test(files, a_socket_file_is_for_us_and_our_group_whatever_the_umask_is);
    tcase_add_test(files, what_a_dead_server_left_behind_is_replaced);
    tcase_add_test(files, a_live_servers_file_stays_even_if_its_queue_is_full);
    tcase_add_test(files, a_file_of_another_kind_stays);
    suite_add_tcase(suite, files);
    return suite;
}

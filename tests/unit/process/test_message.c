/*
 * test_message.c - orders, reports and halts over real sockets, and what comes instead of them.
 */
#include "post.h"
#include "suites.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

static struct post post;

static void setup(void)
{
    post = post_open();
}

static void teardown(void)
{
    post_close(&post);
}

START_TEST(both_ends_are_close_on_exec_and_do_not_block)
{
    const int ends[] = {post.near, post.far};
    char byte;

    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        ck_assert_int_eq(fcntl(ends[i], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
        ck_assert_int_eq(recv(ends[i], &byte, 1, 0), -1);
        ck_assert_int_eq(errno, EAGAIN);
    }
}
END_TEST

static const struct order orders[] = {
    {ORDER_WORKER_STARTED, 3, 4000000000u, 4711, 5, {0}, PEER_NONE},
    {ORDER_WORKER_ENDED, 1, 17, 4712, 0, {9, 2, STOP_TIMEOUT, {5, 6}, {7, 8}}, PEER_NONE},
    {ORDER_PAUSE, 0, 0, 0, 0, {0}, PEER_NONE},
    {ORDER_RESUME, 0, 0, 0, 0, {0}, PEER_NONE},
    {ORDER_DRAIN, 0, 0, 0, 0, {0}, PEER_NONE},
    {ORDER_STOP, 0, 0, 0, 0, {0}, PEER_NONE},
    {ORDER_EXIT, 0, 0, 0, 0, {.status = -1}, PEER_NONE},
    {ORDER_PEER, 0, 18, 0, 0, {0}, PEER_BROWSE},
    {ORDER_PULSE, 0, 0, 0, 0, {0}, PEER_NONE},
    {ORDER_RETIRE, 0, 0, 0, 0, {0}, PEER_NONE},
};

START_TEST(an_order_arrives_as_it_was_sent)
{
    const struct order *sent = &orders[_i];
    struct order got;
    int fd = 0;

    ck_assert_int_eq(order_send(post.near, sent, -1, &post.err), DELIVERY_DONE);
    ck_assert_int_eq(order_receive(post.far, &got, &fd, &post.err), DELIVERY_DONE);
    ck_assert_int_eq(fd, -1);
    ck_assert_int_eq(got.kind, sent->kind);
    ck_assert_int_eq(got.worker, sent->worker);
    ck_assert_uint_eq(got.serial, sent->serial);
    ck_assert_int_eq(got.pid, sent->pid);
    ck_assert_int_eq(got.peer, sent->peer);
    ck_assert_mem_eq(&got.end, &sent->end, sizeof got.end);
    ck_assert_int_eq(order_receive(post.far, &got, &fd, &post.err), DELIVERY_NONE);
}
END_TEST

START_TEST(a_descriptor_goes_along_with_an_order)
{
    const int before = post_count_files();
    struct order got;
    struct stat sent_status, got_status;
    int ends[2], fd = -1;

    ck_assert(message_pair(ends, &post.err));
    ck_assert_int_eq(fstat(ends[0], &sent_status), 0);
    ck_assert_int_eq(order_send(post.near, &orders[0], ends[0], &post.err), DELIVERY_DONE);
    close(ends[0]);
    ck_assert_int_eq(order_receive(post.far, &got, &fd, &post.err), DELIVERY_DONE);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    ck_assert_int_eq(fstat(fd, &got_status), 0);
    ck_assert_uint_eq(got_status.st_ino, sent_status.st_ino);
    close(fd);
    close(ends[1]);
    ck_assert_int_eq(post_count_files(), before);
}
END_TEST

START_TEST(reports_and_halts_arrive_as_they_were_sent)
{
    const struct report report = {
        .kind = REPORT_WANTED, .serial = 4000000000u, .wanted = ORDER_DRAIN, .wanted_at = 7};
    const struct halt halt = {{7, 4000000000u}, STOP_DRAIN};
    struct report got_report;
    struct halt got_halt;

    ck_assert_int_eq(report_send(post.near, &report, &post.err), DELIVERY_DONE);
    ck_assert_int_eq(halt_send(post.near, &halt, &post.err), DELIVERY_DONE);
    ck_assert_int_eq(report_receive(post.far, &got_report, &post.err), DELIVERY_DONE);
    ck_assert_int_eq(halt_receive(post.far, &got_halt, &post.err), DELIVERY_DONE);
    ck_assert_int_eq(got_report.kind, report.kind);
    ck_assert_uint_eq(got_report.serial, report.serial);
    ck_assert_int_eq(got_report.wanted, report.wanted);
    ck_assert_int_eq(got_report.wanted_at, report.wanted_at);
    ck_assert_uint_eq(got_halt.hold.entry, halt.hold.entry);
    ck_assert_uint_eq(got_halt.hold.generation, halt.hold.generation);
    ck_assert_int_eq(got_halt.reason, halt.reason);
    ck_assert_int_eq(report_receive(post.far, &got_report, &post.err), DELIVERY_NONE);
    ck_assert_int_eq(halt_receive(post.far, &got_halt, &post.err), DELIVERY_NONE);
}
END_TEST

/* ---- what is refused ---- */

static enum delivery receive_order(void)
{
    struct order order;
    int fd = 0;
    const enum delivery delivery = order_receive(post.far, &order, &fd, &post.err);

    if (delivery != DELIVERY_DONE)
        ck_assert_int_eq(fd, -1);
    return delivery;
}

static enum delivery receive_report(void)
{
    struct report report;

    return report_receive(post.far, &report, &post.err);
}

static enum delivery receive_halt(void)
{
    struct halt halt;

    return halt_receive(post.far, &halt, &post.err);
}

static void send_order(unsigned kind)
{
    const struct order order = {.kind = (enum order_kind)kind};

    ck_assert_int_eq(order_send(post.near, &order, -1, &post.err), DELIVERY_DONE);
}

static void send_report(unsigned kind)
{
    const struct report report = {.kind = (enum report_kind)kind};

    ck_assert_int_eq(report_send(post.near, &report, &post.err), DELIVERY_DONE);
}

static void send_halt(unsigned reason)
{
    const struct halt halt = {.reason = (enum stop_reason)reason};

    ck_assert_int_eq(halt_send(post.near, &halt, &post.err), DELIVERY_DONE);
}

static const struct {
    const char *name;
    void (*send)(unsigned word);
    enum delivery (*receive)(void);
    unsigned last;
} kinds[] = {
    {"order", send_order, receive_order, ORDER_RETIRE},
    {"report", send_report, receive_report, REPORT_WANTED},
    {"halt", send_halt, receive_halt, STOP_FROZEN},
};

static void expect_refusal(enum delivery delivery, const char *what)
{
    ck_assert_msg(delivery == DELIVERY_FAILED, "%s: delivery %d", what, delivery);
    ck_assert_int_eq(post.err.code, TH_E_INTERNAL);
    ck_assert_str_ne(post.err.text, "");
    post.err = (struct error){0};
}

START_TEST(one_kind_of_message_is_never_taken_for_another)
{
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        kinds[_i].send(0);
        if (i == (size_t)_i)
            ck_assert_int_eq(kinds[i].receive(), DELIVERY_DONE);
        else
            expect_refusal(kinds[i].receive(), kinds[i].name);
    }
}
END_TEST

START_TEST(a_message_of_the_right_size_with_another_stamp_is_refused)
{
    static struct datagram datagram;

    kinds[_i].send(0);
    post_take_raw(post.far, &datagram);
    datagram.bytes[0]++; /* what it starts with is its kind */
    post_send_raw(post.near, datagram.bytes, datagram.length);
    expect_refusal(kinds[_i].receive(), kinds[_i].name);
}
END_TEST

START_TEST(a_word_that_we_do_not_know_is_refused)
{
    kinds[_i].send(kinds[_i].last);
    ck_assert_int_eq(kinds[_i].receive(), DELIVERY_DONE);
    kinds[_i].send(kinds[_i].last + 1);
    expect_refusal(kinds[_i].receive(), kinds[_i].name);
    kinds[_i].send((unsigned)-1);
    expect_refusal(kinds[_i].receive(), kinds[_i].name);
}
END_TEST

START_TEST(a_message_of_another_length_is_refused)
{
    static struct datagram datagram;

    kinds[_i].send(0);
    post_take_raw(post.far, &datagram);
    for (size_t length = 1; length <= datagram.length + 8; length++) {
        post_send_raw(post.near, datagram.bytes, length);
        if (length == datagram.length)
            ck_assert_int_eq(kinds[_i].receive(), DELIVERY_DONE);
        else
            expect_refusal(kinds[_i].receive(), kinds[_i].name);
    }
    post_send_raw(post.near, datagram.bytes, sizeof datagram.bytes);
    expect_refusal(kinds[_i].receive(), kinds[_i].name);
}
END_TEST

START_TEST(random_bytes_are_refused)
{
    unsigned char bytes[512];
    unsigned seed = 1;

    for (int round = 0; round < 1000; round++) {
        const size_t length = 1 + (size_t)rand_r(&seed) % sizeof bytes;

        for (size_t i = 0; i < length; i++)
            bytes[i] = (unsigned char)rand_r(&seed);
        post_send_raw(post.near, bytes, length);
        expect_refusal(kinds[_i].receive(), kinds[_i].name);
    }
}
END_TEST

START_TEST(descriptors_that_nobody_asked_for_are_closed)
{
    static struct datagram datagram;
    const int before = post_count_files();

    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        kinds[i].send(0);
        post_take_raw(post.far, &datagram);
        post_send_files(post.near, &datagram, 4);
        expect_refusal(kinds[i].receive(), kinds[i].name);
    }
    post_send_files(post.near, &datagram, 1); /* a halt, with one descriptor */
    expect_refusal(receive_order(), "a halt for an order");
    send_order(ORDER_RETIRE + 1);
    post_take_raw(post.far, &datagram);
    post_send_files(post.near, &datagram, 1);
    expect_refusal(receive_order(), "an unknown order with a descriptor");
    ck_assert_int_eq(post_count_files(), before);
}
END_TEST

/* ---- the other end ---- */

START_TEST(an_end_that_closes_is_seen_by_both_sides)
{
    const struct order order = {.kind = ORDER_EXIT};

    close(post.near);
    ck_assert_int_eq(receive_order(), DELIVERY_CLOSED);
    ck_assert_int_eq(order_send(post.far, &order, -1, &post.err), DELIVERY_CLOSED);
    ck_assert_int_eq(receive_order(), DELIVERY_CLOSED);
    post.near = -1;
}
END_TEST

START_TEST(the_last_words_of_the_dead_are_heard)
{
    const pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        const struct report report = {.kind = REPORT_READY, .serial = 1};

        close(post.far);
        _exit(report_send(post.near, &report, &post.err) != DELIVERY_DONE ||
              report_send(post.near, &report, &post.err) != DELIVERY_DONE);
    }

    /* It never reads this, so that its death resets the connection. */
    const struct order order = {.kind = ORDER_EXIT};
    ck_assert_int_eq(order_send(post.far, &order, -1, &post.err), DELIVERY_DONE);
    close(post.near);
    post.near = -1;
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(receive_report(), DELIVERY_DONE);
    ck_assert_int_eq(receive_report(), DELIVERY_DONE);
    ck_assert_int_eq(receive_report(), DELIVERY_CLOSED);
}
END_TEST

START_TEST(a_full_socket_has_no_room_until_somebody_reads)
{
    const struct halt halt = {{1, 2}, STOP_CANCEL};
    int sent = 0;

    while (halt_send(post.near, &halt, &post.err) == DELIVERY_DONE)
        sent++;
    ck_assert_int_gt(sent, 100);
    ck_assert_int_eq(halt_send(post.near, &halt, &post.err), DELIVERY_NONE);
    for (int i = 0; i < sent; i++)
        ck_assert_int_eq(receive_halt(), DELIVERY_DONE);
    ck_assert_int_eq(receive_halt(), DELIVERY_NONE);
    ck_assert_int_eq(halt_send(post.near, &halt, &post.err), DELIVERY_DONE);
}
END_TEST

START_TEST(a_descriptor_that_is_none_is_an_error)
{
    const struct order order = {.kind = ORDER_EXIT};

    expect_refusal(order_send(post.near, &order, 4000, &post.err), "no such descriptor");
    expect_refusal(order_send(4000, &order, -1, &post.err), "no such socket");
}
END_TEST

Suite *message_suite(void)
{
    Suite *suite = suite_create("process/message");
    TCase *passing = tcase_create("passing");
    TCase *refusing = tcase_create("refusing");
    TCase *ending = tcase_create("ending");

    tcase_add_checked_fixture(passing, setup, teardown);
    tcase_add_test(passing, both_ends_are_close_on_exec_and_do_not_block);
    tcase_add_loop_test(passing, an_order_arrives_as_it_was_sent, 0, COUNT_OF(orders));
    tcase_add_test(passing, a_descriptor_goes_along_with_an_order);
    tcase_add_test(passing, reports_and_halts_arrive_as_they_were_sent);
    suite_add_tcase(suite, passing);

    tcase_add_checked_fixture(refusing, setup, teardown);
    tcase_add_loop_test(refusing, one_kind_of_message_is_never_taken_for_another, 0,
                        COUNT_OF(kinds));
    tcase_add_loop_test(refusing, a_message_of_the_right_size_with_another_stamp_is_refused, 0,
                        COUNT_OF(kinds));
    tcase_add_loop_test(refusing, a_word_that_we_do_not_know_is_refused, 0, COUNT_OF(kinds));
    tcase_add_loop_test(refusing, a_message_of_another_length_is_refused, 0, COUNT_OF(kinds));
    tcase_add_loop_test(refusing, random_bytes_are_refused, 0, COUNT_OF(kinds));
    tcase_add_test(refusing, descriptors_that_nobody_asked_for_are_closed);
    suite_add_tcase(suite, refusing);

    tcase_add_checked_fixture(ending, setup, teardown);
    tcase_add_test(ending, an_end_that_closes_is_seen_by_both_sides);
    tcase_add_test(ending, the_last_words_of_the_dead_are_heard);
    tcase_add_test(ending, a_full_socket_has_no_room_until_somebody_reads);
    tcase_add_test(ending, a_descriptor_that_is_none_is_an_error);
    suite_add_tcase(suite, ending);
    return suite;
}

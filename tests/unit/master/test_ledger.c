/*
 * test_ledger.c - what a dispatcher is told of the workers, over real sockets.
 */
#include "base/error.h"
#include "master/ledger.h"
#include "suites.h"

#include <check.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

static struct error err;
static struct ledger ledger;
static int ends[2];

static void set_up(void)
{
    ledger_init(&ledger);
    ck_assert_msg(message_pair(ends, &err), "%s", err.text);
}

static void tear_down(void)
{
    ledger_done(&ledger);
    close(ends[0]);
    close(ends[1]);
}

static void add_worker(uint32_t serial)
{
    const int results = open("/dev/null", O_RDONLY | O_CLOEXEC);

    ck_assert_int_ge(results, 0);
    ck_assert_msg(ledger_add(&ledger, 1, serial, results, -1, 0, &err), "%s", err.text);
    ledger_note_start(&ledger, serial, 1000 + (int)serial);
}

static void tell_all(void)
{
    ck_assert_int_eq(ledger_tell(&ledger, ORDER_RESUME, ends[0], &err), DELIVERY_DONE);
}

static void expect(enum order_kind kind, uint32_t serial)
{
    struct order order;
    int fd = -1;

    ck_assert_int_eq(order_receive(ends[1], &order, &fd, &err), DELIVERY_DONE);
    ck_assert_int_eq(order.kind, kind);
    ck_assert_uint_eq(order.serial, serial);
    ck_assert_int_eq(order.pid, 1000 + (int)serial);
    ck_assert_int_eq(fd >= 0, kind == ORDER_WORKER_STARTED);
    if (fd >= 0)
        close(fd);
}

static void expect_nothing(void)
{
    struct order order;
    int fd = -1;

    ck_assert_int_eq(order_receive(ends[1], &order, &fd, &err), DELIVERY_NONE);
}

START_TEST(a_start_is_told_once_with_the_socket)
{
    add_worker(1);
    tell_all();
    tell_all();
    expect(ORDER_WORKER_STARTED, 1);
    expect_nothing();
}
END_TEST

START_TEST(an_end_is_told_only_when_nothing_of_the_worker_is_left)
{
    add_worker(1);
    ledger_note_end(&ledger, 1, &(struct worker_end){.status = 9});
    tell_all();
    expect(ORDER_WORKER_STARTED, 1);
    expect_nothing();

    ledger_clear(&ledger);
    tell_all();
    expect(ORDER_WORKER_ENDED, 1);
    expect_nothing();
}
END_TEST

START_TEST(who_died_after_the_last_clearing_is_not_cleared_by_it)
{
    add_worker(1);
    add_worker(2);
    ledger_note_end(&ledger, 1, &(struct worker_end){.status = 0});
    ledger_clear(&ledger);
    ledger_note_end(&ledger, 2, &(struct worker_end){.status = 0});
    tell_all();
    expect(ORDER_WORKER_STARTED, 1);
    expect(ORDER_WORKER_STARTED, 2);
    expect(ORDER_WORKER_ENDED, 1);
    expect_nothing();
}
END_TEST

START_TEST(a_new_dispatcher_is_told_all_but_what_is_settled)
{
    add_worker(1);
    add_worker(2);
    add_worker(3);
    ledger_note_end(&ledger, 1, &(struct worker_end){.status = 0});
    ledger_note_end(&ledger, 2, &(struct worker_end){.status = 0});
    ledger_clear(&ledger);
    tell_all();
    for (uint32_t serial = 1; serial <= 3; serial++)
        expect(ORDER_WORKER_STARTED, serial);
    expect(ORDER_WORKER_ENDED, 1);
    expect(ORDER_WORKER_ENDED, 2);

    ledger_settle(&ledger, 1);
    ledger_forget_told(&ledger);
    tell_all();
    expect(ORDER_WORKER_STARTED, 2);
    expect(ORDER_WORKER_STARTED, 3);
    expect(ORDER_WORKER_ENDED, 2);
    expect_nothing();
}
END_TEST

START_TEST(what_has_no_room_is_told_when_there_is_some)
{
    const int small = 4096;
    const uint32_t count = 100; /* more than it then has room for */
    uint32_t heard = 0;
    struct order order;
    int fd = -1;

    ck_assert_int_eq(setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
    for (uint32_t serial = 1; serial <= count; serial++)
        add_worker(serial);
    ck_assert_int_eq(ledger_tell(&ledger, ORDER_RESUME, ends[0], &err), DELIVERY_NONE);
    while (heard < count) {
        while (order_receive(ends[1], &order, &fd, &err) == DELIVERY_DONE) {
            ck_assert_uint_eq(order.serial, ++heard);
            close(fd);
        }
        ck_assert_int_ne(ledger_tell(&ledger, ORDER_RESUME, ends[0], &err), DELIVERY_FAILED);
    }
    expect_nothing();
}
END_TEST

static void tell_wish(enum order_kind wanted)
{
    ck_assert_int_eq(ledger_tell(&ledger, wanted, ends[0], &err), DELIVERY_DONE);
}

static void expect_wish(enum order_kind wanted)
{
    struct order order;
    int fd = -1;

    ck_assert_int_eq(order_receive(ends[1], &order, &fd, &err), DELIVERY_DONE);
    ck_assert_int_eq(order.kind, wanted);
}

START_TEST(what_the_pool_wants_is_told_last_and_once)
{
    add_worker(1);
    tell_wish(ORDER_DRAIN);
    tell_wish(ORDER_DRAIN);
    expect(ORDER_WORKER_STARTED, 1);
    expect_wish(ORDER_DRAIN);
    expect_nothing();
}
END_TEST

START_TEST(a_new_dispatcher_is_told_what_the_pool_wants_by_then)
{
    tell_wish(ORDER_PAUSE);
    expect_wish(ORDER_PAUSE);
    ledger_forget_told(&ledger);
    tell_wish(ORDER_PAUSE);
    expect_wish(ORDER_PAUSE);
    ledger_forget_told(&ledger);
    tell_wish(ORDER_RESUME); /* as it does by itself */
    expect_nothing();
}
END_TEST

START_TEST(a_worker_that_is_not_there_may_be_settled)
{
    ledger_settle(&ledger, 7);
    ledger_note_end(&ledger, 7, &(struct worker_end){.status = 0});
    tell_all();
    expect_nothing();
}
END_TEST

Suite *ledger_suite(void)
{
    Suite *suite = suite_create("master/ledger");
    TCase *telling = tcase_create("telling");

    tcase_add_checked_fixture(telling, set_up, tear_down);
    tcase_add_test(telling, a_start_is_told_once_with_the_socket);
    tcase_add_test(telling, an_end_is_told_only_when_nothing_of_the_worker_is_left);
    tcase_add_test(telling, who_died_after_the_last_clearing_is_not_cleared_by_it);
    tcase_add_test(telling, a_new_dispatcher_is_told_all_but_what_is_settled);
    tcase_add_test(telling, what_has_no_room_is_told_when_there_is_some);
    tcase_add_test(telling, what_the_pool_wants_is_told_last_and_once);
    tcase_add_test(telling, a_new_dispatcher_is_told_what_the_pool_wants_by_then);
    tcase_add_test(telling, a_worker_that_is_not_there_may_be_settled);
    suite_add_tcase(suite, telling);
    return suite;
}

/*
 * test_peers.c - doors that call, as the gate and browse have them; the test plays the doors.
 */
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "door/pack.h"
#include "door/parcel.h"
#include "door/peers.h"
#include "process/loop.h"
#include "process/memory_file.h"
#include "suites.h"

#include <string.h>
#include <unistd.h>

static struct error err;
static struct loop *loop;
static struct peers *peers;
static int door; /* the test's end */

static struct peer *caller;
static uint64_t serials;
static size_t called, gone, cut_off;

static void note_call(void *context, struct peer *peer, const struct call *call)
{
    (void)context;
    ck_assert_uint_eq(call->serial, serials + ++called);
    caller = peer;
}

static void note_gone(void *context, struct peer *peer, bool is_cut_off)
{
    (void)context;
    ck_assert_str_eq(peer_name(peer), "http");
    ck_assert_uint_eq(peer_serial(peer), 7);
    gone++;
    cut_off += is_cut_off;
}

static const struct peers_events events = {.called = note_call, .gone = note_gone};

static int add_door(void)
{
    int ends[2];

    ck_assert(message_pair(ends, &err));
    ck_assert_msg(peers_add(peers, "http", 7, ends[0], &err), "%s", err.text);
    return ends[1];
}

static void setup(void)
{
    called = gone = cut_off = 0;
    serials = 0;
    ck_assert(loop_open(&loop, &err));
    ck_assert(peers_open(loop, &events, NULL, &peers, &err));
    door = add_door();
}

static void teardown(void)
{
    if (door >= 0)
        close(door);
    peers_close(&peers);
    loop_close(&loop);
}

static void turn(void)
{
    for (int i = 0; i < 20; i++)
        ck_assert_msg(loop_glance(loop, &err), "%s", err.text);
}

static void call(uint64_t serial)
{
    struct parcel parcel;

    ck_assert(parcel_make((struct bytes){0}, &parcel, &err));
    ck_assert_int_eq(call_send(door, serial, CALL_PING, &parcel, &err), DELIVERY_DONE);
    turn();
}

static struct bytes expect_answer(struct arena *arena, uint64_t serial, bool worked)
{
    struct answer answer;

    ck_assert_int_eq(answer_receive(door, arena, &answer, &err), DELIVERY_DONE);
    ck_assert_uint_eq(answer.serial, serial);
    ck_assert_int_eq(answer.worked, worked);
    return answer.pack;
}

START_TEST(a_call_is_answered_now_or_later)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct error why;

    call(1);
    call(2);
    peer_answer(caller, 2, (struct bytes){(const unsigned char *)"two", 3});
    error_set(&why, TH_E_CONFLICT, "taken");
    peer_refuse(caller, 1, &why);
    ck_assert_mem_eq(expect_answer(&arena, 2, true).data, "two", 3);
    struct unpack unpack = unpack_begin(expect_answer(&arena, 1, false));
    unpack_error(&unpack, &why);
    ck_assert(unpack_end(&unpack, "it", &err));
    ck_assert_int_eq(why.code, TH_E_CONFLICT);
    ck_assert_str_eq(why.text, "taken");
}
END_TEST

START_TEST(a_door_that_dies_is_gone_after_its_last_call)
{
    call(1);
    struct parcel parcel = {.fd = -1};
    ck_assert_int_eq(call_send(door, 2, CALL_PING, &parcel, &err), DELIVERY_DONE);
    close(door);
    door = -1;
    turn();
    ck_assert_uint_eq(called, 2);
    ck_assert_uint_eq(gone, 1);
    ck_assert_uint_eq(cut_off, 0);
}
END_TEST

START_TEST(a_door_that_sends_what_is_no_call_is_cut_off_and_no_other)
{
    const int second = add_door();

    ck_assert_int_eq(write(door, "nonsense", 8), 8);
    turn();
    ck_assert_uint_eq(gone, 1);
    ck_assert_uint_eq(cut_off, 1);
    close(door);
    door = second;
    call(1);
    ck_assert_uint_eq(called, 1);
}
END_TEST

#define ANSWERS 20000

START_TEST(answers_wait_for_a_door_that_is_slow_and_arrive_in_order)
{
    call(1);
    for (uint64_t i = 0; i < ANSWERS; i++)
        peer_answer(caller, i, (struct bytes){(const unsigned char *)"x", 1});
    for (uint64_t i = 0; i < ANSWERS; i++) {
        CLEANUP(arena_done) struct arena arena = {0};

        ck_assert_msg(loop_glance(loop, &err), "%s", err.text);
        expect_answer(&arena, i, true);
    }
    ck_assert_uint_eq(gone, 0);
}
END_TEST

START_TEST(a_door_that_reads_nothing_is_cut_off_at_last)
{
    static const unsigned char page[MEMORY_FILE_FROM];
    const struct bytes pack = {page, sizeof page};

    call(1);
    for (size_t i = 0; i < PEERS_BYTES / sizeof page; i++)
        peer_answer(caller, 1, pack);
    turn();
    ck_assert_uint_eq(gone, 0);
    for (int i = 0; i < 100; i++)
        peer_answer(caller, 1, pack);
    turn();
    ck_assert_uint_eq(gone, 1);
    ck_assert_uint_eq(cut_off, 1);
}
END_TEST

Suite *peers_suite(void)
{
    Suite *suite = suite_create("door/peers");
    TCase *doors = tcase_create("doors");

    tcase_add_checked_fixture(doors, setup, teardown);
    tcase_add_test(doors, a_call_is_answered_now_or_later);
    tcase_add_test(doors, a_door_that_dies_is_gone_after_its_last_call);
    tcase_add_test(doors, a_door_that_sends_what_is_no_call_is_cut_off_and_no_other);
    tcase_add_test(doors, answers_wait_for_a_door_that_is_slow_and_arrive_in_order);
    tcase_add_test(doors, a_door_that_reads_nothing_is_cut_off_at_last);
    suite_add_tcase(suite, doors);
    return suite;
}

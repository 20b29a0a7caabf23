/*
 * test_calls.c - open calls of a door, with a peer that the test plays.
 */
#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "door/calls.h"
#include "door/pack.h"
#include "door/parcel.h"
#include "process/loop.h"
#include "process/memory_file.h"
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct error err;
static struct loop *loop;
static struct calls *calls;
static int peer; /* the test's end */

/* What was answered, in one line: "a=pong b=unavailable " */
static char heard[65536];

static void note(void *context, struct bytes pack, const struct error *why)
{
    const size_t length = strlen(heard);

    snprintf(heard + length, sizeof heard - length, "%s=%.*s ", (const char *)context,
             why ? 100 : (int)pack.length,
             why ? error_code_name(why->code) : (const char *)pack.data);
}

static void connect_peer(void)
{
    int ends[2];

    ck_assert(message_pair(ends, &err));
    peer = ends[1];
    ck_assert_msg(calls_connect(calls, ends[0], &err), "%s", err.text);
}

static void setup(void)
{
    heard[0] = '\0';
    peer = -1;
    ck_assert(loop_open(&loop, &err));
    ck_assert(calls_open(loop, "gate", &calls, &err));
}

static void teardown(void)
{
    if (peer >= 0)
        close(peer);
    calls_close(&calls);
    loop_close(&loop);
}

static void turn(void)
{
    for (int i = 0; i < 20; i++)
        ck_assert_msg(loop_glance(loop, &err), "%s", err.text);
}

static struct call_wish wish_of(const char *name)
{
    return (struct call_wish){
        .kind = CALL_PING,
        .pack = {(const unsigned char *)name, strlen(name)},
        .may_be_repeated = true,
        .answered = note,
        .context = (void *)name,
    };
}

static uint64_t ask_for(const struct call_wish *wish)
{
    uint64_t serial;

    ck_assert_msg(calls_send(calls, wish, &serial, &err), "%s", err.text);
    return serial;
}

/* A call that carries its name. */
static uint64_t ask(const char *name)
{
    const struct call_wish wish = wish_of(name);

    return ask_for(&wish);
}

static uint64_t ask_once(const char *name)
{
    struct call_wish wish = wish_of(name);

    wish.may_be_repeated = false;
    return ask_for(&wish);
}

/* ---- as the peer ---- */

/* The next call has to be this one; returns its serial. */
static uint64_t expect_call(enum call_kind kind, const char *pack)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct call call;

    ck_assert_int_eq(call_receive(peer, &arena, &call, &err), DELIVERY_DONE);
    ck_assert_int_eq(call.kind, kind);
    ck_assert_uint_eq(call.pack.length, strlen(pack));
    ck_assert_mem_eq(call.pack.data, pack, call.pack.length);
    return call.serial;
}

static void expect_silence(void)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct call call;

    ck_assert_int_eq(call_receive(peer, &arena, &call, &err), DELIVERY_NONE);
}

static void say(uint64_t serial, bool worked, struct bytes pack)
{
    struct parcel parcel;

    ck_assert(parcel_make(pack, &parcel, &err));
    ck_assert_int_eq(answer_send(peer, serial, worked, &parcel, &err), DELIVERY_DONE);
    parcel_done(&parcel);
}

static void answer(uint64_t serial, const char *pack)
{
    say(serial, true, (struct bytes){(const unsigned char *)pack, strlen(pack)});
}

static void refuse(uint64_t serial, enum th_error_code code)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(4096);
    struct error why;

    error_set(&why, code, "because");
    pack_error(&pack, &why);
    say(serial, false, (struct bytes){(const unsigned char *)pack.data, pack.length});
}

static void die(void)
{
    close(peer);
    peer = -1;
}

/* ---- while all is well ---- */

START_TEST(answers_find_their_calls_in_any_order)
{
    connect_peer();
    ask("a");
    ask("b");
    ask("c");
    const uint64_t a = expect_call(CALL_PING, "a"), b = expect_call(CALL_PING, "b"),
                   c = expect_call(CALL_PING, "c");
    answer(c, "3");
    refuse(a, TH_E_CONFLICT);
    answer(b, "2");
    turn();
    ck_assert_str_eq(heard, "c=3 a=conflict b=2 ");
    ck_assert_uint_eq(calls_count(calls), 0);
}
END_TEST

START_TEST(an_answer_that_nobody_asked_for_is_nothing)
{
    connect_peer();
    ask("a");
    const uint64_t serial = expect_call(CALL_PING, "a");
    answer(serial + 1, "?");
    answer(serial, "1");
    answer(serial, "2");
    turn();
    ck_assert_str_eq(heard, "a=1 ");
}
END_TEST

START_TEST(an_error_that_cannot_be_read_is_an_error)
{
    connect_peer();
    ask("a");
    say(expect_call(CALL_PING, "a"), false, (struct bytes){(const unsigned char *)"x", 1});
    turn();
    ck_assert_str_eq(heard, "a=internal ");
}
END_TEST

START_TEST(what_was_delivered_is_confirmed)
{
    connect_peer();
    const uint64_t serial = ask("a");
    answer(expect_call(CALL_PING, "a"), "1");
    turn();
    ck_assert(calls_confirm(calls, serial, &err));
    ck_assert_uint_eq(expect_call(CALL_CONFIRM, ""), serial);
}
END_TEST

/* ---- without a peer ---- */

START_TEST(calls_wait_for_the_first_peer)
{
    ask("a");
    ask_once("b");
    ck_assert(!calls_are_connected(calls));
    connect_peer();
    ck_assert(calls_are_connected(calls));
    expect_call(CALL_PING, "a");
    expect_call(CALL_PING, "b");
}
END_TEST

START_TEST(what_may_be_repeated_goes_to_the_next_peer_in_its_order)
{
    connect_peer();
    ask("a");
    ask_once("b");
    ask("c");
    expect_call(CALL_PING, "a");
    die();
    turn();
    ck_assert_str_eq(heard, "b=uncertain ");
    ask("d");
    connect_peer();
    const uint64_t a = expect_call(CALL_PING, "a");
    expect_call(CALL_PING, "c");
    expect_call(CALL_PING, "d");
    expect_silence();
    answer(a, "1");
    turn();
    ck_assert_str_eq(heard, "b=uncertain a=1 ");
    ck_assert_uint_eq(calls_count(calls), 2);
}
END_TEST

START_TEST(a_long_pack_is_repeated_as_it_was)
{
    char *name = calloc(1, 2 * MEMORY_FILE_FROM);

    memset(name, 'x', 2 * MEMORY_FILE_FROM - 1);
    connect_peer();
    ask(name);
    die();
    turn();
    connect_peer();
    expect_call(CALL_PING, name);
    free(name);
}
END_TEST

START_TEST(what_a_peer_said_before_it_died_is_heard)
{
    connect_peer();
    ask_once("a");
    ask_once("b");
    answer(expect_call(CALL_PING, "a"), "1");
    die();
    connect_peer(); /* the order may come before the end is seen */
    ck_assert_str_eq(heard, "a=1 b=uncertain ");
}
END_TEST

START_TEST(a_peer_that_sends_what_is_no_answer_is_lost)
{
    connect_peer();
    ask_once("a");
    ck_assert_int_eq(write(peer, "nonsense", 8), 8);
    turn();
    ck_assert_str_eq(heard, "a=uncertain ");
    ck_assert(!calls_are_connected(calls));
}
END_TEST

START_TEST(words_about_calls_to_a_dead_peer_are_not_for_the_next)
{
    connect_peer();
    const uint64_t serial = ask("a");
    answer(expect_call(CALL_PING, "a"), "1");
    turn();
    die();
    turn();
    ck_assert(calls_confirm(calls, serial, &err));
    calls_forget(calls, serial);
    connect_peer();
    expect_silence();
}
END_TEST

/* ---- patience ---- */

static void ask_briefly(const char *name)
{
    struct call_wish wish = wish_of(name);

    wish.patience = 1;
    ask_for(&wish);
}

static void wait_until_heard(const char *expected)
{
    for (int i = 0; i < 1000 && strcmp(heard, expected) != 0; i++)
        ck_assert_msg(loop_step(loop, &err), "%s", err.text);
    ck_assert_str_eq(heard, expected);
}

START_TEST(a_call_that_nobody_has_seen_is_answered_when_its_time_is_up)
{
    ask("long");
    ask_briefly("a");
    wait_until_heard("a=unavailable ");
    connect_peer();
    expect_call(CALL_PING, "long");
    expect_silence();
}
END_TEST

START_TEST(a_peer_that_does_not_answer_in_time_hears_that_nobody_waits)
{
    connect_peer();
    ask("long");
    ask_briefly("a");
    expect_call(CALL_PING, "long");
    const uint64_t serial = expect_call(CALL_PING, "a");
    wait_until_heard("a=uncertain ");
    ck_assert_uint_eq(expect_call(CALL_FORGET, ""), serial);
    answer(serial, "late");
    turn();
    ck_assert_str_eq(heard, "a=uncertain ");
    ck_assert_uint_eq(calls_count(calls), 1);
}
END_TEST

START_TEST(a_call_that_is_forgotten_is_not_answered)
{
    connect_peer();
    const uint64_t serial = ask("a");
    expect_call(CALL_PING, "a");
    calls_forget(calls, serial);
    calls_forget(calls, serial);
    ck_assert_uint_eq(expect_call(CALL_FORGET, ""), serial);
    expect_silence();
    answer(serial, "1");
    turn();
    ck_assert_str_eq(heard, "");
}
END_TEST

START_TEST(a_call_that_was_never_sent_is_forgotten_in_silence)
{
    const uint64_t serial = ask("a");

    calls_forget(calls, serial);
    connect_peer();
    expect_silence();
}
END_TEST

/* ---- limits ---- */

START_TEST(no_more_calls_are_open_than_may_be)
{
    const struct call_wish wish = wish_of("a");
    uint64_t serial;

    for (size_t i = 0; i < CALLS_MAX; i++)
        ask("a");
    ck_assert(!calls_send(calls, &wish, &serial, &err));
    ck_assert_int_eq(err.code, TH_E_UNAVAILABLE);
    calls_forget(calls, 1);
    ck_assert(calls_send(calls, &wish, &serial, &err));
}
END_TEST

START_TEST(no_more_bytes_wait_than_may)
{
    struct call_wish wish = wish_of("a");
    unsigned char *half = calloc(1, CALLS_BYTES / 2);
    uint64_t serial;

    wish.pack = (struct bytes){half, CALLS_BYTES / 2};
    const uint64_t first = ask_for(&wish);
    ask_for(&wish);
    wish.pack.length = 1;
    ck_assert(!calls_send(calls, &wish, &serial, &err));
    ck_assert_int_eq(err.code, TH_E_UNAVAILABLE);
    calls_forget(calls, first);
    ask_for(&wish);
    free(half);
}
END_TEST

START_TEST(a_peer_that_is_slow_to_read_gets_all_of_them_in_order)
{
    static char names[CALLS_MAX][8];

    connect_peer();
    for (size_t i = 0; i < CALLS_MAX; i++) {
        snprintf(names[i], sizeof names[i], "%zu", i);
        ask(names[i]);
    }
    if (_i == 1) { /* some have been sent, others wait */
        die();
        turn();
        connect_peer();
    }
    for (size_t i = 0; i < CALLS_MAX; i++) {
        turn();
        answer(expect_call(CALL_PING, names[i]), "");
    }
    turn();
    ck_assert_uint_eq(calls_count(calls), 0);
}
END_TEST

/* ---- from within ---- */

static uint64_t other;

static void forget_other(void *context, struct bytes pack, const struct error *why)
{
    calls_forget(calls, other);
    ask("new");
    note(context, pack, why);
}

START_TEST(a_callback_may_forget_and_ask_even_while_all_are_being_answered)
{
    struct call_wish wish = wish_of("a");

    connect_peer();
    wish.may_be_repeated = false;
    wish.answered = forget_other;
    ask_for(&wish);
    other = ask_once("b");
    ask_once("c");
    die();
    turn();
    ck_assert_str_eq(heard, "a=uncertain c=uncertain ");
    connect_peer();
    expect_call(CALL_PING, "new");
    expect_silence();
}
END_TEST

Suite *calls_suite(void)
{
    Suite *suite = suite_create("door/calls");
    TCase *peers = tcase_create("peers"), *limits = tcase_create("limits");

    tcase_add_checked_fixture(peers, setup, teardown);
    tcase_add_test(peers, answers_find_their_calls_in_any_order);
    tcase_add_test(peers, an_answer_that_nobody_asked_for_is_nothing);
    tcase_add_test(peers, an_error_that_cannot_be_read_is_an_error);
    tcase_add_test(peers, what_was_delivered_is_confirmed);
    tcase_add_test(peers, calls_wait_for_the_first_peer);
    tcase_add_test(peers, what_may_be_repeated_goes_to_the_next_peer_in_its_order);
    tcase_add_test(peers, a_long_pack_is_repeated_as_it_was);
    tcase_add_test(peers, what_a_peer_said_before_it_died_is_heard);
    tcase_add_test(peers, a_peer_that_sends_what_is_no_answer_is_lost);
    tcase_add_test(peers, words_about_calls_to_a_dead_peer_are_not_for_the_next);
    suite_add_tcase(suite, peers);
    tcase_add_checked_fixture(limits, setup, teardown);
    tcase_add_test(limits, a_call_that_nobody_has_seen_is_answered_when_its_time_is_up);
    tcase_add_test(limits, a_peer_that_does_not_answer_in_time_hears_that_nobody_waits);
    tcase_add_test(limits, a_call_that_is_forgotten_is_not_answered);
    tcase_add_test(limits, a_call_that_was_never_sent_is_forgotten_in_silence);
    tcase_add_test(limits, no_more_calls_are_open_than_may_be);
    tcase_add_test(limits, no_more_bytes_wait_than_may);
    tcase_add_loop_test(limits, a_peer_that_is_slow_to_read_gets_all_of_them_in_order, 0, 2);
    tcase_add_test(limits, a_callback_may_forget_and_ask_even_while_all_are_being_answered);
    suite_add_tcase(suite, limits);
    return suite;
}

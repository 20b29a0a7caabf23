/*
 * test_call.c - calls and answers over real sockets, and what comes instead of them.
 */
#include "../process/post.h"
#include "base/arena.h"
#include "door/call.h"
#include "door/pack.h"
#include "door/parcel.h"
#include "process/channel.h"
#include "process/memory_file.h"
#include "suites.h"

#include <stdlib.h>

static struct post post;
static struct arena arena;
static unsigned char *text; /* of the longest pack */

#define TEXT_MAX ((size_t)1 << 20)
#define SERIAL   (1 + (uint64_t)UINT32_MAX)

static void setup(void)
{
    post = post_open();
    arena = (struct arena){0};
    text = malloc(TEXT_MAX);
    for (size_t i = 0; i < TEXT_MAX; i++)
        text[i] = (unsigned char)(i * 7);
}

static void teardown(void)
{
    free(text);
    arena_done(&arena);
    post_close(&post);
}

static struct parcel parcel_of(size_t length)
{
    struct parcel parcel;

    ck_assert_msg(parcel_make((struct bytes){text, length}, &parcel, &post.err), "%s",
                  post.err.text);
    return parcel;
}

static const size_t lengths[] = {0, 1, MEMORY_FILE_FROM, MEMORY_FILE_FROM + 1, TEXT_MAX};

START_TEST(a_call_arrives_as_it_was_sent_and_can_be_sent_again)
{
    const int before = post_count_files();
    const size_t length = lengths[_i];
    struct parcel parcel = parcel_of(length);
    struct call call;

    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(call_send(post.near, SERIAL, CALL_PING, &parcel, &post.err),
                         DELIVERY_DONE);
        ck_assert_int_eq(call_receive(post.far, &arena, &call, &post.err), DELIVERY_DONE);
        ck_assert_uint_eq(call.serial, SERIAL);
        ck_assert_int_eq(call.kind, CALL_PING);
        ck_assert_uint_eq(call.pack.length, length);
        ck_assert(call.pack.data);
        ck_assert_int_eq(memcmp(call.pack.data, text, length), 0);
    }
    ck_assert_int_eq(call_receive(post.far, &arena, &call, &post.err), DELIVERY_NONE);
    parcel_done(&parcel);
    ck_assert_int_eq(post_count_files(), before);
}
END_TEST

START_TEST(an_answer_arrives_as_it_was_sent)
{
    struct parcel parcel = parcel_of(lengths[_i]);
    struct answer answer;

    for (int worked = 0; worked < 2; worked++) {
        ck_assert_int_eq(answer_send(post.near, 7, worked, &parcel, &post.err), DELIVERY_DONE);
        ck_assert_int_eq(answer_receive(post.far, &arena, &answer, &post.err), DELIVERY_DONE);
        ck_assert_uint_eq(answer.serial, 7);
        ck_assert_int_eq(answer.worked, worked);
        ck_assert_uint_eq(answer.pack.length, lengths[_i]);
        ck_assert_int_eq(memcmp(answer.pack.data, text, lengths[_i]), 0);
    }
    parcel_done(&parcel);
}
END_TEST

START_TEST(more_than_a_pack_may_have_is_not_sent)
{
    struct parcel parcel;

    ck_assert(!parcel_make((struct bytes){text, PACK_MAX + 1}, &parcel, &post.err));
    ck_assert_int_eq(post.err.code, TH_E_INVALID);
}
END_TEST

/* ---- what nobody sends ---- */

static void expect_refusal(void)
{
    struct call call;

    ck_assert_int_eq(call_receive(post.far, &arena, &call, &post.err), DELIVERY_FAILED);
    ck_assert_int_eq(post.err.code, TH_E_INTERNAL);
}

START_TEST(an_answer_is_no_call_and_neither_is_one_of_no_known_kind)
{
    struct parcel parcel = parcel_of(1);

    ck_assert_int_eq(answer_send(post.near, 7, true, &parcel, &post.err), DELIVERY_DONE);
    expect_refusal();
    ck_assert_int_eq(call_send(post.near, 7, CALL_KINDS, &parcel, &post.err), DELIVERY_DONE);
    expect_refusal();
    parcel_done(&parcel);
}
END_TEST

START_TEST(a_pack_that_is_not_where_it_should_be_is_refused)
{
    const int before = post_count_files();
    struct parcel parcel = parcel_of(MEMORY_FILE_FROM + 1), both = parcel;
    struct parcel longer = {.fd = parcel.fd, .length = PACK_MAX + 1};
    struct parcel shorter = {.fd = parcel.fd, .length = 1};
    static struct datagram datagram;

    both.data = text;
    both.length = 1;
    ck_assert_int_eq(call_send(post.near, 7, CALL_PING, &both, &post.err), DELIVERY_DONE);
    expect_refusal();
    ck_assert_int_eq(call_send(post.near, 7, CALL_PING, &longer, &post.err), DELIVERY_DONE);
    expect_refusal();
    ck_assert_int_eq(call_send(post.near, 7, CALL_PING, &shorter, &post.err), DELIVERY_DONE);
    expect_refusal();
    /* without the file that it speaks of */
    ck_assert_int_eq(call_send(post.near, 7, CALL_PING, &parcel, &post.err), DELIVERY_DONE);
    post_take_raw(post.far, &datagram);
    post_send_raw(post.near, datagram.bytes, datagram.length);
    expect_refusal();
    /* with a file that may change */
    post_send_files(post.near, &datagram, 1);
    expect_refusal();
    parcel_done(&parcel);
    ck_assert_int_eq(post_count_files(), before);
}
END_TEST

Suite *door_call_suite(void)
{
    Suite *suite = suite_create("door/call");
    TCase *way = tcase_create("way");

    tcase_add_checked_fixture(way, setup, teardown);
    tcase_add_loop_test(way, a_call_arrives_as_it_was_sent_and_can_be_sent_again, 0,
                        COUNT_OF(lengths));
    tcase_add_loop_test(way, an_answer_arrives_as_it_was_sent, 0, COUNT_OF(lengths));
    tcase_add_test(way, more_than_a_pack_may_have_is_not_sent);
    tcase_add_test(way, an_answer_is_no_call_and_neither_is_one_of_no_known_kind);
    tcase_add_test(way, a_pack_that_is_not_where_it_should_be_is_refused);
    suite_add_tcase(suite, way);
    return suite;
}

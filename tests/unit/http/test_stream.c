/*
 * test_stream.c - answers that are made piece by piece, and those who do not read them.
 */
#include "world.h"

#include <string.h>

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"

static bool write_text(const char *text)
{
    return http_stream_write(world.stream,
                             (struct bytes){(const unsigned char *)text, strlen(text)});
}

static void begin(struct peer *peer)
{
    world_say(peer, GET("/stream"));
    while (world.room == 0)
        world_step();
}

static void end(void)
{
    http_stream_end(world.stream);
    world.stream = NULL;
}

static void wait_until_gone(void)
{
    while (world.gone == 0)
        world_step();
    while (http_server_connections(world.server) > 0)
        world_step();
    ck_assert_uint_eq(world.gone, 1);
    ck_assert_uint_eq(http_server_memory(world.server), 0);
}

START_TEST(the_head_comes_first_and_pieces_as_they_are_written)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    begin(peer);
    world_hear(peer, "Transfer-Encoding: chunked\r\n");
    world_hear(peer, "Content-Type: text/event-stream\r\n");
    world_hear(peer, "\r\n\r\n");
    ck_assert(write_text("one"));
    world_hear(peer, "3\r\none\r\n");
    ck_assert(write_text("two") && write_text("three"));
    world_hear(peer, "8\r\ntwothree\r\n");
    ck_assert_uint_eq(http_server_memory(world.server), 0);
    end();
    world_hear(peer, "0\r\n\r\n");
    world_forget(peer);
    world_say(peer, GET("/x?again"));
    world_hear(peer, "\r\n\r\nagain");
    ck_assert_uint_eq(world.gone, 0);
}
END_TEST

START_TEST(a_stream_that_waits_does_not_keep_us_busy)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    begin(peer);
    world_hear(peer, "\r\n\r\n");
    const unsigned room = world.room;

    world_settle();
    ck_assert_uint_eq(world.room, room);
}
END_TEST

START_TEST(what_was_written_is_sent_before_the_end)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    begin(peer);
    ck_assert(write_text("last"));
    end();
    world_hear(peer, "4\r\nlast\r\n0\r\n\r\n");
}
END_TEST

START_TEST(a_stream_that_breaks_off_does_not_look_whole)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    begin(peer);
    ck_assert(write_text("last"));
    world_hear(peer, "4\r\nlast\r\n");
    http_stream_break(world.stream);
    world.stream = NULL;
    world_hear_end(peer);
    ck_assert_ptr_null(strstr(peer->heard, "\r\n0\r\n"));
    ck_assert_uint_eq(world.gone, 0);
    ck_assert_uint_eq(http_server_memory(world.server), 0);
}
END_TEST

START_TEST(a_stream_may_break_off_after_its_client_has_left)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    begin(peer);
    world_leave(peer);
    wait_until_gone();
    http_stream_break(world.stream);
    world.stream = NULL;
}
END_TEST

START_TEST(HTTP_1_0_gets_a_stream_without_chunks)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, "GET /stream HTTP/1.0\r\n\r\n");
    while (world.room == 0)
        world_step();
    ck_assert(write_text("one"));
    world_hear(peer, "\r\n\r\none");
    end();
    world_hear_end(peer);
    ck_assert_ptr_null(strstr(peer->heard, "chunked"));
}
END_TEST

START_TEST(HEAD_gets_the_head_of_a_stream)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    world_say(peer, "HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    while (world.gone == 0)
        world_step();
    ck_assert(!write_text("one"));
    end();
    world_say(peer, GET("/x?a"));
    world_hear(peer, "\r\n\r\na");
    ck_assert_ptr_null(strstr(peer->heard, "one"));
}
END_TEST

START_TEST(a_client_that_leaves_a_silent_stream_is_noticed)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    begin(peer);
    world_leave(peer);
    wait_until_gone();
    ck_assert(!write_text("one"));
}
END_TEST

START_TEST(a_stream_is_there_until_it_is_ended)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    begin(peer);
    ck_assert(write_text("one"));
    end();
    world_leave(peer);
    while (http_server_connections(world.server) > 0)
        world_step();
    ck_assert_uint_eq(world.gone, 0);
}
END_TEST

/* Until the socket takes no more, and so many bytes wait. */
static void fill(size_t waiting)
{
    static const char piece[1024] = {1};

    while (http_server_memory(world.server) + sizeof piece <= waiting) {
        ck_assert(http_stream_write(world.stream,
                                    (struct bytes){(const unsigned char *)piece, sizeof piece}));
        world_settle();
    }
}

/* The socket may take a little more at any time. */
START_TEST(a_slow_reader_is_dropped_at_64_KiB)
{
    static const char piece[1024] = "x";
    bool is_taken = true;

    world_open();
    struct peer *peer = world_connect_deaf();

    begin(peer);
    while (is_taken) {
        const size_t waiting = http_server_memory(world.server);

        ck_assert_uint_eq(world.gone, 0);
        is_taken = http_stream_write(world.stream,
                                     (struct bytes){(const unsigned char *)piece, sizeof piece});
        ck_assert(is_taken == (waiting + sizeof piece <= HTTP_STREAM_UNSENT));
        if (is_taken)
            world_settle();
    }
    ck_assert(!write_text("x"));
    wait_until_gone();
}
END_TEST

START_TEST(a_reader_that_stands_still_is_dropped_after_60_s)
{
    world_open();
    struct peer *peer = world_connect_deaf();

    begin(peer);
    fill(32 * 1024);
    world_later(59);
    world_settle();
    ck_assert_uint_eq(world.gone, 0);
    world_later(61);
    wait_until_gone();
}
END_TEST

START_TEST(a_stream_that_is_silent_may_last)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    begin(peer);
    ck_assert(write_text("one"));
    world_hear(peer, "one");
    world_later(100000);
    world_settle();
    ck_assert(write_text("two"));
    world_hear(peer, "two");
}
END_TEST

START_TEST(one_long_piece_is_fine_while_nothing_waits)
{
    static char piece[1024 * 1024];

    world_open();
    struct peer *peer = world_connect(NULL);

    begin(peer);
    memset(piece, 'p', sizeof piece);
    memcpy(piece + sizeof piece - 3, "end", 3);
    ck_assert(http_stream_write(world.stream,
                                (struct bytes){(const unsigned char *)piece, sizeof piece}));
    world_hear(peer, "end\r\n");
    ck_assert_uint_gt(peer->length, sizeof piece);
    ck_assert_uint_eq(http_server_memory(world.server), 0);
}
END_TEST

static void share(const char *text)
{
    struct http_piece *piece =
        http_piece_new((struct bytes){(const unsigned char *)text, strlen(text)});

    ck_assert_ptr_nonnull(piece);
    ck_assert(http_stream_share(world.stream, piece));
    http_piece_release(&piece);
}

START_TEST(what_is_shared_and_what_is_written_comes_in_its_order)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    begin(peer);
    share("one");
    ck_assert_uint_eq(http_server_memory(world.server), 0);
    ck_assert(write_text("two"));
    share("three");
    world_hear(peer, "onetwothree");
    share("four");
    world_hear(peer, "four");
    ck_assert_uint_eq(http_server_memory(world.server), 0);
    share("last");
    end();
    world_hear(peer, "4\r\nlast\r\n0\r\n\r\n");
}
END_TEST

START_TEST(a_slow_reader_of_what_is_shared_is_dropped_too)
{
    static const char bytes[8 * 1024] = {1};
    struct http_piece *piece =
        http_piece_new((struct bytes){(const unsigned char *)bytes, sizeof bytes});
    bool is_taken = true;

    world_open();
    struct peer *peer = world_connect_deaf();

    begin(peer);
    while (is_taken) {
        ck_assert_uint_le(http_server_memory(world.server), HTTP_STREAM_UNSENT);
        is_taken = http_stream_share(world.stream, piece);
        if (is_taken)
            world_settle();
    }
    wait_until_gone();
    ck_assert(!http_stream_share(world.stream, piece));
    http_piece_release(&piece);
}
END_TEST

START_TEST(streams_count_as_memory)
{
    static const char piece[64 * 1024] = {1};

    world.options.memory = 32 * 1024;
    world_open();
    struct peer *peer = world_connect(NULL);

    begin(peer);
    ck_assert(!http_stream_write(world.stream,
                                 (struct bytes){(const unsigned char *)piece, sizeof piece}));
    wait_until_gone();
}
END_TEST

START_TEST(a_stream_hears_that_its_server_closes)
{
    world_open();
    struct peer *peer = world_connect(NULL);

    begin(peer);
    http_server_close(&world.server);
    ck_assert_uint_eq(world.gone, 1);
    ck_assert(!write_text("one"));
}
END_TEST

Suite *http_stream_suite(void)
{
    Suite *suite = suite_create("http/stream");
    TCase *streams = tcase_create("streams");

    tcase_add_checked_fixture(streams, world_setup, world_teardown);
    tcase_add_test(streams, the_head_comes_first_and_pieces_as_they_are_written);
    tcase_add_test(streams, a_stream_that_waits_does_not_keep_us_busy);
    tcase_add_test(streams, what_was_written_is_sent_before_the_end);
    tcase_add_test(streams, a_stream_that_breaks_off_does_not_look_whole);
    tcase_add_test(streams, a_stream_may_break_off_after_its_client_has_left);
    tcase_add_test(streams, HTTP_1_0_gets_a_stream_without_chunks);
    tcase_add_test(streams, HEAD_gets_the_head_of_a_stream);
    tcase_add_test(streams, a_client_that_leaves_a_silent_stream_is_noticed);
    tcase_add_test(streams, a_stream_is_there_until_it_is_ended);
    tcase_add_test(streams, a_slow_reader_is_dropped_at_64_KiB);
    tcase_add_test(streams, a_reader_that_stands_still_is_dropped_after_60_s);
    tcase_add_test(streams, a_stream_that_is_silent_may_last);
    tcase_add_test(streams, one_long_piece_is_fine_while_nothing_waits);
    tcase_add_test(streams, streams_count_as_memory);
    tcase_add_test(streams, what_is_shared_and_what_is_written_comes_in_its_order);
    tcase_add_test(streams, a_slow_reader_of_what_is_shared_is_dropped_too);
    tcase_add_test(streams, a_stream_hears_that_its_server_closes);
    suite_add_tcase(suite, streams);
    return suite;
}

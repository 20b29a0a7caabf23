/*
 * test_tail.c - the last bytes of a stream.
 */
#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "suites.h"
#include "worker/tail.h"

#include <string.h>

#define STREAM ((size_t)30000)

static const size_t pieces[] = {1, 7, 1000, 4095, 4096, 4097, 9000};
static const size_t sizes[] = {1, 100, 4096, 5000, 8192, 20000};

static void check(const struct tail *tail, const struct buffer *all)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const size_t length = all->length < tail->size ? all->length : tail->size;
    const struct bytes kept = tail_read(tail, &arena);

    ck_assert_uint_eq(kept.length, length);
    ck_assert_mem_eq(kept.data, all->data + all->length - length, length);
    ck_assert_uint_eq(tail->total, all->length);
}

START_TEST(the_last_bytes_are_kept_however_they_came)
{
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        CLEANUP(buffer_done) struct buffer all = BUFFER(2 * STREAM);
        CLEANUP(tail_done) struct tail tail = {.size = sizes[i]};

        while (all.length < STREAM) {
            const size_t start = all.length;

            while (all.length < start + pieces[_i])
                buffer_char(&all, (char)('a' + all.length % 23));
            tail_add(&tail, (struct bytes){(unsigned char *)all.data + start, pieces[_i]});
            if (all.length % 5 < 2)
                check(&tail, &all);
        }
        check(&tail, &all);
        ck_assert_uint_le(tail.capacity, sizes[i]);
    }
}
END_TEST

START_TEST(a_stream_of_nothing_needs_nothing)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct tail tail = {.size = TAIL_SIZE};

    tail_add(&tail, (struct bytes){0});
    ck_assert_ptr_null(tail.bytes);
    ck_assert_ptr_null(tail_read(&tail, &arena).data);
}
END_TEST

Suite *tail_suite(void)
{
    Suite *suite = suite_create("worker/tail");
    TCase *tails = pure_case("tail");

    tcase_add_loop_test(tails, the_last_bytes_are_kept_however_they_came, 0, COUNT_OF(pieces));
    tcase_add_test(tails, a_stream_of_nothing_needs_nothing);
    suite_add_tcase(suite, tails);
    return suite;
}

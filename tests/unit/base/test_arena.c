/*
 * test_arena.c - memory that is freed together.
 */
#include "base/arena.h"
#include "base/cleanup.h"
#include "suites.h"

#include <stdalign.h>
#include <string.h>

#define BYTES(text) ((struct bytes){(const unsigned char *)(text), sizeof(text) - 1})

static bool is_filled(const unsigned char *memory, size_t size, unsigned char byte)
{
    for (size_t i = 0; i < size; i++) {
        if (memory[i] != byte)
            return false;
    }
    return true;
}

static const size_t sizes[] = {0, 1, 7, 16, 17, 100, 2048, 2049, 8192, 8193, 1000000};

START_TEST(memory_is_zeroed_and_aligned_for_anything)
{
    CLEANUP(arena_done) struct arena arena = {0};

    for (int round = 0; round < 5; round++) {
        unsigned char *memory = arena_alloc(&arena, sizes[_i]);

        ck_assert_ptr_nonnull(memory);
        ck_assert_uint_eq((uintptr_t)memory % alignof(max_align_t), 0);
        ck_assert(is_filled(memory, sizes[_i], 0));
        memset(memory, 0xFF, sizes[_i]);
    }
}
END_TEST

START_TEST(what_was_handed_out_stays_where_and_what_it_is)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct {
        unsigned char *memory;
        size_t size;
    } pieces[500];

    for (size_t i = 0; i < COUNT_OF(pieces); i++) {
        pieces[i].size = i * 37 % 3000;
        pieces[i].memory = arena_alloc(&arena, pieces[i].size);
        ck_assert_ptr_nonnull(pieces[i].memory);
        memset(pieces[i].memory, (int)(i % 256), pieces[i].size);
    }
    for (size_t i = 0; i < COUNT_OF(pieces); i++)
        ck_assert(is_filled(pieces[i].memory, pieces[i].size, (unsigned char)i));
}
END_TEST

START_TEST(what_is_large_leaves_the_room_for_what_is_small)
{
    CLEANUP(arena_done) struct arena arena = {0};

    char *before = arena_alloc(&arena, alignof(max_align_t));
    void *large = arena_alloc(&arena, 100000);
    char *after = arena_alloc(&arena, alignof(max_align_t));

    ck_assert_ptr_nonnull(large);
    ck_assert_ptr_eq(after, before + alignof(max_align_t));
}
END_TEST

START_TEST(text_is_copied)
{
    CLEANUP(arena_done) struct arena arena = {0};
    char original[] = "before";

    const char *copy = arena_text(&arena, original);
    original[0] = 'X';
    ck_assert_str_eq(copy, "before");
}
END_TEST

START_TEST(part_of_a_text_ends_in_a_nul)
{
    CLEANUP(arena_done) struct arena arena = {0};

    const char *first = arena_text_of(&arena, "sixteen letters!more", 16);
    const char *second = arena_text_of(&arena, "one two", 3);
    ck_assert_str_eq(first, "sixteen letters!");
    ck_assert_str_eq(second, "one");
}
END_TEST

START_TEST(bytes_are_copied_with_their_nuls)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct bytes original = BYTES("a\0b");

    const struct bytes copy = arena_bytes(&arena, original);
    ck_assert_ptr_ne(copy.data, original.data);
    ck_assert_uint_eq(copy.length, 3);
    ck_assert_mem_eq(copy.data, "a\0b\0", 4);
}
END_TEST

START_TEST(absent_stays_absent_and_empty_stays_present)
{
    CLEANUP(arena_done) struct arena arena = {0};

    ck_assert_ptr_null(arena_text(&arena, NULL));
    ck_assert_ptr_null(arena_text_of(&arena, NULL, 0));
    ck_assert_ptr_null(arena_bytes(&arena, (struct bytes){NULL, 0}).data);
    ck_assert_ptr_nonnull(arena_bytes(&arena, BYTES("")).data);
    ck_assert_str_eq(arena_text(&arena, ""), "");
}
END_TEST

START_TEST(out_of_memory_is_remembered)
{
    CLEANUP(arena_done) struct arena arena = {0};

    ck_assert(!arena.failed);
    ck_assert_ptr_null(arena_alloc(&arena, SIZE_MAX));
    ck_assert(arena.failed);
    ck_assert_ptr_null(arena_alloc(&arena, 1));
    ck_assert_str_eq(arena_text(&arena, "text"), "");
    ck_assert_ptr_null(arena_text(&arena, NULL));
    ck_assert_uint_eq(arena_bytes(&arena, BYTES("bytes")).length, 0);
}
END_TEST

START_TEST(an_arena_can_be_used_again_once_done)
{
    struct arena arena = {0};

    arena_done(&arena);
    ck_assert_ptr_nonnull(arena_alloc(&arena, 10));
    ck_assert_ptr_null(arena_alloc(&arena, SIZE_MAX));
    arena_done(&arena);
    ck_assert_ptr_null(arena.blocks);
    ck_assert_str_eq(arena_text(&arena, "again"), "again");
    arena_done(&arena);
}
END_TEST

START_TEST(what_is_joined_stays_where_it_is_and_goes_with_the_other)
{
    struct arena into = {0}, from = {0};
    const char *first = arena_text(&into, "first"), *second = arena_text(&from, "second");

    arena_join(&into, &from);
    ck_assert_ptr_null(from.blocks);
    arena_done(&from);
    ck_assert_str_eq(first, "first");
    ck_assert_str_eq(second, "second");
    ck_assert_ptr_null(arena_alloc(&from, SIZE_MAX));
    arena_join(&into, &from);
    ck_assert(into.failed && !from.failed);
    arena_done(&into);
}
END_TEST

Suite *arena_suite(void)
{
    Suite *suite = suite_create("base/arena");
    TCase *memory = tcase_create("memory");
    TCase *copies = tcase_create("copies");

    tcase_add_loop_test(memory, memory_is_zeroed_and_aligned_for_anything, 0, COUNT_OF(sizes));
    tcase_add_test(memory, what_was_handed_out_stays_where_and_what_it_is);
    tcase_add_test(memory, what_is_large_leaves_the_room_for_what_is_small);
    tcase_add_test(memory, out_of_memory_is_remembered);
    tcase_add_test(memory, an_arena_can_be_used_again_once_done);
    tcase_add_test(memory, what_is_joined_stays_where_it_is_and_goes_with_the_other);
    suite_add_tcase(suite, memory);

    tcase_add_test(copies, text_is_copied);
    tcase_add_test(copies, part_of_a_text_ends_in_a_nul);
    tcase_add_test(copies, bytes_are_copied_with_their_nuls);
    tcase_add_test(copies, absent_stays_absent_and_empty_stays_present);
    suite_add_tcase(suite, copies);
    return suite;
}

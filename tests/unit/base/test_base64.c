/*
 * test_base64.c - bytes as text, standard alphabet with padding.
 */
#include "base/arena.h"
#include "base/base64.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "suites.h"

#include <string.h>

#define BYTES(text)                                                                                \
    {                                                                                              \
        (const unsigned char *)(text), sizeof(text) - 1                                            \
    }

static const struct {
    const char *rule;
    struct bytes bytes;
    const char *text;
} pairs[] = {
    {"nothing is nothing", BYTES(""), ""},
    {"one byte is padded twice", BYTES("f"), "Zg=="},
    {"two bytes are padded once", BYTES("fo"), "Zm8="},
    {"three bytes need no padding", BYTES("foo"), "Zm9v"},
    {"a fourth begins a new group", BYTES("foob"), "Zm9vYg=="},
    {"and so on", BYTES("fooba"), "Zm9vYmE="},
    {"up to two whole groups", BYTES("foobar"), "Zm9vYmFy"},
    {"62 and 63 are + and /", BYTES("\xfb\xef\xff"), "++//"},
    {"NULs are bytes like others", BYTES("\0\0\0\0"), "AAAAAA=="},
};

START_TEST(bytes_become_text)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(100);

    base64_add(&text, pairs[_i].bytes);
    ck_assert_msg(!text.failed, "%s", pairs[_i].rule);
    ck_assert_msg(strcmp(buffer_str(&text), pairs[_i].text) == 0, "%s, not %s", pairs[_i].rule,
                  buffer_str(&text));
    ck_assert_uint_eq(text.length, strlen(pairs[_i].text));
}
END_TEST

START_TEST(text_becomes_bytes)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct bytes bytes = {NULL, 99};

    ck_assert_msg(base64_parse(pairs[_i].text, &arena, &bytes), "%s", pairs[_i].rule);
    ck_assert_ptr_nonnull(bytes.data);
    ck_assert_uint_eq(bytes.length, pairs[_i].bytes.length);
    ck_assert_mem_eq(bytes.data, pairs[_i].bytes.data, bytes.length);
}
END_TEST

static const struct {
    const char *rule;
    const char *text;
} refused[] = {
    {"a length that is no multiple of four", "Zg="},
    {"no padding", "Zg"},
    {"one character alone", "Z"},
    {"three times padding", "Z==="},
    {"nothing but padding", "===="},
    {"padding before the end", "Zg==Zg=="},
    {"padding before a character", "Zg=v"},
    {"the URL alphabet", "-_-_"},
    {"a space", "Zm 9"},
    {"a line break", "Zm9v\nZm9"},
    {"a character over 127", "Zm9\xff"},
    {"two bytes with a bit in the padding", "Zm9="},
    {"one byte with a bit in the padding", "Zh=="},
};

START_TEST(any_other_text_is_refused)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct bytes bytes = {NULL, 99};

    ck_assert_msg(!base64_parse(refused[_i].text, &arena, &bytes), "%s", refused[_i].rule);
    ck_assert_uint_eq(bytes.length, 99);
}
END_TEST

START_TEST(every_byte_survives_at_every_place)
{
    CLEANUP(arena_done) struct arena arena = {0};
    CLEANUP(buffer_done) struct buffer text = BUFFER(5000);
    unsigned char original[3 * 1024 + 1];
    struct bytes bytes;

    for (size_t i = 0; i < sizeof original; i++)
        original[i] = (unsigned char)i;
    base64_add(&text, (struct bytes){original, sizeof original});
    ck_assert(base64_parse(buffer_str(&text), &arena, &bytes));
    ck_assert_uint_eq(bytes.length, sizeof original);
    ck_assert_mem_eq(bytes.data, original, sizeof original);
}
END_TEST

START_TEST(text_without_memory_for_its_bytes_is_refused)
{
    CLEANUP(arena_done) struct arena arena = {.failed = true};
    struct bytes bytes = {NULL, 99};

    ck_assert(!base64_parse("Zm9v", &arena, &bytes));
    ck_assert_uint_eq(bytes.length, 99);
}
END_TEST

START_TEST(text_over_the_limit_of_the_buffer_is_not_begun)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(7);

    base64_add(&text, (struct bytes)BYTES("four"));
    ck_assert(text.failed);
    ck_assert_uint_eq(text.length, 0);
}
END_TEST

Suite *base64_suite(void)
{
    Suite *suite = suite_create("base/base64");
    TCase *both = pure_case("both ways");

    tcase_add_loop_test(both, bytes_become_text, 0, COUNT_OF(pairs));
    tcase_add_loop_test(both, text_becomes_bytes, 0, COUNT_OF(pairs));
    tcase_add_loop_test(both, any_other_text_is_refused, 0, COUNT_OF(refused));
    tcase_add_test(both, every_byte_survives_at_every_place);
    tcase_add_test(both, text_without_memory_for_its_bytes_is_refused);
    tcase_add_test(both, text_over_the_limit_of_the_buffer_is_not_begun);
    suite_add_tcase(suite, both);
    return suite;
}

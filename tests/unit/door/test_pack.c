/*
 * test_pack.c - fields as they were written, and packs that nobody wrote.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/uuid.h"
#include "door/pack.h"
#include "suites.h"

#include <string.h>

static struct error err;

static struct bytes bytes_of(const struct buffer *pack)
{
    return (struct bytes){(const unsigned char *)pack->data, pack->length};
}

/* One field of each kind. */
static void write_all(struct buffer *pack)
{
    const struct uuid uuid = {{1, 2, 3}};
    const struct error conflict = {.code = TH_E_CONFLICT, .text = "taken"};

    pack_number(pack, INT64_MIN);
    pack_flag(pack, true);
    pack_uuid(pack, &uuid);
    pack_bytes(pack, (struct bytes){(const unsigned char *)"a\0b", 3});
    pack_bytes(pack, (struct bytes){0});
    pack_text(pack, "");
    pack_text(pack, NULL);
    pack_text(pack, "last");
    pack_count(pack, 2);
    pack_flag(pack, false);
    pack_flag(pack, true);
    pack_error(pack, &conflict);
}

static bool read_all(struct bytes pack)
{
    struct unpack unpack = unpack_begin(pack);
    struct error got;

    unpack_number(&unpack, INT64_MIN, INT64_MAX);
    unpack_flag(&unpack);
    unpack_uuid(&unpack);
    unpack_bytes(&unpack, 3);
    unpack_bytes(&unpack, 3);
    unpack_text(&unpack, 4);
    unpack_text(&unpack, 4);
    unpack_word(&unpack, 4);
    for (size_t i = unpack_count(&unpack, 1, 2); i > 0; i--)
        unpack_flag(&unpack);
    unpack_error(&unpack, &got);
    return unpack_end(&unpack, "a test", &err);
}

START_TEST(fields_arrive_as_they_were_written)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_MAX);
    struct error got;

    write_all(&pack);
    struct unpack unpack = unpack_begin(bytes_of(&pack));
    ck_assert_int_eq(unpack_number(&unpack, INT64_MIN, INT64_MAX), INT64_MIN);
    ck_assert(unpack_flag(&unpack));
    ck_assert_int_eq(unpack_uuid(&unpack).bytes[2], 3);
    const struct bytes bytes = unpack_bytes(&unpack, 3);
    ck_assert_uint_eq(bytes.length, 3);
    ck_assert_mem_eq(bytes.data, "a\0b", 4);
    ck_assert(!unpack_bytes(&unpack, 3).data);
    ck_assert_str_eq(unpack_text(&unpack, 4), "");
    ck_assert(!unpack_text(&unpack, 4));
    ck_assert_str_eq(unpack_word(&unpack, 4), "last");
    ck_assert_uint_eq(unpack_count(&unpack, 1, 2), 2);
    ck_assert(!unpack_flag(&unpack));
    ck_assert(unpack_flag(&unpack));
    unpack_error(&unpack, &got);
    ck_assert_int_eq(got.code, TH_E_CONFLICT);
    ck_assert_str_eq(got.text, "taken");
    ck_assert_msg(unpack_end(&unpack, "a test", &err), "%s", err.text);
}
END_TEST

START_TEST(a_pack_that_is_cut_anywhere_is_refused)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_MAX);

    write_all(&pack);
    ck_assert(read_all(bytes_of(&pack)));
    for (size_t length = 0; length < pack.length; length++) {
        ck_assert_msg(!read_all((struct bytes){(const unsigned char *)pack.data, length}),
                      "%zu bytes of it", length);
        ck_assert_int_eq(err.code, TH_E_INTERNAL);
    }
}
END_TEST

START_TEST(a_pack_with_more_in_it_is_refused)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_MAX);

    write_all(&pack);
    pack_flag(&pack, true);
    ck_assert(!read_all(bytes_of(&pack)));
    ck_assert_msg(strstr(err.text, "a test: 1 bytes are left"), "%s", err.text);
}
END_TEST

/* ---- single fields ---- */

static void read_number(struct unpack *unpack)
{
    ck_assert_int_eq(unpack_number(unpack, 1, 9), 1);
}

static void read_flag(struct unpack *unpack)
{
    unpack_flag(unpack);
}

static void read_bytes(struct unpack *unpack)
{
    ck_assert(!unpack_bytes(unpack, 4).data);
}

static void read_text(struct unpack *unpack)
{
    ck_assert(!unpack_text(unpack, 4));
}

static void read_word(struct unpack *unpack)
{
    ck_assert_str_eq(unpack_word(unpack, 4), "");
}

static void read_count(struct unpack *unpack)
{
    ck_assert_uint_eq(unpack_count(unpack, 8, 4), 0);
}

static void read_error(struct unpack *unpack)
{
    struct error got;

    unpack_error(unpack, &got);
}

#define ZEROS       "\0\0\0\0\0\0\0"
#define WORD(first) first ZEROS
#define ABSENT      "\xff\xff\xff\xff\xff\xff\xff\xff"

static const struct {
    const char *rule;
    void (*read)(struct unpack *unpack);
    const char *pack;
    size_t length;
} wrong[] = {
    {"a number below its limits", read_number, WORD("\0"), 8},
    {"a number above them", read_number, WORD("\x0a"), 8},
    {"a flag that is neither", read_flag, "\2", 1},
    {"bytes that are too many", read_bytes, WORD("\5") "abcde", 14},
    {"bytes without their end", read_bytes, WORD("\2") "abc", 11},
    {"bytes that go beyond the pack", read_bytes, WORD("\4") "abc", 12},
    {"a length that goes round", read_bytes, "\xfe\xff\xff\xff\xff\xff\xff\xff", 9},
    {"a text with an end in its middle", read_text, WORD("\2") "a\0", 11},
    {"a word that is not there", read_word, ABSENT, 8},
    {"more entries than may be", read_count, WORD("\5") ZEROS ZEROS ZEROS ZEROS ZEROS ZEROS, 50},
    {"more entries than there is room for", read_count, WORD("\2") WORD("\0") ZEROS, 23},
    {"an error that is none", read_error, WORD("\0") WORD("\0"), 17},
    {"an error of the future", read_error, WORD("\x63") WORD("\0"), 17},
};

START_TEST(a_field_that_nobody_writes_is_a_failure_and_empty)
{
    struct unpack unpack =
        unpack_begin((struct bytes){(const unsigned char *)wrong[_i].pack, wrong[_i].length});

    wrong[_i].read(&unpack);
    ck_assert_msg(unpack.failed, "%s", wrong[_i].rule);
    ck_assert(!unpack_end(&unpack, "it", &err));
}
END_TEST

START_TEST(after_a_failure_every_field_is_empty)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(PACK_MAX);

    pack_number(&pack, 10);
    pack_text(&pack, "text");
    struct unpack unpack = unpack_begin(bytes_of(&pack));
    unpack_number(&unpack, 0, 9);
    ck_assert(!unpack_text(&unpack, 4));
    ck_assert_uint_eq(unpack_count(&unpack, 1, 100), 0);
    ck_assert(!unpack_end(&unpack, "it", &err));
}
END_TEST

Suite *pack_suite(void)
{
    Suite *suite = suite_create("door/pack");
    TCase *fields = pure_case("fields");

    tcase_add_test(fields, fields_arrive_as_they_were_written);
    tcase_add_test(fields, a_pack_that_is_cut_anywhere_is_refused);
    tcase_add_test(fields, a_pack_with_more_in_it_is_refused);
    tcase_add_loop_test(fields, a_field_that_nobody_writes_is_a_failure_and_empty, 0,
                        COUNT_OF(wrong));
    tcase_add_test(fields, after_a_failure_every_field_is_empty);
    suite_add_tcase(suite, fields);
    return suite;
}

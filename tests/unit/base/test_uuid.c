/*
 * test_uuid.c - UUIDv7: ids that sort by the time they were made.
 */
#include "base/timestamp.h"
#include "base/uuid.h"
#include "suites.h"

#include <signal.h>
#include <string.h>

#define NOW ((usec_t)1893553445123456) /* 2030-01-02T03:04:05.123456Z */

static uint64_t milliseconds_of(const struct uuid *uuid)
{
    uint64_t msec = 0;

    for (int i = 0; i < 6; i++)
        msec = msec << 8 | uuid->bytes[i];
    return msec;
}

static unsigned fraction_of(const struct uuid *uuid)
{
    return (uuid->bytes[6] & 0x0FU) << 8 | uuid->bytes[7];
}

START_TEST(an_id_starts_with_its_time)
{
    struct uuid_maker maker = {0};
    const struct uuid uuid = uuid_make(&maker, NOW);

    ck_assert_uint_eq(milliseconds_of(&uuid), NOW / 1000);
    ck_assert_uint_eq(fraction_of(&uuid), 456 * 4096 / 1000);
}
END_TEST

static const usec_t bounds[] = {0, TIMESTAMP_MAX};

START_TEST(the_first_and_the_last_moment_fit)
{
    struct uuid_maker maker = {0};
    const struct uuid uuid = uuid_make(&maker, bounds[_i]);

    ck_assert_uint_eq(milliseconds_of(&uuid), (uint64_t)bounds[_i] / 1000);
}
END_TEST

START_TEST(ids_of_one_moment_count_on)
{
    struct uuid_maker maker = {0};
    const struct uuid first = uuid_make(&maker, NOW);
    const struct uuid second = uuid_make(&maker, NOW);

    ck_assert_uint_eq(fraction_of(&second), fraction_of(&first) + 1);
}
END_TEST

START_TEST(version_and_variant_are_always_set)
{
    struct uuid_maker maker = {0};

    for (int i = 0; i < 5000; i++) {
        const struct uuid uuid = uuid_make(&maker, NOW + i);

        ck_assert_uint_eq(uuid.bytes[6] >> 4, 7);
        ck_assert_uint_eq(uuid.bytes[8] >> 6, 2);
    }
}
END_TEST

/* Every random bit is seen both set and clear. */
START_TEST(the_rest_is_random)
{
    struct uuid_maker maker = {0};
    unsigned char set[8] = {0}, clear[8] = {0};

    for (int i = 0; i < 200; i++) {
        const struct uuid uuid = uuid_make(&maker, NOW);

        for (int j = 0; j < 8; j++) {
            set[j] |= uuid.bytes[8 + j];
            clear[j] |= (unsigned char)~uuid.bytes[8 + j];
        }
    }
    ck_assert_mem_eq(set, "\xBF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8);
    ck_assert_mem_eq(clear, "\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8);
}
END_TEST

static const struct {
    const char *rule;
    usec_t step; /* of the clock, from one id to the next */
} clocks[] = {
    {"the clock stands still", 0},
    {"the clock goes on slower than ids are made", 1},
    {"the clock goes on", 1000},
    {"the clock goes back", -1000},
    {"the clock goes back by a microsecond", -1},
};

START_TEST(ids_increase_whatever_the_clock_does)
{
    struct uuid_maker maker = {0};
    struct uuid last = uuid_make(&maker, NOW);

    for (int i = 1; i < 100000; i++) {
        const struct uuid uuid = uuid_make(&maker, NOW + i * clocks[_i].step);

        if (uuid_compare(&last, &uuid) >= 0)
            ck_abort_msg("%s: id %d", clocks[_i].rule, i);
        last = uuid;
    }
}
END_TEST

/* A batch that ran ahead of the clock does not hold back what is made later. */
START_TEST(ids_return_to_the_clock)
{
    struct uuid_maker maker = {0};

    for (int i = 0; i < 5000; i++)
        uuid_make(&maker, NOW);
    const struct uuid uuid = uuid_make(&maker, NOW + USEC_PER_SEC);
    ck_assert_uint_eq(milliseconds_of(&uuid), (NOW + USEC_PER_SEC) / 1000);
    ck_assert_uint_eq(fraction_of(&uuid), 456 * 4096 / 1000);
}
END_TEST

static const usec_t impossible[] = {-1, TIMESTAMP_MAX + 1};

START_TEST(a_time_that_no_job_may_have_is_a_bug)
{
    struct uuid_maker maker = {0};

    uuid_make(&maker, impossible[_i]);
}
END_TEST

START_TEST(nil_is_all_zeros)
{
    struct uuid uuid = {{0}};

    ck_assert(uuid_is_nil(&uuid));
    uuid.bytes[15] = 1;
    ck_assert(!uuid_is_nil(&uuid));
    uuid = (struct uuid){{0x80}};
    ck_assert(!uuid_is_nil(&uuid));
}
END_TEST

START_TEST(ids_compare_byte_by_byte)
{
    const struct uuid low = {{0x01, 0xFF}}, high = {{0x80, 0x00}};

    ck_assert_int_lt(uuid_compare(&low, &high), 0);
    ck_assert_int_gt(uuid_compare(&high, &low), 0);
    ck_assert_int_eq(uuid_compare(&low, &low), 0);
}
END_TEST

static const struct uuid sample = {{0x01, 0x93, 0xf0, 0xa2, 0x7c, 0x1d, 0x7a, 0xbc, 0x8d, 0xef,
                                    0x01, 0x23, 0x45, 0x67, 0x89, 0xab}};

START_TEST(an_id_is_formatted_in_five_groups)
{
    char text[UUID_TEXT_SIZE];

    ck_assert_str_eq(uuid_format(&sample, text), "0193f0a2-7c1d-7abc-8def-0123456789ab");
}
END_TEST

static const char *const spellings[] = {
    "0193f0a2-7c1d-7abc-8def-0123456789ab",
    "0193F0A2-7C1D-7ABC-8DEF-0123456789AB",
    "0193f0A2-7C1d-7abc-8DEF-0123456789aB",
};

START_TEST(an_id_is_parsed_in_either_case)
{
    struct uuid uuid = {{0}};

    ck_assert(uuid_parse(spellings[_i], &uuid));
    ck_assert_mem_eq(uuid.bytes, sample.bytes, sizeof uuid.bytes);
}
END_TEST

START_TEST(an_id_of_another_version_is_parsed)
{
    struct uuid uuid = {{1}};

    ck_assert(uuid_parse("00000000-0000-0000-0000-000000000000", &uuid));
    ck_assert(uuid_is_nil(&uuid));
    ck_assert(uuid_parse("f81d4fae-7dec-11d0-a765-00a0c91e6bf6", &uuid));
    ck_assert_uint_eq(uuid.bytes[0], 0xf8);
    ck_assert_uint_eq(uuid.bytes[15], 0xf6);
}
END_TEST

static const struct {
    const char *rule;
    const char *text;
} refused[] = {
    {"nothing", ""},
    {"no dashes", "0193f0a27c1d7abc8def0123456789ab"},
    {"a digit short", "0193f0a2-7c1d-7abc-8def-0123456789a"},
    {"a digit too many", "0193f0a2-7c1d-7abc-8def-0123456789abc"},
    {"a dash at another place", "0193f0a-27c1d-7abc-8def-0123456789ab"},
    {"a digit at the place of a dash", "0193f0a2-7c1d-7abc-8def00123456789ab"},
    {"a dash at the place of a digit", "0193f0a2-7c1d-7abc-8def-0123456789a-"},
    {"another letter", "0193f0a2-7c1d-7abc-8def-0123456789ag"},
    {"another capital", "0193f0a2-7c1d-7abc-8def-0123456789aG"},
    {"a letter before the digits", "0193f0a2-7c1d-7abc-8def-0123456789a/"},
    {"a letter after the digits", "0193f0a2-7c1d-7abc-8def-0123456789a:"},
    {"braces", "{193f0a2-7c1d-7abc-8def-0123456789a}"},
    {"a space in front", " 193f0a2-7c1d-7abc-8def-0123456789ab"},
};

START_TEST(any_other_text_is_refused)
{
    struct uuid uuid = sample;

    ck_assert_msg(!uuid_parse(refused[_i].text, &uuid), "%s", refused[_i].rule);
    ck_assert_mem_eq(uuid.bytes, sample.bytes, sizeof uuid.bytes);
}
END_TEST

Suite *uuid_suite(void)
{
    Suite *suite = suite_create("base/uuid");
    TCase *make = tcase_create("make");
    TCase *text = tcase_create("text");

    tcase_add_test(make, an_id_starts_with_its_time);
    tcase_add_loop_test(make, the_first_and_the_last_moment_fit, 0, COUNT_OF(bounds));
    tcase_add_test(make, ids_of_one_moment_count_on);
    tcase_add_test(make, version_and_variant_are_always_set);
    tcase_add_test(make, the_rest_is_random);
    tcase_add_loop_test(make, ids_increase_whatever_the_clock_does, 0, COUNT_OF(clocks));
    tcase_add_test(make, ids_return_to_the_clock);
    tcase_add_loop_test_raise_signal(make, a_time_that_no_job_may_have_is_a_bug, SIGABRT, 0,
                                     COUNT_OF(impossible));
    tcase_set_timeout(make, 60);
    suite_add_tcase(suite, make);

    tcase_add_test(text, nil_is_all_zeros);
    tcase_add_test(text, ids_compare_byte_by_byte);
    tcase_add_test(text, an_id_is_formatted_in_five_groups);
    tcase_add_loop_test(text, an_id_is_parsed_in_either_case, 0, COUNT_OF(spellings));
    tcase_add_test(text, an_id_of_another_version_is_parsed);
    tcase_add_loop_test(text, any_other_text_is_refused, 0, COUNT_OF(refused));
    suite_add_tcase(suite, text);
    return suite;
}

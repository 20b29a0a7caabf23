/*
 * test_units.c - numbers as people write them.
 */
#include "base/error.h"
#include "base/units.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *rule;
    const char *text;
    usec_t duration;
} durations[] = {
    {"microseconds", "7us", 7},
    {"milliseconds", "500ms", 500 * USEC_PER_MSEC},
    {"seconds", "10s", 10 * USEC_PER_SEC},
    {"minutes", "5m", 5 * USEC_PER_MIN},
    {"hours", "2h", 2 * USEC_PER_HOUR},
    {"days", "7d", 7 * USEC_PER_DAY},
    {"zero stands alone", "0", 0},
    {"or with a unit", "0s", 0},
    {"or as a fraction", "0.0h", 0},
    {"zeros in front", "007s", 7 * USEC_PER_SEC},
    {"a fraction of an hour", "1.5h", 90 * USEC_PER_MIN},
    {"a fraction of a second", "0.25s", 250 * USEC_PER_MSEC},
    {"a tenth is exact", "0.1s", 100 * USEC_PER_MSEC},
    {"down to a microsecond", "0.000001s", 1},
    {"the finest of milliseconds", "1.001ms", 1001},
    {"zeros after a fraction", "1.50000000000000000000000s", 1500 * USEC_PER_MSEC},
    {"zeros after whole microseconds", "3.0us", 3},
    {"a long fraction that is exact", "0.0001220703125d", 10546875},
    {"a fraction of a minute", "0.05m", 3 * USEC_PER_SEC},
    {"a hundred years", "36500d", 36500 * USEC_PER_DAY},
    {"a hundred years in microseconds", "3153600000000000us", 36500 * USEC_PER_DAY},
    {"almost a hundred years", "36499.5d", 36499 * USEC_PER_DAY + 12 * USEC_PER_HOUR},
};

START_TEST(a_duration_is_exact)
{
    struct error err = {0};
    usec_t duration = -1;

    ck_assert_msg(units_parse_duration(durations[_i].text, &duration, &err), "%s: %s",
                  durations[_i].rule, err.text);
    ck_assert_msg(duration == durations[_i].duration, "%s, not %lld us", durations[_i].rule,
                  (long long)duration);
}
END_TEST

#define SHAPE    "write a number and a unit, such as 500ms, 10s, 5m, 2h or 7d"
#define NEGATIVE "it is negative"
#define FINE     "it is finer than a microsecond"
#define LONG     "it is longer than 100 years"

static const struct {
    const char *rule;
    const char *text;
    const char *reason;
} refused[] = {
    {"an unknown unit", "10x", SHAPE},
    {"nothing", "", SHAPE},
    {"no unit", "10", SHAPE},
    {"zero as a fraction, without a unit", "0.0", SHAPE},
    {"no number", "s", SHAPE},
    {"a word", "soon", SHAPE},
    {"a space in front", " 10s", SHAPE},
    {"a space between", "10 s", SHAPE},
    {"a space after", "10s ", SHAPE},
    {"something after", "10sx", SHAPE},
    {"two of them", "1h30m", SHAPE},
    {"another case", "10S", SHAPE},
    {"a plus", "+10s", SHAPE},
    {"a point at the start", ".5s", SHAPE},
    {"a point at the end", "5.s", SHAPE},
    {"two points", "1.2.3s", SHAPE},
    {"a comma", "1,5s", SHAPE},
    {"an exponent", "1e3s", SHAPE},
    {"only a minus", "-", SHAPE},
    {"a minus before nonsense", "-x", SHAPE},
    {"a negative one", "-10s", NEGATIVE},
    {"a negative fraction", "-0.5s", NEGATIVE},
    {"half a microsecond", "0.5us", FINE},
    {"a tenth of a microsecond", "0.0000001s", FINE},
    {"a third, as far as one cares to write", "0.3333333333s", FINE},
    {"more decimals than a number holds", "0.1234567890123456789s", FINE},
    {"a microsecond over", "36500.00000000001157407407407407407d", FINE},
    {"a day over a hundred years", "36501d", LONG},
    {"a fraction over a hundred years", "36500.5d", LONG},
    {"a microsecond over a hundred years", "3153600000000001us", LONG},
    {"more than 64 bits of microseconds", "106751991167301d", LONG},
    {"more than 64 bits of digits", "99999999999999999999999999999s", LONG},
};

START_TEST(any_other_duration_is_refused_with_a_reason)
{
    struct error err = {0};
    usec_t duration = 99;
    char expected[ERROR_TEXT_SIZE];

    snprintf(expected, sizeof expected, "'%s' is not a duration: %s", refused[_i].text,
             refused[_i].reason);
    ck_assert_msg(!units_parse_duration(refused[_i].text, &duration, &err), "%s", refused[_i].rule);
    ck_assert_int_eq(err.code, TH_E_INVALID);
    ck_assert_msg(strcmp(err.text, expected) == 0, "%s: %s", refused[_i].rule, err.text);
    ck_assert_int_eq(duration, 99);
}
END_TEST

static const struct {
    const char *rule;
    const char *text;
    bytes_t size;
} parsed_sizes[] = {
    {"bytes", "4096", 4096},
    {"none", "0", 0},
    {"kibibytes", "64K", 65536},
    {"mebibytes", "512M", (bytes_t)512 << 20},
    {"gibibytes", "1G", (bytes_t)1 << 30},
    {"tebibytes", "2T", (bytes_t)2 << 40},
    {"zeros in front", "0001K", 1024},
    {"the largest", "1024T", (bytes_t)1 << 50},
    {"the largest in bytes", "1125899906842624", (bytes_t)1 << 50},
};

START_TEST(a_size_is_a_multiple_of_1024)
{
    struct error err = {0};
    bytes_t size = 99;

    ck_assert_msg(units_parse_size(parsed_sizes[_i].text, &size, &err), "%s: %s",
                  parsed_sizes[_i].rule, err.text);
    ck_assert_msg(size == parsed_sizes[_i].size, "%s, not %llu", parsed_sizes[_i].rule,
                  (unsigned long long)size);
}
END_TEST

#define SIZE_SHAPE "write a number of bytes, or of K, M or G, such as 64K, 512M or 1G"
#define SIZE_LARGE "it is larger than 1024T"

static const struct {
    const char *text;
    const char *reason;
} refused_sizes[] = {
    {"", SIZE_SHAPE},
    {"K", SIZE_SHAPE},
    {"64k", SIZE_SHAPE},
    {"64KB", SIZE_SHAPE},
    {"64 K", SIZE_SHAPE},
    {" 64K", SIZE_SHAPE},
    {"1.5G", SIZE_SHAPE},
    {"1P", SIZE_SHAPE},
    {"+1", SIZE_SHAPE},
    {"-", SIZE_SHAPE},
    {"-1", "it is negative"},
    {"-64K", "it is negative"},
    {"1025T", SIZE_LARGE},
    {"1125899906842625", SIZE_LARGE},
    {"99999999999999999999999999", SIZE_LARGE},
    {"99999999999999999999999999T", SIZE_LARGE},
};

START_TEST(any_other_size_is_refused_with_a_reason)
{
    struct error err = {0};
    bytes_t size = 99;
    char expected[ERROR_TEXT_SIZE];

    snprintf(expected, sizeof expected, "'%s' is not a size: %s", refused_sizes[_i].text,
             refused_sizes[_i].reason);
    ck_assert(!units_parse_size(refused_sizes[_i].text, &size, &err));
    ck_assert_str_eq(err.text, expected);
    ck_assert_uint_eq(size, 99);
}
END_TEST

static const struct {
    const char *text;
    struct units_rate rate;
} rates[] = {
    {"100/s", {100, USEC_PER_SEC}},
    {"10/m", {10, USEC_PER_MIN}},
    {"1/h", {1, USEC_PER_HOUR}},
    {"5/d", {5, USEC_PER_DAY}},
    {"1000000000/s", {1000000000, USEC_PER_SEC}},
};

START_TEST(a_rate_is_so_many_in_a_period)
{
    struct units_rate rate = {0};
    struct error err = {0};

    ck_assert_msg(units_parse_rate(rates[_i].text, &rate, &err), "%s", err.text);
    ck_assert_int_eq(rate.count, rates[_i].rate.count);
    ck_assert_int_eq(rate.period, rates[_i].rate.period);
}
END_TEST

START_TEST(a_rate_is_written_as_it_was_read)
{
    char text[UNITS_TEXT_SIZE];

    ck_assert_str_eq(units_format_rate(&rates[_i].rate, text), rates[_i].text);
}
END_TEST

#define RATE_SHAPE "write a number per s, m, h or d, such as 100/s or 10/m"
#define RATE_RANGE "use 1 to 1000000000"

static const struct {
    const char *text;
    const char *reason;
} refused_rates[] = {
    {"", RATE_SHAPE},      {"100", RATE_SHAPE},          {"/s", RATE_SHAPE},
    {"100/", RATE_SHAPE},  {"100/ms", RATE_SHAPE},       {"100/us", RATE_SHAPE},
    {"100/w", RATE_SHAPE}, {"100 / s", RATE_SHAPE},      {"100/s/s", RATE_SHAPE},
    {"-1/s", RATE_SHAPE},  {"1.5/s", RATE_SHAPE},        {"100/10s", RATE_SHAPE},
    {"0/s", RATE_RANGE},   {"1000000001/s", RATE_RANGE}, {"99999999999999999999999/s", RATE_RANGE},
};

START_TEST(any_other_rate_is_refused_with_a_reason)
{
    struct units_rate rate = {99, 99};
    struct error err = {0};
    char expected[ERROR_TEXT_SIZE];

    snprintf(expected, sizeof expected, "'%s' is not a rate: %s", refused_rates[_i].text,
             refused_rates[_i].reason);
    ck_assert(!units_parse_rate(refused_rates[_i].text, &rate, &err));
    ck_assert_str_eq(err.text, expected);
    ck_assert_int_eq(rate.count, 99);
}
END_TEST

static const struct {
    usec_t duration;
    const char *text;
} formatted[] = {
    {0, "0s"},
    {1, "1us"},
    {999, "999us"},
    {1000, "1ms"},
    {1234, "1.2ms"},
    {850 * USEC_PER_MSEC, "850ms"},
    {999999, "999.9ms"},
    {USEC_PER_SEC, "1s"},
    {1234567, "1.2s"},
    {59999999, "59.9s"},
    {USEC_PER_MIN, "1m"},
    {5 * USEC_PER_MIN + 20 * USEC_PER_SEC, "5m 20s"},
    {5 * USEC_PER_MIN + USEC_PER_SEC - 1, "5m"},
    {USEC_PER_HOUR - 1, "59m 59s"},
    {USEC_PER_HOUR, "1h"},
    {2 * USEC_PER_HOUR + 5 * USEC_PER_MIN + 59 * USEC_PER_SEC, "2h 5m"},
    {USEC_PER_DAY - 1, "23h 59m"},
    {3 * USEC_PER_DAY + 4 * USEC_PER_HOUR, "3d 4h"},
    {400 * USEC_PER_DAY, "400d"},
    {-90 * USEC_PER_SEC, "-1m 30s"},
    {-1500 * USEC_PER_MSEC, "-1.5s"},
    {INT64_MAX, "106751991d 4h"},
    {INT64_MIN, "-106751991d 4h"},
};

START_TEST(a_duration_is_shown_in_its_largest_two_units)
{
    char text[UNITS_TEXT_SIZE];

    ck_assert_str_eq(units_format_duration(formatted[_i].duration, text), formatted[_i].text);
}
END_TEST

static const struct {
    uint64_t size;
    const char *text;
} sizes[] = {
    {0, "0 B"},
    {812, "812 B"},
    {1023, "1023 B"},
    {1024, "1.0 KiB"},
    {1536, "1.5 KiB"},
    {1024 * 1024 - 1, "1023.9 KiB"},
    {(uint64_t)3 << 20, "3.0 MiB"},
    {(uint64_t)5 << 30, "5.0 GiB"},
    {(uint64_t)5 << 40, "5.0 TiB"},
    {(uint64_t)5 << 50, "5.0 PiB"},
    {(uint64_t)1 << 60, "1.0 EiB"},
    {UINT64_MAX, "15.9 EiB"},
};

START_TEST(a_size_is_shown_with_one_decimal)
{
    char text[UNITS_TEXT_SIZE];

    ck_assert_str_eq(units_format_size(sizes[_i].size, text), sizes[_i].text);
}
END_TEST

Suite *units_suite(void)
{
    Suite *suite = suite_create("base/units");
    TCase *parse = pure_case("parse");
    TCase *format = pure_case("format");

    tcase_add_loop_test(parse, a_duration_is_exact, 0, COUNT_OF(durations));
    tcase_add_loop_test(parse, any_other_duration_is_refused_with_a_reason, 0, COUNT_OF(refused));
    tcase_add_loop_test(parse, a_size_is_a_multiple_of_1024, 0, COUNT_OF(parsed_sizes));
    tcase_add_loop_test(parse, any_other_size_is_refused_with_a_reason, 0, COUNT_OF(refused_sizes));
    tcase_add_loop_test(parse, a_rate_is_so_many_in_a_period, 0, COUNT_OF(rates));
    tcase_add_loop_test(parse, a_rate_is_written_as_it_was_read, 0, COUNT_OF(rates));
    tcase_add_loop_test(parse, any_other_rate_is_refused_with_a_reason, 0, COUNT_OF(refused_rates));
    suite_add_tcase(suite, parse);

    tcase_add_loop_test(format, a_duration_is_shown_in_its_largest_two_units, 0,
                        COUNT_OF(formatted));
    tcase_add_loop_test(format, a_size_is_shown_with_one_decimal, 0, COUNT_OF(sizes));
    suite_add_tcase(suite, format);
    return suite;
}

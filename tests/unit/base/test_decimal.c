/*
 * test_decimal.c - numbers as they are written: compared exactly.
 */
#include "base/decimal.h"
#include "suites.h"

#include <string.h>

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const unsigned char *)text, strlen(text)};
}

static const struct {
    const char *rule;
    const char *a, *b;
    int order;
} pairs[] = {
    {"small ones", "1", "2", -1},
    {"more digits are more", "9", "10", -1},
    {"signs first", "-5", "3", -1},
    {"below zero it is the other way round", "-5", "-3", -1},
    {"zero has no sign", "-0", "0", 0},
    {"nor an exponent", "0e99", "0.000", 0},
    {"zero is less than anything positive", "0", "1e-999", -1},
    {"and more than anything negative", "0", "-1e-999", 1},
    {"a fraction that is whole", "1.0", "1", 0},
    {"zeros at the end do not count", "1.500", "1.5", 0},
    {"nor those of a whole number", "100", "1e2", 0},
    {"a dot moves with the exponent", "12.34e-1", "1.234", 0},
    {"a dot before the first digit", "0.00123", "123E-5", 0},
    {"a tenth is a tenth", "0.1", "0.10000000000000000001", -1},
    {"a plus", "1e+3", "1000", 0},
    {"beyond 64 bits", "18446744073709551616", "18446744073709551617", -1},
    {"and what is equal there", "18446744073709551616", "1.8446744073709551616e19", 0},
    {"forty digits", "1234567890123456789012345678901234567890",
     "1234567890123456789012345678901234567891", -1},
    {"beyond what a double can hold", "1e400", "2e400", -1},
    {"and below it", "1e-400", "1e-401", 1},
    {"one is the start of the other", "1.2", "1.25", -1},
    {"digits on both sides of the dot", "10.01", "10.1", -1},
    {"an exponent of many digits", "1e99999999999999999999999", "1e999", 1},
    {"negative, too", "1e-99999999999999999999999", "1e-999", -1},
};

static int sign(int number)
{
    return (number > 0) - (number < 0);
}

START_TEST(numbers_are_compared_by_value)
{
    const struct bytes a = bytes_of(pairs[_i].a), b = bytes_of(pairs[_i].b);

    ck_assert_msg(sign(decimal_compare(a, b)) == pairs[_i].order, "%s", pairs[_i].rule);
    ck_assert_msg(sign(decimal_compare(b, a)) == -pairs[_i].order, "%s", pairs[_i].rule);
}
END_TEST

static const struct {
    const char *number;
    bool is_whole, is_count;
    size_t count;
} wholes[] = {
    {"0", true, true, 0},
    {"-0", true, true, 0},
    {"-0.0", true, true, 0},
    {"1", true, true, 1},
    {"1.0", true, true, 1},
    {"120", true, true, 120},
    {"1.20e2", true, true, 120},
    {"0.5e1", true, true, 5},
    {"-1", true, false, 0},
    {"1.5", false, false, 0},
    {"0.001", false, false, 0},
    {"15e-1", false, false, 0},
    {"100e-2", true, true, 1},
    {"18446744073709551615", true, true, SIZE_MAX},
    {"18446744073709551614", true, true, SIZE_MAX - 1},
    {"18446744073709551616", true, true, SIZE_MAX},
    {"1e999999999999999999999", true, true, SIZE_MAX},
    {"98249283749234923498293171823948729348710298301928331", true, true, SIZE_MAX},
};

START_TEST(whole_numbers_are_known_however_they_are_written)
{
    const struct bytes number = bytes_of(wholes[_i].number);
    size_t count = 0;

    ck_assert_msg(decimal_is_whole(number) == wholes[_i].is_whole, "%s", wholes[_i].number);
    ck_assert_msg(decimal_to_count(number, &count) == wholes[_i].is_count, "%s", wholes[_i].number);
    ck_assert_msg(count == wholes[_i].count, "%s is %zu", wholes[_i].number, count);
}
END_TEST

Suite *decimal_suite(void)
{
    Suite *suite = suite_create("base/decimal");
    TCase *value = pure_case("value");

    tcase_add_loop_test(value, numbers_are_compared_by_value, 0, COUNT_OF(pairs));
    tcase_add_loop_test(value, whole_numbers_are_known_however_they_are_written, 0,
                        COUNT_OF(wholes));
    suite_add_tcase(suite, value);
    return suite;
}

/*
 * decimal.c - numbers as they are written: compared exactly, however long they are.
 *
 * Zeros at both ends of the digits are left out of the view. What is left is unique to a value,
 * except for the place of the dot among the digits, which readers of digits step over.
 */
#include "base/decimal.h"

#include <string.h>

#define EXPONENT_MAX INT64_C(1000000000000000)

/* 0.DIGITS times ten to the power of `point`. Zero has no digits. */
struct decimal {
    bool is_negative;
    const unsigned char *first, *end; /* the digits; a dot may be among them */
    int64_t digits;                   /* how many */
    int64_t point;
};

/* What follows the e. */
static int64_t read_exponent(const unsigned char *at, const unsigned char *end)
{
    const bool is_negative = at < end && *at == '-';
    int64_t exponent = 0;

    if (at < end && (*at == '-' || *at == '+'))
        at++;
    for (; at < end && exponent < EXPONENT_MAX; at++)
        exponent = exponent * 10 + (*at - '0');
    if (exponent > EXPONENT_MAX)
        exponent = EXPONENT_MAX;
    return is_negative ? -exponent : exponent;
}

static const unsigned char *find_exponent(const unsigned char *at, const unsigned char *end)
{
    while (at < end && *at != 'e' && *at != 'E')
        at++;
    return at;
}

static bool is_padding(unsigned char c)
{
    return c == '0' || c == '.';
}

static struct decimal read_decimal(struct bytes number)
{
    const unsigned char *const end = number.data + number.length;
    struct decimal decimal = {.is_negative = number.length > 0 && number.data[0] == '-'};
    const unsigned char *const start = number.data + (decimal.is_negative ? 1 : 0);
    const unsigned char *const mantissa_end = find_exponent(start, end);
    const unsigned char *dot = memchr(start, '.', (size_t)(mantissa_end - start));

    decimal.first = start;
    decimal.end = mantissa_end;
    while (decimal.first < decimal.end && is_padding(*decimal.first))
        decimal.first++;
    while (decimal.first < decimal.end && is_padding(decimal.end[-1]))
        decimal.end--;
    if (decimal.first == decimal.end)
        return (struct decimal){0};

    if (!dot)
        dot = mantissa_end;
    decimal.digits = decimal.end - decimal.first - (decimal.first < dot && dot < decimal.end);
    decimal.point = dot - decimal.first + (decimal.first < dot ? 0 : 1);
    if (mantissa_end < end)
        decimal.point += read_exponent(mantissa_end + 1, end);
    return decimal;
}

/* The next digit, or -1 after the last. */
static int take_digit(const unsigned char **at, const unsigned char *end)
{
    if (*at < end && **at == '.')
        (*at)++;
    return *at < end ? *(*at)++ - '0' : -1;
}

static int compare_digits(const struct decimal *a, const struct decimal *b)
{
    const unsigned char *a_at = a->first, *b_at = b->first;
    int a_digit, b_digit;

    do {
        a_digit = take_digit(&a_at, a->end);
        b_digit = take_digit(&b_at, b->end);
    } while (a_digit == b_digit && a_digit >= 0);
    return a_digit - b_digit;
}

/* Both have digits. */
static int compare_sizes(const struct decimal *a, const struct decimal *b)
{
    if (a->point != b->point)
        return a->point < b->point ? -1 : 1;
    return compare_digits(a, b);
}

static int sign_of(const struct decimal *decimal)
{
    if (decimal->digits == 0)
        return 0;
    return decimal->is_negative ? -1 : 1;
}

int decimal_compare(struct bytes a, struct bytes b)
{
    const struct decimal left = read_decimal(a), right = read_decimal(b);
    const int sign = sign_of(&left);

    if (sign != sign_of(&right))
        return sign - sign_of(&right);
    return sign == 0 ? 0 : sign * compare_sizes(&left, &right);
}

bool decimal_is_whole(struct bytes number)
{
    const struct decimal decimal = read_decimal(number);

    return decimal.digits <= decimal.point || decimal.digits == 0;
}

bool decimal_to_count(struct bytes number, size_t *count_out)
{
    const struct decimal decimal = read_decimal(number);
    const unsigned char *at = decimal.first;
    size_t count = 0;

    if (decimal.digits > 0 && (decimal.is_negative || decimal.digits > decimal.point))
        return false;
    for (int64_t i = 0; i < decimal.point && count < SIZE_MAX; i++) {
        const int digit = take_digit(&at, decimal.end);
        const size_t added = digit > 0 ? (size_t)digit : 0;

        count = count > (SIZE_MAX - added) / 10 ? SIZE_MAX : count * 10 + added;
    }
    *count_out = count;
    return true;
}

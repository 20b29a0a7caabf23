/*
 * test_random.c - unpredictable bytes from the kernel.
 *
 * Chance could make these fail, less than once in 2^60 runs.
 */
#include "base/cleanup.h"
#include "base/random.h"
#include "suites.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

/* Takes long enough to be interrupted. */
#define PLENTY ((size_t)16 * 1024 * 1024)

static void ignore_signal(int number)
{
    (void)number;
}

/* Makes getrandom() return with less than it was asked for. */
static void be_interrupted_often(void)
{
    const struct sigaction action = {.sa_handler = ignore_signal};
    const struct itimerval often = {{0, 500}, {0, 500}};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

START_TEST(no_two_draws_are_alike)
{
    unsigned char first[16], second[16];

    random_bytes(first, sizeof first);
    random_bytes(second, sizeof second);
    ck_assert_mem_ne(first, second, sizeof first);
}
END_TEST

START_TEST(all_bytes_asked_for_are_filled_and_no_other)
{
    static const unsigned char zeros[16];
    AUTO_FREE unsigned char *data = calloc(1, PLENTY + 1);

    ck_assert_ptr_nonnull(data);
    be_interrupted_often();
    random_bytes(data, PLENTY);
    ck_assert_mem_ne(data, zeros, sizeof zeros);
    ck_assert_mem_ne(data + PLENTY - sizeof zeros, zeros, sizeof zeros);
    ck_assert_uint_eq(data[PLENTY], 0);
}
END_TEST

START_TEST(a_single_byte_is_random)
{
    unsigned char all = 0, byte = 0;

    for (int i = 0; i < 100; i++) {
        random_bytes(&byte, 1);
        all |= byte;
    }
    ck_assert_uint_eq(all, 0xFF);
}
END_TEST

START_TEST(a_unit_is_uniform_from_0_to_below_1)
{
    enum { DRAWS = 20000, PARTS = 10 };
    int draws[PARTS] = {0};

    for (int i = 0; i < DRAWS; i++) {
        const double unit = random_unit();

        if (unit < 0 || unit >= 1)
            ck_abort_msg("%g is not in [0, 1)", unit);
        draws[(int)(unit * PARTS)]++;
    }
    /* 2000 expected with a standard deviation of 42. */
    for (int i = 0; i < PARTS; i++)
        ck_assert_msg(draws[i] > 1600 && draws[i] < 2400, "%d draws in part %d", draws[i], i);
}
END_TEST

Suite *random_suite(void)
{
    Suite *suite = suite_create("base/random");
    TCase *draws = tcase_create("draws");

    tcase_add_test(draws, no_two_draws_are_alike);
    tcase_add_test(draws, all_bytes_asked_for_are_filled_and_no_other);
    tcase_add_test(draws, a_single_byte_is_random);
    tcase_add_test(draws, a_unit_is_uniform_from_0_to_below_1);
    suite_add_tcase(suite, draws);
    return suite;
}

/*
 * test_signal_name.c - signals with a name, and those without.
 */
#include "base/signal_name.h"
#include "suites.h"

#include <limits.h>
#include <signal.h>

static const struct {
    int number;
    const char *name;
} names[] = {
    {SIGKILL, "SIGKILL"},
    {SIGSEGV, "SIGSEGV"},
    {40, "signal 40"},
    {0, "signal 0"},
    {INT_MIN, "signal -2147483648"},
};

START_TEST(a_signal_is_called_by_its_name_or_its_number)
{
    char text[SIGNAL_NAME_SIZE];

    ck_assert_str_eq(signal_name(names[_i].number, text), names[_i].name);
}
END_TEST

Suite *signal_name_suite(void)
{
    Suite *suite = suite_create("base/signal_name");
    TCase *all = pure_case("names");

    tcase_add_loop_test(all, a_signal_is_called_by_its_name_or_its_number, 0, COUNT_OF(names));
    suite_add_tcase(suite, all);
    return suite;
}

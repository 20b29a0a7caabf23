#include "base/error.h"
#include "base/excerpt.h"
#include "base/timestamp.h"
#include "base/units.h"
#include "suites.h"

#include <string.h>

static const struct {
    const char *rule;
    const char *text;
    const char *shown;
} excerpts[] = {
    {"plain text stays", "email:send", "email:send"},
    {"nothing stays nothing", "", ""},
    {"an escape cannot steer the terminal", "a\033[31mb", "a\\x1b[31mb"},
    {"a line cannot be broken", "a\nb", "a\\x0ab"},
    {"what is not ASCII is shown as bytes", "\xc3\xa4", "\\xc3\\xa4"},
    {"44 characters fit", "12345678901234567890123456789012345678901234",
     "12345678901234567890123456789012345678901234"},
    {"more are cut", "123456789012345678901234567890123456789012345",
     "12345678901234567890123456789012345678901234..."},
    {"an escape is not cut in two", "1234567890123456789012345678901234567890123\n",
     "1234567890123456789012345678901234567890123..."},
};

START_TEST(an_excerpt_is_short_and_safe)
{
    char shown[EXCERPT_SIZE];

    excerpt_of(excerpts[_i].text, shown);
    ck_assert_msg(strcmp(shown, excerpts[_i].shown) == 0, "%s, not %s", excerpts[_i].rule, shown);
}
END_TEST

START_TEST(messages_about_times_and_durations_repeat_no_control_character)
{
    struct error err;
    usec_t value;

    ck_assert(!timestamp_parse("\033[2J", &value, &err));
    ck_assert_ptr_null(strchr(err.text, '\033'));
    ck_assert(!units_parse_duration("\033[2J", &value, &err));
    ck_assert_ptr_null(strchr(err.text, '\033'));
}
END_TEST

Suite *excerpt_suite(void)
{
    Suite *suite = suite_create("base/excerpt");
    TCase *safe = pure_case("safe");

    tcase_add_loop_test(safe, an_excerpt_is_short_and_safe, 0, COUNT_OF(excerpts));
    tcase_add_test(safe, messages_about_times_and_durations_repeat_no_control_character);
    suite_add_tcase(suite, safe);
    return suite;
}

/*
 * test_handler_match.c - which handler a type gets.
 */
#include "base/text.h"
#include "config/handler_match.h"
#include "suites.h"

static struct handler_config handlers[] = {
    {.pattern = "email:*"},         {.pattern = "email:send"},
    {.pattern = "email:send:*"},    {.pattern = "e*"},
    {.pattern = "report*"},         {.pattern = "report"},
    {.pattern = "email:send:bulk"},
};

static const struct {
    const char *rule;
    const char *type;
    const char *pattern; /* NULL: none */
} matches[] = {
    {"exactly this type", "email:send", "email:send"},
    {"an exact one after its prefix", "email:send:bulk", "email:send:bulk"},
    {"the longest prefix", "email:send:one", "email:send:*"},
    {"a shorter one", "email:receive", "email:*"},
    {"the shortest", "every:day", "e*"},
    {"a prefix matches itself", "email:", "email:*"},
    {"an exact type before a prefix as long", "report", "report"},
    {"an exact type is no prefix", "reports", "report*"},
    {"none", "thumbnail", NULL},
};

START_TEST(the_exact_type_wins_then_the_longest_prefix)
{
    const struct config config = {.handlers = handlers, .handler_count = COUNT_OF(handlers)};
    const struct handler_config *handler = handler_match(&config, matches[_i].type);

    ck_assert_msg(text_equal(handler ? handler->pattern : NULL, matches[_i].pattern), "%s, not %s",
                  matches[_i].rule, handler ? handler->pattern : "none");
}
END_TEST

START_TEST(a_star_alone_matches_what_nothing_else_does)
{
    struct handler_config any[] = {{.pattern = "*"}, {.pattern = "a*"}};
    const struct config config = {.handlers = any, .handler_count = COUNT_OF(any)};

    ck_assert_str_eq(handler_match(&config, "b")->pattern, "*");
    ck_assert_str_eq(handler_match(&config, "ab")->pattern, "a*");
}
END_TEST

START_TEST(without_handlers_there_is_none)
{
    const struct config config = {0};

    ck_assert_ptr_null(handler_match(&config, "a"));
}
END_TEST

Suite *handler_match_suite(void)
{
    Suite *suite = suite_create("config/handler_match");
    TCase *match = tcase_create("match");

    tcase_add_loop_test(match, the_exact_type_wins_then_the_longest_prefix, 0, COUNT_OF(matches));
    tcase_add_test(match, a_star_alone_matches_what_nothing_else_does);
    tcase_add_test(match, without_handlers_there_is_none);
    suite_add_tcase(suite, match);
    return suite;
}

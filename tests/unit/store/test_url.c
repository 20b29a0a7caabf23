#include "store/url.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "suites.h"

#include <string.h>

static const struct {
    const char *rule;
    const char *text;
    const char *scheme, *path, *shown;
} parsed[] = {
    {"a relative file", "sqlite:./jobs.db", "sqlite", "./jobs.db", "sqlite:./jobs.db"},
    {"an absolute one", "sqlite:/srv/jobs.db", "sqlite", "/srv/jobs.db", "sqlite:/srv/jobs.db"},
    {"nothing after the scheme", "memory:", "memory", "", "memory:"},
    {"escapes are decoded for the driver and shown as written", "sqlite:a%20b%25.db", "sqlite",
     "a b%.db", "sqlite:a%20b%25.db"},
    {"options do not belong to the path", "sqlite:x?synchronous=normal", "sqlite", "x",
     "sqlite:x?synchronous=normal"},
    {"a plus in the scheme", "redis+sentinel://h/0", "redis+sentinel", "//h/0",
     "redis+sentinel://h/0"},
    {"a user is no secret", "postgres://ada@host/db", "postgres", "//ada@host/db",
     "postgres://ada@host/db"},
    {"a password is", "postgres://ada:s3cret@host/db", "postgres", "//ada:s3cret@host/db",
     "postgres://ada:***@host/db"},
    {"also without a user", "redis://:s3cret@host:6379/0", "redis", "//:s3cret@host:6379/0",
     "redis://:***@host:6379/0"},
    {"also with an at sign or a colon in it", "postgres://ada:a@b:c@host/db", "postgres",
     "//ada:a@b:c@host/db", "postgres://ada:***@host/db"},
    {"a port is no secret", "redis://host:6379/0", "redis", "//host:6379/0", "redis://host:6379/0"},
    {"an at sign in a file is none either", "sqlite:///srv/a:b@c", "sqlite", "///srv/a:b@c",
     "sqlite:///srv/a:b@c"},
    {"secrets among the options are hidden", "postgres://h/d?password=x&sslmode=require",
     "postgres", "//h/d", "postgres://h/d?password=***&sslmode=require"},
    {"however they are spelt", "x://h?sslPassword=a&api_token=b&client_secret=c", "x", "//h",
     "x://h?sslPassword=***&api_token=***&client_secret=***"},
};

START_TEST(a_url_is_taken_apart_and_its_secrets_are_hidden)
{
    CLEANUP(url_done) struct store_url url = {0};
    struct error err;

    ck_assert_msg(url_parse(parsed[_i].text, &url, &err), "%s: %s", parsed[_i].rule, err.text);
    ck_assert_str_eq(url.text, parsed[_i].text);
    ck_assert_msg(text_equal(url.scheme, parsed[_i].scheme), "%s, not %s", parsed[_i].rule,
                  url.scheme);
    ck_assert_msg(text_equal(url.path, parsed[_i].path), "%s, not %s", parsed[_i].rule, url.path);
    ck_assert_msg(text_equal(url.shown, parsed[_i].shown), "%s, not %s", parsed[_i].rule,
                  url.shown);
}
END_TEST

static const struct {
    const char *text;
    const char *reason;
} refused[] = {
    {"", "has no scheme"},
    {"jobs.db", "has no scheme"},
    {"/srv/jobs.db", "has no scheme"},
    {":jobs.db", "has no scheme"},
    {"SQLite:jobs.db", "has no scheme"},
    {"sqlite:a%2", "two hex digits"},
    {"sqlite:a%zz", "two hex digits"},
    {"sqlite:a%00b", "two hex digits"},
    {"sqlite:a?b", "NAME=VALUE"},
    {"sqlite:a?=b", "NAME=VALUE"},
    {"sqlite:a?b=%", "two hex digits"},
    {"sqlite:a\nb", "control character"},
    {"postgres://ada:s3/cret@host/db", "write %2F for '/'"},
    {"redis://:s3/cret@host/0", "write %2F for '/'"},
};

START_TEST(a_broken_url_is_refused_with_the_reason)
{
    struct store_url url;
    struct error err;

    ck_assert(!url_parse(refused[_i].text, &url, &err));
    ck_assert_int_eq(err.code, TH_E_INVALID);
    ck_assert_msg(strstr(err.text, refused[_i].reason) != NULL, "%s, not %s", refused[_i].reason,
                  err.text);
}
END_TEST

START_TEST(a_refused_url_does_not_show_its_password)
{
    struct store_url url;
    struct error err;

    ck_assert(!url_parse("postgres://ada:s3cret@host/db?x", &url, &err));
    ck_assert_ptr_null(strstr(err.text, "s3cret"));
}
END_TEST

START_TEST(a_url_of_more_than_4096_bytes_is_refused)
{
    struct store_url url;
    struct error err;
    char text[4098];

    memset(text, 'a', sizeof text);
    memcpy(text, "sqlite:", 7);
    text[4096] = '\0';
    ck_assert(url_parse(text, &url, &err));
    url_done(&url);
    text[4096] = 'a';
    text[4097] = '\0';
    ck_assert(!url_parse(text, &url, &err));
}
END_TEST

START_TEST(options_are_decoded_and_found_by_name)
{
    CLEANUP(url_done) struct store_url url = {0};
    struct error err;

    ck_assert(url_parse("sqlite:x?a=1&b%20c=%26&d=", &url, &err));
    ck_assert_uint_eq(url.option_count, 3);
    ck_assert_str_eq(url_option(&url, "a"), "1");
    ck_assert_str_eq(url_option(&url, "b c"), "&");
    ck_assert_str_eq(url_option(&url, "d"), "");
    ck_assert_ptr_null(url_option(&url, "e"));
}
END_TEST

START_TEST(unknown_options_are_refused_with_the_nearest_match)
{
    static const char *const known[] = {"synchronous"};
    CLEANUP(url_done) struct store_url url = {0};
    struct error err;

    ck_assert(url_parse("sqlite:x?synchronos=full", &url, &err));
    ck_assert(!url_check_options(&url, known, COUNT_OF(known), &err));
    ck_assert_ptr_nonnull(strstr(err.text, "did you mean 'synchronous'?"));
}
END_TEST

Suite *url_suite(void)
{
    Suite *suite = suite_create("store/url");
    TCase *parse = tcase_create("parse");
    TCase *options = tcase_create("options");

    tcase_add_loop_test(parse, a_url_is_taken_apart_and_its_secrets_are_hidden, 0,
                        COUNT_OF(parsed));
    tcase_add_loop_test(parse, a_broken_url_is_refused_with_the_reason, 0, COUNT_OF(refused));
    tcase_add_test(parse, a_refused_url_does_not_show_its_password);
    tcase_add_test(parse, a_url_of_more_than_4096_bytes_is_refused);
    tcase_add_test(options, options_are_decoded_and_found_by_name);
    tcase_add_test(options, unknown_options_are_refused_with_the_nearest_match);
    suite_add_tcase(suite, parse);
    suite_add_tcase(suite, options);
    return suite;
}

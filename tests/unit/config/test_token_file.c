#include "base/digest.h"
#include "base/error.h"
#include "config/folder.h"
#include "config/token_file.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const struct {
    const char *rule;
    const char *text;
    const char *token; /* NULL: refused */
    const char *error; /* a part of it */
} files[] = {
    {"a line is a token", "secret\n", "secret", NULL},
    {"so is a line without its end", "secret", "secret", NULL},
    {"space around it is not part of it", "\n \tsecret \r\n\n", "secret", NULL},
    {"punctuation is", "a-._~+/=$!", "a-._~+/=$!", NULL},
    {"an empty file has none", "", NULL, "there is no token in 'token'"},
    {"nor has a blank one", " \n\t\r\n", NULL, "there is no token in 'token'"},
    {"two words are not one", "two words", NULL, "the token in 'token' cannot be sent"},
    {"neither are two lines", "one\ntwo\n", NULL, "the token in 'token' cannot be sent"},
    {"letters of no header are refused", "gehe\xc3\xaemnis", NULL, "cannot be sent"},
};

START_TEST(a_token_is_what_is_between_the_spaces)
{
    struct digest found, wanted;
    struct error err;

    folder_write("token", files[_i].text);
    ck_assert_int_eq(chmod("token", 0600), 0);
    const bool is_read = token_file_read("token", &found, &err);

    ck_assert_msg(is_read == (files[_i].token != NULL), "%s", files[_i].rule);
    if (!is_read) {
        ck_assert_msg(strstr(err.text, files[_i].error), "%s: %s", files[_i].rule, err.text);
        return;
    }
    const struct bytes token = {(const unsigned char *)files[_i].token, strlen(files[_i].token)};

    ck_assert(digest_of(token, &wanted));
    ck_assert_msg(digest_equal(&found, &wanted), "%s", files[_i].rule);
}
END_TEST

static const struct {
    mode_t mode;
    bool is_fine;
} modes[] = {
    {0600, true},  {0400, true},  {0700, true},  {0640, false},
    {0604, false}, {0620, false}, {0610, false}, {0644, false},
};

START_TEST(a_file_that_others_may_use_is_refused)
{
    struct digest digest;
    struct error err;

    folder_write("token", "secret\n");
    ck_assert_int_eq(chmod("token", modes[_i].mode), 0);
    ck_assert_msg(token_file_read("token", &digest, &err) == modes[_i].is_fine, "%o",
                  modes[_i].mode);
    if (!modes[_i].is_fine)
        ck_assert_str_eq(err.text, "others may use 'token': take that right (chmod 600)");
}
END_TEST

START_TEST(what_is_no_file_is_refused)
{
    struct digest digest;
    struct error err;

    ck_assert(!token_file_read("nothing", &digest, &err));
    ck_assert_str_eq(err.text, "'nothing': cannot be opened: No such file or directory");
    ck_assert(!token_file_read("/dev/zero", &digest, &err));
    ck_assert_str_eq(err.text, "'/dev/zero': cannot be opened: it is not a regular file");
}
END_TEST

static void write_tokens(const char *token, const char *read_token)
{
    folder_write("token", token);
    folder_write("read", read_token);
    ck_assert_int_eq(chmod("token", 0600), 0);
    ck_assert_int_eq(chmod("read", 0600), 0);
}

#define BOTH "http: {token_file: token, read_token_file: read}\n"

START_TEST(a_pool_has_its_tokens_and_tells_what_is_wrong_with_them)
{
    write_tokens("a\n", "b\n");
    folder_expect_to_run("two tokens", BOTH, "");
    write_tokens("a\n", "a\n");
    folder_expect_to_run("one token for both", BOTH,
                         "jobs.yaml:1:44: http.read_token_file: has the token of token_file, which "
                         "may do more than look: give it one of its own\n");
    folder_expect_for("who only asks needs neither", "http: {token_file: nothing}\n", "");
}
END_TEST

static const struct {
    const char *host;
    bool is_fine;
} hosts[] = {
    {"jobs.example.org", true},
    {"jobs.example.org:8443", true},
    {"[fd00::1]", true},
    {"10.0.0.5", true},
    {"https://jobs.example", false},
    {"jobs.example.org/prefix", false},
    {"*.example.org", false},
    {"two words", false},
};

START_TEST(a_host_is_a_name_with_nothing_around_it)
{
    char text[256], errors[512];

    snprintf(text, sizeof text, "http: {hosts: ['%s']}\n", hosts[_i].host);
    snprintf(errors, sizeof errors,
             "jobs.yaml:1:15: http.hosts: '%s' is not a name: write it as in jobs.example.org, "
             "without https:// and without a path\n",
             hosts[_i].host);
    folder_expect_for(hosts[_i].host, text, hosts[_i].is_fine ? "" : errors);
}
END_TEST

Suite *token_file_suite(void)
{
    Suite *suite = suite_create("config/token_file");
    TCase *tests = tcase_create("files");

    tcase_add_checked_fixture(tests, folder_setup, folder_teardown);
    tcase_add_loop_test(tests, a_token_is_what_is_between_the_spaces, 0, COUNT_OF(files));
    tcase_add_loop_test(tests, a_file_that_others_may_use_is_refused, 0, COUNT_OF(modes));
    tcase_add_test(tests, what_is_no_file_is_refused);
    tcase_add_test(tests, a_pool_has_its_tokens_and_tells_what_is_wrong_with_them);
    tcase_add_loop_test(tests, a_host_is_a_name_with_nothing_around_it, 0, COUNT_OF(hosts));
    suite_add_tcase(suite, tests);
    return suite;
}

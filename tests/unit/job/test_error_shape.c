/*
 * test_error_shape.c - errors that differ in what they are about only have one shape.
 */
#include "base/text.h"
#include "job/error_shape.h"
#include "suites.h"

#include <check.h>
#include <string.h>

static const struct {
    const char *rule, *error, *shape;
} rows[] = {
    {"words stay as they are", "connection refused", "connection refused"},
    {"nothing is nothing", "", ""},
    {"blank is nothing", " \n\t\n", ""},
    {"numbers go", "exit code 3 after 1.5 s: 10.0.0.7 is away", "exit code # after # s: # is away"},
    {"in words, too", "utf8 of row42b", "utf# of row#b"},
    {"addresses go", "segfault at 0x7ffe12 ip 00007f0a1c2b", "segfault at # ip #"},
    {"digests go, words of such letters do not", "commit 1a2b3c4d5e dead facade effaced",
     "commit # dead facade effaced"},
    {"ids go", "no job 0193f0a2-7c1d-7abc-8def-0123456789AB.", "no job #."},
    {"what is quoted goes", "no customer 'Ann' in \"New York\" as `it's'",
     "no customer '…' in \"…\" as `…'"},
    {"an apostrophe is no quote", "can't open, won't try: it's gone",
     "can't open, won't try: it's gone"},
    {"a quote without a partner stays", "unexpected \" in line", "unexpected \" in line"},
    {"paths go", "cannot open /srv/a b: no such file", "cannot open /… b: no such file"},
    {"of all kinds", "in src/main.c:12:3: ./x ../y ~/z C:\\Temp\\q https://a.example/b?c=1",
     "in /…: /… /… /… /… /…=#"},
    {"slashes of words stay", "I/O error: read/write timeout", "I/O error: read/write timeout"},
    {"spaces are one", "a \t b\r\n", "a b"},
    {"what a terminal would obey goes", "a\x1b[31mred\x7f", "a [#mred?"},
    {"what is not UTF-8 goes", "caf\xe9 \xc3\xa9", "caf? \xc3\xa9"},
    {"Python: the last line",
     "Traceback (most recent call last):\n  File \"/srv/mail.py\", line 12, in <module>\n"
     "    send(1)\nKeyError: 'customer 7'\n",
     "KeyError: '…'"},
    {"Python: the last of two",
     "Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: 1\n\n"
     "During handling of the above exception, another exception occurred:\n\n"
     "Traceback (most recent call last):\n  File \"a.py\", line 3\nOSError: [Errno 2] No such file",
     "OSError: [Errno #] No such file"},
    {"Java: the message, not its frames",
     "Exception in thread \"main\" java.lang.IllegalStateException: order 77\n"
     "\tat com.example.Mail.send(Mail.java:31)\n\tat com.example.Main.main(Main.java:9)\n",
     "Exception in thread \"…\" java.lang.IllegalStateException: order #"},
    {"Java: the last cause",
     "com.example.Failed: order 77\n\tat com.example.Mail.send(Mail.java:31)\n"
     "Caused by: java.net.ConnectException: Connection refused\n\tat java.base/x.y(Z.java:1)\n"
     "\t... 12 more\n",
     "Caused by: java.net.ConnectException: Connection refused"},
    {"Node: neither what it adds before nor after",
     "/srv/mail.js:3\n    throw new Error('boom')\n    ^\n\nError: ENOENT: no such file, open "
     "'/x'\n"
     "    at Object.openSync (node:fs:601:3) {\n  errno: -2,\n  path: '/x'\n}\n\nNode.js v18.19.0",
     "Error: ENOENT: no such file, open '…'"},
    {"Go: the panic",
     "panic: no order 7\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/a.go:5 +0x1d\nexit status 2",
     "panic: no order #"},
    {"Rust: what it said",
     "thread 'main' panicked at src/main.rs:2:5:\nno order 7\nnote: run with `RUST_BACKTRACE=1`",
     "no order #"},
    {"Ruby", "a.rb:1:in `send': no order 7 (RuntimeError)\n\tfrom a.rb:3:in `<main>'\n",
     "a.rb:#:in `…': no order # (RuntimeError)"},
    {"C", "mail: /etc/mail.conf:12: unknown key \"hots\"\n", "mail: /…: unknown key \"…\""},
    {"only frames are better than nothing", "  at here (a.js:1)\n", "at here (a.js:#)"},
    {"what gist left out says nothing",
     "begin\n[... 31337 bytes left out ...]\nValueError: no such customer 9",
     "ValueError: no such customer #"},
};

START_TEST(an_error_has_the_shape_of_its_kind)
{
    char shape[ERROR_SHAPE_SIZE];

    error_shape((struct bytes){(const unsigned char *)rows[_i].error, strlen(rows[_i].error)},
                shape);
    ck_assert_msg(strcmp(shape, rows[_i].shape) == 0, "%s: not \"%s\"", rows[_i].rule, shape);
}
END_TEST

/* Each repeated until it is far longer than a shape can be. */
static const char *const long_ones[] = {"x",  "\xe2\x82\xac", "'a' ", "/a/b ",
                                        "7 ", "\xff",         "'",    "\n"};

START_TEST(a_shape_has_an_end)
{
    char error[5000], shape[ERROR_SHAPE_SIZE];
    const size_t length = strlen(long_ones[_i]);

    for (size_t i = 0; i < sizeof error; i++)
        error[i] = long_ones[_i][i % length];
    error_shape((struct bytes){(const unsigned char *)error, sizeof error}, shape);
    ck_assert_uint_lt(strlen(shape), ERROR_SHAPE_SIZE);
    ck_assert(text_is_utf8((struct bytes){(const unsigned char *)shape, strlen(shape)}));
    if (strcmp(long_ones[_i], "\n") != 0)
        ck_assert_str_eq(shape + strlen(shape) - 3, "...");
}
END_TEST

START_TEST(nothing_at_all_has_no_shape)
{
    char shape[ERROR_SHAPE_SIZE] = "x";

    error_shape((struct bytes){0}, shape);
    ck_assert_str_eq(shape, "");
}
END_TEST

Suite *error_shape_suite(void)
{
    Suite *suite = suite_create("job/error_shape");
    TCase *shape = pure_case("shape");

    tcase_add_loop_test(shape, an_error_has_the_shape_of_its_kind, 0, COUNT_OF(rows));
    tcase_add_loop_test(shape, a_shape_has_an_end, 0, COUNT_OF(long_ones));
    tcase_add_test(shape, nothing_at_all_has_no_shape);
    suite_add_tcase(suite, shape);
    return suite;
}

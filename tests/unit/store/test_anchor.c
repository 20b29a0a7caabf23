#include "store/anchor.h"

#include "base/cleanup.h"
#include "suites.h"

#include <check.h>
#include <string.h>

static const struct {
    const char *rule, *url, *anchored;
} urls[] = {
    {"a URL without options stays", "redis://h/0", "redis://h/0"},
    {"so does one without paths", "redis://h/0?prefix=a&b", "redis://h/0?prefix=a&b"},
    {"a path begins at the folder", "rediss://h?cafile=ca.pem", "rediss://h?cafile=/a%26b/ca.pem"},
    {"from there", "rediss://h?cafile=././ca.pem", "rediss://h?cafile=/a%26b/ca.pem"},
    {"or above", "rediss://h?cafile=../ca.pem", "rediss://h?cafile=/a%26b/../ca.pem"},
    {"with its escapes", "rediss://h?cafile=c%3Fa", "rediss://h?cafile=/a%26b/c%3Fa"},
    {"an absolute one stays", "rediss://h?cafile=/ca.pem", "rediss://h?cafile=/ca.pem"},
    {"however it is written", "rediss://h?cafile=%2Fca.pem", "rediss://h?cafile=%2Fca.pem"},
    {"each of several begins there", "rediss://h?cert=c&x=y&key=k",
     "rediss://h?cert=/a%26b/c&x=y&key=/a%26b/k"},
    {"libpq's too", "postgres://h/d?sslmode=verify-full&sslrootcert=r&passfile=p",
     "postgres://h/d?sslmode=verify-full&sslrootcert=/a%26b/r&passfile=/a%26b/p"},
    {"but not the authorities of the system", "postgres://h/d?sslrootcert=system",
     "postgres://h/d?sslrootcert=system"},
    {"nor a key in a device", "postgres://h/d?sslkey=pkcs11:one",
     "postgres://h/d?sslkey=pkcs11:one"},
    {"what is empty or no pair is left to others", "rediss://h?cafile=&key&&",
     "rediss://h?cafile=&key&&"},
    {"an option that only begins so stays", "rediss://h?keys=k", "rediss://h?keys=k"},
};

START_TEST(paths_in_options_begin_at_a_folder)
{
    CLEANUP(buffer_done) struct buffer url = BUFFER(4096);

    anchor_url(urls[_i].url, "/a&b", &url);
    ck_assert_msg(strcmp(buffer_str(&url), urls[_i].anchored) == 0, "%s, not %s", urls[_i].rule,
                  buffer_str(&url));
}
END_TEST

START_TEST(without_a_folder_a_url_stays_as_it_is)
{
    CLEANUP(buffer_done) struct buffer url = BUFFER(4096);

    anchor_url("rediss://h?cafile=ca.pem", NULL, &url);
    ck_assert_str_eq(buffer_str(&url), "rediss://h?cafile=ca.pem");
}
END_TEST

Suite *anchor_suite(void)
{
    Suite *suite = suite_create("store/anchor");
    TCase *group = tcase_create("anchor");

    tcase_add_loop_test(group, paths_in_options_begin_at_a_folder, 0, COUNT_OF(urls));
    tcase_add_test(group, without_a_folder_a_url_stays_as_it_is);
    suite_add_tcase(suite, group);
    return suite;
}

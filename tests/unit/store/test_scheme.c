#include "store/scheme.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "store/store.h"
#include "suites.h"

#include <check.h>
#include <string.h>

static const struct {
    const char *rule, *url, *plain;
} urls[] = {
    {"ours stay", "postgres://h/d?x=a+b:c", "postgres://h/d?x=a+b:c"},
    {"SQLAlchemy's name a library", "postgresql+psycopg2://a:b@h/d", "postgresql://a:b@h/d"},
    {"any", "postgres+asyncpg://h/d?a=b", "postgres://h/d?a=b"},
    {"a plus may mean something", "redis+sentinel://h/m", "redis+sentinel://h/m"},
    {"what has no scheme stays", "jobs.db", "jobs.db"},
    {"nothing is nothing", "", ""},
};

START_TEST(a_url_is_read_as_our_drivers_know_it)
{
    CLEANUP(buffer_done) struct buffer url = BUFFER(4096);

    scheme_add_url(&url, urls[_i].url);
    ck_assert_msg(strcmp(buffer_str(&url), urls[_i].plain) == 0, "%s, not %s", urls[_i].rule,
                  buffer_str(&url));
}
END_TEST

static const struct {
    const char *url, *sentence;
} refusals[] = {
    {"postgress://h/d",
     "postgress://h/d: there is no backend 'postgress' (did you mean 'postgres'?)"},
    {"reddis://:sesame@h", "reddis://:***@h: there is no backend 'reddis' (did you mean 'redis'?)"},
    {"rediss+cluster://h", "rediss+cluster://h: there is no backend 'rediss+cluster': a cluster is "
                           "found by any of its nodes: write rediss://node:7000,node:7001"},
    {"unix:///redis.sock", "unix:///redis.sock: there is no backend 'unix': Redis is reached by "
                           "TCP alone: have it listen "
                           "on 127.0.0.1 and write redis://127.0.0.1:6379/0"},
    {"couch://h", "couch://h: this build has no backend 'couch' (it has sqlite:, memory:, "
                  "postgres:, postgresql:, redis:, redis+sentinel:, rediss:, rediss+sentinel:)"},
    {"127.0.0.1:6379", "backend URL: has no scheme; write sqlite:./jobs.db, for instance"},
};

START_TEST(a_scheme_that_nobody_has_is_answered_with_what_is_meant)
{
    struct error err = {0};

    ck_assert(!store_check_url(refusals[_i].url, NULL, &err));
    ck_assert_int_eq(err.code, TH_E_INVALID);
    ck_assert_str_eq(err.text, refusals[_i].sentence);
}
END_TEST

Suite *scheme_suite(void)
{
    Suite *suite = suite_create("store/scheme");
    TCase *group = tcase_create("scheme");

    tcase_add_loop_test(group, a_url_is_read_as_our_drivers_know_it, 0, COUNT_OF(urls));
    tcase_add_loop_test(group, a_scheme_that_nobody_has_is_answered_with_what_is_meant, 0,
                        COUNT_OF(refusals));
    suite_add_tcase(suite, group);
    return suite;
}

#include "store/postgres/net/conninfo.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "suites.h"

#include <check.h>
#include <string.h>

static const struct {
    const char *rule, *url, *conninfo;
} urls[] = {
    {"a URL without options is libpq's", "postgres://ada@host/db", "postgres://ada@host/db"},
    {"our option is taken out", "postgres://host/db?schema=jobs", "postgres://host/db"},
    {"the first of several", "postgres://host/db?schema=jobs&sslmode=require",
     "postgres://host/db?sslmode=require"},
    {"the last of several", "postgres://host/db?sslmode=require&schema=jobs",
     "postgres://host/db?sslmode=require"},
    {"one in between", "postgresql://h/d?a=1&schema=x&b=2", "postgresql://h/d?a=1&b=2"},
    {"several hosts stay as they are", "postgres://a:1,b:2/d?target_session_attrs=read-write",
     "postgres://a:1,b:2/d?target_session_attrs=read-write"},
    {"escapes stay as they are", "postgres://a%40b:c%3fd@h/d?options=-c%20x%3d1",
     "postgres://a%40b:c%3fd@h/d?options=-c%20x%3d1"},
    {"an option that only ends like ours stays", "postgres://h/d?myschema=x",
     "postgres://h/d?myschema=x"},
};

START_TEST(libpq_gets_all_but_our_option)
{
    AUTO_FREE char *conninfo = pg_conninfo_make(urls[_i].url);

    ck_assert_msg(strcmp(conninfo, urls[_i].conninfo) == 0, "%s, not %s", urls[_i].rule, conninfo);
}
END_TEST

static const struct {
    const char *rule, *url, *schema;
} schemas[] = {
    {"the default", "postgres://h/d", "taskharbor"},
    {"a name", "postgres://h/d?schema=jobs_2", "jobs_2"},
    {"empty is none", "postgres://h/d?schema=", NULL},
    {"a quote is refused", "postgres://h/d?schema=a%22b", NULL},
    {"a semicolon is refused", "postgres://h/d?schema=a;drop", NULL},
    {"capitals would need quotes", "postgres://h/d?schema=Jobs", NULL},
    {"a digit in front would need quotes", "postgres://h/d?schema=1a", NULL},
    {"the server's own are not ours", "postgres://h/d?schema=pg_catalog", NULL},
    {"64 characters are too many",
     "postgres://h/d?schema=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     NULL},
};

START_TEST(a_schema_is_a_plain_name)
{
    CLEANUP(url_done) struct store_url url = {0};
    struct error err = {0};
    const char *schema = NULL;

    ck_assert_msg(url_parse(schemas[_i].url, &url, &err), "%s", err.text);
    bool fits = pg_conninfo_schema(&url, &schema, &err);
    ck_assert_msg(fits == (schemas[_i].schema != NULL), "%s", schemas[_i].rule);
    if (fits)
        ck_assert_str_eq(schema, schemas[_i].schema);
    else
        ck_assert_int_eq(err.code, TH_E_INVALID);
}
END_TEST

static const struct {
    const char *rule, *url, *words; /* NULL: it is fine */
} checks[] = {
    {"libpq's options are fine", "postgres://h/d?sslmode=require&connect_timeout=3&schema=x", NULL},
    {"several hosts are fine", "postgresql://a,b:5433/d?target_session_attrs=any", NULL},
    {"an unknown option is named", "postgres://h/d?schemas=x", "knows the option 'schemas'"},
    {"no host, no user, no database is fine", "postgres://", NULL},
    {"something else is not", "postgres:jobs", "write postgres://user@host/database"},
};

START_TEST(a_url_that_libpq_does_not_know_is_refused_in_our_words)
{
    CLEANUP(url_done) struct store_url url = {0};
    struct error err = {0};

    ck_assert_msg(url_parse(checks[_i].url, &url, &err), "%s", err.text);
    bool fits = pg_conninfo_check(&url, &err);
    ck_assert_msg(fits == (!checks[_i].words), "%s: %s", checks[_i].rule, err.text);
    if (!fits)
        ck_assert_msg(strstr(err.text, checks[_i].words) != NULL, "%s", err.text);
}
END_TEST

START_TEST(a_refusal_does_not_show_the_password)
{
    CLEANUP(url_done) struct store_url url = {0};
    struct error err = {0};

    ck_assert(url_parse("postgres://ada:sesame@[h/d?password=sesame", &url, &err));
    ck_assert(!pg_conninfo_check(&url, &err));
    ck_assert_msg(!strstr(err.text, "sesame"), "%s", err.text);
}
END_TEST

Suite *conninfo_suite(void)
{
    Suite *suite = suite_create("store/conninfo");
    TCase *group = tcase_create("conninfo");

    tcase_add_loop_test(group, libpq_gets_all_but_our_option, 0, COUNT_OF(urls));
    tcase_add_loop_test(group, a_schema_is_a_plain_name, 0, COUNT_OF(schemas));
    tcase_add_loop_test(group, a_url_that_libpq_does_not_know_is_refused_in_our_words, 0,
                        COUNT_OF(checks));
    tcase_add_test(group, a_refusal_does_not_show_the_password);
    suite_add_tcase(suite, group);
    return suite;
}

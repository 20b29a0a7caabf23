#include "client/pool_find.h"

#include "base/error.h"
#include "store/store.h"
#include "suites.h"

static struct pool pools[] = {
    {.name = "mail.8af3"}, {.name = "mail2.77aa"}, {.name = "web.1111"},
    {.name = "web.2222"},  {.name = "web.2223"},   {.name = "host-7-4711"},
};
static const struct pool_list all = {.items = pools, .count = COUNT_OF(pools)};
static const struct pool_list none = {0};

static const struct {
    const char *rule, *name;
    const struct pool_list *pools;
    const char *found; /* or what is said */
    enum th_error_code code;
} cases[] = {
    {"a whole name", "web.1111", &all, "web.1111", TH_OK},
    {"a name without its random end, though another begins so", "mail", &all, "mail.8af3", TH_OK},
    {"a beginning that only one has", "mail2", &all, "mail2.77aa", TH_OK},
    {"a beginning that goes into the random end", "web.1", &all, "web.1111", TH_OK},
    {"a name that has no random end", "host", &all, "host-7-4711", TH_OK},
    {"a beginning that several have", "web.222", &all,
     "pool 'web.222' may be each of: web.2222, web.2223", TH_E_CONFLICT},
    {"a name that several have", "web", &all,
     "pool 'web' may be each of: web.1111, web.2222, web.2223", TH_E_CONFLICT},
    {"a name that none has", "wbe", &all,
     "pool 'wbe' is not there; there are: mail.8af3, mail2.77aa, web.1111, web.2222, web.2223, "
     "host-7-4711",
     TH_E_NOT_FOUND},
    {"where there is none", "web", &none, "pool 'web' is not there: none is", TH_E_NOT_FOUND},
};

START_TEST(a_pool_is_found_by_what_people_call_it)
{
    const struct pool *pool = NULL;
    struct error err = {0};
    const bool found = pool_find(cases[_i].pools, cases[_i].name, &pool, &err);

    ck_assert_msg(found == (cases[_i].code == TH_OK), "%s: %s", cases[_i].rule, err.text);
    ck_assert_str_eq(found ? pool->name : err.text, cases[_i].found);
    if (!found)
        ck_assert_int_eq(err.code, cases[_i].code);
}
END_TEST

START_TEST(of_many_pools_only_some_are_named)
{
    struct pool many[12];
    const struct pool_list list = {.items = many, .count = COUNT_OF(many)};
    const struct pool *pool = NULL;
    struct error err = {0};

    for (size_t i = 0; i < COUNT_OF(many); i++)
        many[i] = (struct pool){.name = "p"};
    ck_assert(!pool_find(&list, "x", &pool, &err));
    ck_assert_str_eq(err.text, "pool 'x' is not there; there are: p, p, p, p, p, p, p, p, p, p and "
                               "2 more");
}
END_TEST

Suite *pool_find_suite(void)
{
    Suite *suite = suite_create("client/pool_find");
    TCase *find = pure_case("find");

    tcase_add_loop_test(find, a_pool_is_found_by_what_people_call_it, 0, COUNT_OF(cases));
    tcase_add_test(find, of_many_pools_only_some_are_named);
    suite_add_tcase(suite, find);
    return suite;
}

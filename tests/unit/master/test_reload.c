#include "base/error.h"
#include "base/text.h"
#include "config/config.h"
#include "master/reload.h"
#include "suites.h"

#define SEATS 20

static const struct {
    const char *rule;
    const char *pool_id;
    int num_workers;
    const char *error; /* NULL: it is possible */
} changes[] = {
    {"the same is possible", "web", 4, NULL},
    {"fewer workers are", "web", 1, NULL},
    {"more are, as far as there are seats", "web", SEATS, NULL},
    {"and no further", "web", SEATS + 1,
     "pool.num_workers can grow to 20 while thd runs, not to 21: restart it"},
    {"a pool keeps its name", "mail", 4, "pool.pool_id cannot change while thd runs: restart it"},
};

START_TEST(what_cannot_change_is_refused)
{
    const struct config from = {.pool = {.pool_id = "web", .num_workers = 4}};
    const struct config to = {
        .pool = {.pool_id = changes[_i].pool_id, .num_workers = changes[_i].num_workers}};
    struct error err = {.text = ""};
    const bool is_possible = reload_is_possible(&from, &to, SEATS, &err);

    ck_assert_msg(is_possible == (changes[_i].error == NULL), "%s", changes[_i].rule);
    if (!is_possible)
        ck_assert_str_eq(err.text, changes[_i].error);
}
END_TEST

Suite *reload_suite(void)
{
    Suite *suite = suite_create("master/reload");
    TCase *checks = tcase_create("checks");

    tcase_add_loop_test(checks, what_cannot_change_is_refused, 0, COUNT_OF(changes));
    suite_add_tcase(suite, checks);
    return suite;
}

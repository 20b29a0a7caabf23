#include "base/error.h"
#include "base/text.h"
#include "config/config.h"
#include "master/reload.h"
#include "suites.h"

#define SEATS 20
#define JOBS  64

static const struct {
    const char *rule;
    const char *pool_id;
    int num_workers, concurrency;
    const char *error; /* NULL: it is possible */
} changes[] = {
    {"the same is possible", "web", 4, 1, NULL},
    {"fewer workers are", "web", 1, 1, NULL},
    {"more are, as far as there are seats", "web", SEATS, 1, NULL},
    {"and no further", "web", SEATS + 1, 1,
     "pool.num_workers can grow to 20 while thd runs, not to 21: restart it"},
    {"a resident may have more jobs, as far as there are places", "web", 4, JOBS, NULL},
    {"and no further", "web", 4, JOBS + 1,
     "handlers.report.concurrency can grow to 64 while thd runs, not to 65: restart it"},
    {"a pool keeps its name", "mail", 4, 1,
     "pool.pool_id cannot change while thd runs: restart it"},
};

START_TEST(what_cannot_change_is_refused)
{
    const struct config from = {.pool = {.pool_id = "web", .num_workers = 4}};
    struct handler_config handler = {.pattern = "report", .concurrency = changes[_i].concurrency};
    const struct config to = {
        .pool = {.pool_id = changes[_i].pool_id, .num_workers = changes[_i].num_workers},
        .handlers = &handler,
        .handler_count = 1};
    struct error err = {.text = ""};
    const bool is_possible = reload_is_possible(&from, &to, SEATS, JOBS, &err);

    ck_assert_msg(is_possible == !changes[_i].error, "%s", changes[_i].rule);
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

#include "client/offers.h"

#include "suites.h"

static struct pool_queue web_queues[] = {{.name = "default"}, {.name = "mail"}};
static struct pool_handler web_handlers[] = {{.pattern = "email:*", .max_attempts = 4},
                                             {.pattern = "email:send", .max_attempts = 10}};
static struct pool_queue batch_queues[] = {{.name = "batch"}};
static struct pool_handler batch_handlers[] = {{.pattern = "report", .max_attempts = 2},
                                               {.pattern = "email:send:*", .max_attempts = 7}};

enum { WEB, BATCH, SILENT_ABOUT_ALL, POOLS };

/* The last one has not said yet what it offers. */
static struct pool_status pools[POOLS];

static void introduce(void)
{
    pools[WEB] = (struct pool_status){.queues = web_queues,
                                      .queue_count = COUNT_OF(web_queues),
                                      .handlers = web_handlers,
                                      .handler_count = COUNT_OF(web_handlers)};
    pools[BATCH] = (struct pool_status){.queues = batch_queues,
                                        .queue_count = COUNT_OF(batch_queues),
                                        .handlers = batch_handlers,
                                        .handler_count = COUNT_OF(batch_handlers)};
}

static const struct {
    const char *rule;
    size_t pools;
    const char *queue, *type;
    enum offers_gap gap;
} gaps[] = {
    {"without a pool nothing runs", 0, "default", "email:send", OFFERS_NO_POOL},
    {"a queue that nobody serves is a gap", 2, "mial", "email:send", OFFERS_NO_QUEUE},
    {"a type that nobody handles is one", 2, "default", "emial", OFFERS_NO_HANDLER},
    {"so is one that only a pool of another queue handles", 2, "default", "report",
     OFFERS_NO_HANDLER},
    {"a prefix is enough", 2, "mail", "email:x", OFFERS_NO_GAP},
    {"any pool of the queue is enough", 2, "batch", "report", OFFERS_NO_GAP},
    {"one that has not spoken may offer anything", 3, "mial", "emial", OFFERS_NO_GAP},
};

START_TEST(what_a_job_would_wait_for_is_seen)
{
    introduce();
    const struct offers offers = {.pools = pools, .count = gaps[_i].pools};

    ck_assert_msg(offers_gap(&offers, gaps[_i].queue, gaps[_i].type) == gaps[_i].gap, "%s",
                  gaps[_i].rule);
}
END_TEST

static const struct {
    const char *rule;
    const char *queue, *type;
    int max_attempts; /* 0: no handler */
} handlers[] = {
    {"the exact one beats the prefix", "mail", "email:send", 10},
    {"the prefix has the others", "mail", "email:receive", 4},
    {"pools of other queues do not count", "mail", "email:send:now", 4},
    {"nobody handles it", "mail", "report", 0},
};

START_TEST(the_best_handler_of_the_queue_is_found)
{
    introduce();
    const struct offers offers = {.pools = pools, .count = 2};
    const struct pool_handler *handler =
        offers_handler(&offers, handlers[_i].queue, handlers[_i].type);

    ck_assert_msg((handler ? handler->max_attempts : 0) == handlers[_i].max_attempts, "%s",
                  handlers[_i].rule);
}
END_TEST

START_TEST(misspelt_names_are_recognised)
{
    introduce();
    struct offers offers = {.pools = pools, .count = 2};

    ck_assert_str_eq(offers_closest_queue(&offers, "mial"), "mail");
    ck_assert_str_eq(offers_closest_type(&offers, "emial:send"), "email:send");
    ck_assert_ptr_null(offers_closest_queue(&offers, "something else"));
    arena_done(&offers.arena);
}
END_TEST

Suite *offers_suite(void)
{
    Suite *suite = suite_create("client/offers");
    TCase *offers = pure_case("offers");

    tcase_add_loop_test(offers, what_a_job_would_wait_for_is_seen, 0, COUNT_OF(gaps));
    tcase_add_loop_test(offers, the_best_handler_of_the_queue_is_found, 0, COUNT_OF(handlers));
    tcase_add_test(offers, misspelt_names_are_recognised);
    suite_add_tcase(suite, offers);
    return suite;
}

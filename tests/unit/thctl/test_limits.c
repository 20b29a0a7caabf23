#include "thctl/limits.h"

#include "suites.h"

static struct pool_queue queues[] = {{.name = "default"}};
static struct pool_handler live_handlers[] = {
    {.pattern = "live", .max_attempts = 7, .timeout = 7 * USEC_PER_SEC},
    {.pattern = "both", .max_attempts = 7, .timeout = 7 * USEC_PER_SEC}};
static struct pool_status pool = {.queues = queues,
                                  .queue_count = COUNT_OF(queues),
                                  .handlers = live_handlers,
                                  .handler_count = COUNT_OF(live_handlers)};
static struct handler_config written_handlers[] = {
    {.pattern = "both", .max_attempts = 9, .max_stalls = 9},
    {.pattern = "written", .max_attempts = 9}};
static const struct config config = {.path = "jobs.yaml",
                                     .defaults = {.max_attempts = 5, .max_stalls = 5},
                                     .handlers = written_handlers,
                                     .handler_count = COUNT_OF(written_handlers)};
static const struct config no_config = {0};

static const struct {
    const char *rule;
    const char *type, *queue;
    int own; /* what the job says of max_attempts */
    const struct config *config;
    int max_attempts, max_stalls;
} cases[] = {
    {"the job's own value comes first", "both", "default", 2, &config, 2, 9},
    {"then that of the handler in a live pool", "both", "default", 0, &config, 7, 9},
    {"also without a config", "live", "default", 0, &no_config, 7, 3},
    {"of pools that serve the queue", "live", "other", 0, &no_config, 4, 3},
    {"then that of the handler in the config", "written", "default", 0, &config, 9, 5},
    {"then that of the config's defaults", "x", "default", 0, &config, 5, 5},
    {"then the default of all", "x", "default", 0, &no_config, 4, 3},
};

START_TEST(limits_are_resolved_as_a_pool_would)
{
    const struct offers offers = {.pools = &pool, .count = 1};
    struct job job = {
        .type = cases[_i].type, .queue = cases[_i].queue, .max_attempts = cases[_i].own};

    limits_fill(&job, &offers, cases[_i].config);
    ck_assert_msg(job.max_attempts == cases[_i].max_attempts, "%s, not %d", cases[_i].rule,
                  job.max_attempts);
    ck_assert_msg(job.max_stalls == cases[_i].max_stalls, "%s, not %d stalls", cases[_i].rule,
                  job.max_stalls);
}
END_TEST

Suite *limits_suite(void)
{
    Suite *suite = suite_create("thctl/limits");
    TCase *limits = pure_case("limits");

    tcase_add_loop_test(limits, limits_are_resolved_as_a_pool_would, 0, COUNT_OF(cases));
    suite_add_tcase(suite, limits);
    return suite;
}

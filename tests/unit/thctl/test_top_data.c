#include "thctl/top_data.h"

#include "suites.h"

#include <string.h>

#define NOW (1000 * USEC_PER_SEC)

static struct pool pool_named(const char *name, usec_t beat_at)
{
    static const char status[] = "{\"processes\":[{\"name\":\"dispatcher\",\"state\":\"running\"},"
                                 "{\"name\":\"worker 1\",\"state\":\"running\"},{\"name\":\"worker "
                                 "2\",\"state\":\"idle\"}]}";

    return (struct pool){.name = name,
                         .beat_at = beat_at,
                         .status = {(const unsigned char *)status, sizeof status - 1}};
}

/* A look at these pools and queues, which belong to the caller. */
static struct top_data arranged(struct pool *pools, size_t pool_count, struct queue_stats *queues,
                                size_t queue_count, usec_t seen_at)
{
    struct top_data data = {.now = NOW, .seen_at = seen_at};
    struct error err = {0};

    data.pool_list.items = pools;
    data.pool_list.count = pool_count;
    data.stats.items = queues;
    data.stats.count = queue_count;
    ck_assert_msg(top_data_arrange(&data, &err), "%s", err.text);
    return data;
}

static void release(struct top_data *data)
{
    arena_done(&data->arena);
}

START_TEST(workers_are_those_of_pools_that_are_heard)
{
    struct pool pools[] = {pool_named("a", NOW), pool_named("b", NOW - 61 * USEC_PER_SEC)};
    struct top_data data = arranged(pools, COUNT_OF(pools), NULL, 0, 1);

    ck_assert_uint_eq(data.pool_count, 2);
    ck_assert_uint_eq(data.worker_count, 2);
    ck_assert_uint_eq(data.totals.workers, 2);
    ck_assert_uint_eq(data.totals.busy, 1);
    ck_assert_str_eq(data.workers[1].process->name, "worker 2");
    release(&data);
}
END_TEST

static const struct {
    const char *rule;
    const char *name, *other;
    const char *label;
} labels[] = {
    {"what is random in a name is left out", "web.0e25e2db", "mail.91700a4b", "web"},
    {"unless that is all that tells two pools apart", "web.0e25e2db", "web.91700a4b",
     "web.0e25e2db"},
    {"a name without it stays", "web", "mail", "web"},
    {"a host keeps its domain", "vm.example.org-7.0e25e2db", "mail", "vm.example.org-7"},
    {"the start of a longer name is another one", "web.0e25e2db", "web-2.91700a4b", "web"},
    {"a name that begins with a dot is a name", ".web", "mail", ".web"},
};

START_TEST(workers_are_labelled_with_their_pool)
{
    struct pool pools[] = {pool_named(labels[_i].name, NOW), pool_named(labels[_i].other, NOW)};
    struct top_data data = arranged(pools, COUNT_OF(pools), NULL, 0, 1);

    ck_assert_msg(strcmp(data.workers[0].pool, labels[_i].label) == 0, "%s: %s", labels[_i].rule,
                  data.workers[0].pool);
    release(&data);
}
END_TEST

static const struct {
    const char *rule;
    usec_t before_at, after_at;
    int64_t before, after;
    double rate;
} rates[] = {
    {"a rate is per second", 1 * USEC_PER_SEC, 3 * USEC_PER_SEC, 100, 150, 25},
    {"also when less than a second has passed", USEC_PER_SEC, USEC_PER_SEC + 500000, 0, 10, 20},
    {"nothing done is a rate too", USEC_PER_SEC, 2 * USEC_PER_SEC, 7, 7, 0},
    {"a count that went back tells nothing", USEC_PER_SEC, 2 * USEC_PER_SEC, 7, 3,
     TOP_RATE_UNKNOWN},
    {"nor does the first look", 0, USEC_PER_SEC, 0, 100, TOP_RATE_UNKNOWN},
    {"nor do two looks at one moment", USEC_PER_SEC, USEC_PER_SEC, 0, 1, TOP_RATE_UNKNOWN},
};

START_TEST(rates_are_what_changed_between_two_looks)
{
    struct queue_stats then = {
        .queue = "q", .done_total = rates[_i].before, .failed_total = rates[_i].before};
    struct queue_stats now = {
        .queue = "q", .done_total = rates[_i].after, .failed_total = rates[_i].after};
    struct top_data before = arranged(NULL, 0, &then, 1, rates[_i].before_at);
    struct top_data after = arranged(NULL, 0, &now, 1, rates[_i].after_at);

    top_data_compare(&after, &before);
    ck_assert_msg(after.queues[0].done_rate == rates[_i].rate, "%s: %f", rates[_i].rule,
                  after.queues[0].done_rate);
    ck_assert_msg(after.queues[0].failed_rate == rates[_i].rate, "%s", rates[_i].rule);
    ck_assert_msg(after.totals.done_rate == rates[_i].rate, "%s", rates[_i].rule);
    release(&before);
    release(&after);
}
END_TEST

START_TEST(totals_are_the_sum_of_what_is_known)
{
    struct queue_stats then[] = {{.queue = "a", .done_total = 10}, {.queue = "b", .done_total = 9}};
    struct queue_stats now[] = {
        {.queue = "a", .done_total = 40, .jobs = {[JOB_READY] = 2, [JOB_DEAD] = 1}},
        {.queue = "b", .done_total = 3, .jobs = {[JOB_READY] = 5}},
        {.queue = "new", .done_total = 4},
    };
    struct top_data before = arranged(NULL, 0, then, COUNT_OF(then), USEC_PER_SEC);
    struct top_data after = arranged(NULL, 0, now, COUNT_OF(now), 3 * USEC_PER_SEC);

    top_data_compare(&after, &before);
    ck_assert_double_eq(after.totals.done_rate, 17);
    ck_assert_double_eq(after.totals.failed_rate, 0);
    ck_assert_double_eq(after.queues[2].done_rate, 2);
    ck_assert_int_eq(after.totals.jobs[JOB_READY], 7);
    ck_assert_int_eq(after.totals.jobs[JOB_DEAD], 1);
    release(&before);
    release(&after);
}
END_TEST

Suite *top_data_suite(void)
{
    Suite *suite = suite_create("thctl/top_data");
    TCase *data = pure_case("data");

    tcase_add_test(data, workers_are_those_of_pools_that_are_heard);
    tcase_add_loop_test(data, workers_are_labelled_with_their_pool, 0, COUNT_OF(labels));
    tcase_add_loop_test(data, rates_are_what_changed_between_two_looks, 0, COUNT_OF(rates));
    tcase_add_test(data, totals_are_the_sum_of_what_is_known);
    suite_add_tcase(suite, data);
    return suite;
}

#include "thctl/top_order.h"

#include "base/text.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>

static struct pool_process running = {
    .name = "worker 10", .state = "running", .since = 50, .type = "b"};
static struct pool_process running_longer = {
    .name = "worker 9", .state = "running", .since = 20, .type = "c"};
static struct pool_process idle = {.name = "worker 2", .state = "idle", .since = 10};

static struct queue_stats alpha = {.queue = "alpha",
                                   .oldest_ready = 30,
                                   .jobs = {[JOB_READY] = 5, [JOB_RUNNING] = 1, [JOB_DEAD] = 2}};
static struct queue_stats beta = {
    .queue = "beta", .oldest_ready = 20, .jobs = {[JOB_READY] = 5, [JOB_RUNNING] = 3}};
static struct queue_stats gamma_queue = {.queue = "gamma", .jobs = {[JOB_DEAD] = 7}};

static struct pool quiet = {.name = "quiet", .beat_at = 10};
static struct pool busy = {.name = "web", .beat_at = 90};
static struct pool_process workers_of_busy[] = {{.name = "worker 1", .state = "running"}};

/* Rows in an order that no order has. */
struct rows {
    struct pool_sight pools[2];
    struct top_worker workers[3];
    struct top_queue queues[3];
    struct top_data data;
};

static void rows_init(struct rows *rows)
{
    *rows = (struct rows){
        .pools = {{.pool = &busy, .status = {.processes = workers_of_busy, .process_count = 1}},
                  {.pool = &quiet}},
        .workers = {{"p", &idle}, {"p", &running}, {"p", &running_longer}},
        .queues = {{&gamma_queue, 0, TOP_RATE_UNKNOWN}, {&beta, 2, 0}, {&alpha, 9, 1}},
    };
    rows->data = (struct top_data){.pools = rows->pools,
                                   .pool_count = 2,
                                   .workers = rows->workers,
                                   .worker_count = 3,
                                   .queues = rows->queues,
                                   .queue_count = 3};
}

static const char *name_of(const struct rows *rows, enum top_section section, size_t i)
{
    if (section == TOP_POOLS)
        return rows->pools[i].pool->name;
    return section == TOP_WORKERS ? rows->workers[i].process->name : rows->queues[i].stats->queue;
}

static const struct {
    enum top_section section;
    const char *order;
    const char *rows[3];
} orders[] = {
    {TOP_POOLS, "POOL", {"quiet", "web"}},
    {TOP_POOLS, "WORKERS", {"web", "quiet"}},
    {TOP_POOLS, "LAST-BEAT", {"quiet", "web"}},
    {TOP_WORKERS, "FOR", {"worker 9", "worker 10", "worker 2"}},
    {TOP_WORKERS, "WORKER", {"worker 2", "worker 9", "worker 10"}},
    {TOP_WORKERS, "TYPE", {"worker 10", "worker 9", "worker 2"}},
    {TOP_QUEUES, "READY", {"alpha", "beta", "gamma"}},
    {TOP_QUEUES, "QUEUE", {"alpha", "beta", "gamma"}},
    {TOP_QUEUES, "RUNNING", {"beta", "alpha", "gamma"}},
    {TOP_QUEUES, "DEAD", {"gamma", "alpha", "beta"}},
    {TOP_QUEUES, "OLDEST", {"beta", "alpha", "gamma"}},
    {TOP_QUEUES, "DONE/S", {"alpha", "beta", "gamma"}},
    {TOP_QUEUES, "FAILED/S", {"alpha", "beta", "gamma"}},
};

static size_t number_of(enum top_section section, const char *name)
{
    size_t order = 0;

    while (order < top_order_count(section) && !text_equal(top_order_name(section, order), name))
        order++;
    ck_assert_msg(order < top_order_count(section), "there is no order %s", name);
    return order;
}

START_TEST(rows_stand_in_the_order_asked_for)
{
    const enum top_section section = orders[_i].section;
    struct rows rows;

    rows_init(&rows);
    top_order_sort(&rows.data, section, number_of(section, orders[_i].order));
    for (size_t i = 0; i < 3 && orders[_i].rows[i]; i++)
        ck_assert_msg(text_equal(name_of(&rows, section, i), orders[_i].rows[i]),
                      "by %s, row %zu is %s", orders[_i].order, i, name_of(&rows, section, i));
}
END_TEST

START_TEST(every_order_is_in_the_table_above)
{
    size_t count = 0;

    for (int section = TOP_POOLS; section < TOP_FAILURES; section++)
        count += top_order_count((enum top_section)section);
    ck_assert_uint_eq(count, COUNT_OF(orders));
}
END_TEST

START_TEST(nothing_can_be_sorted_too)
{
    struct top_data data = {0};

    for (int section = 0; section < TOP_SECTIONS; section++)
        top_order_sort(&data, (enum top_section)section, 0);
}
END_TEST

Suite *top_order_suite(void)
{
    Suite *suite = suite_create("thctl/top_order");
    TCase *order = pure_case("order");

    tcase_add_loop_test(order, rows_stand_in_the_order_asked_for, 0, COUNT_OF(orders));
    tcase_add_test(order, every_order_is_in_the_table_above);
    tcase_add_test(order, nothing_can_be_sorted_too);
    suite_add_tcase(suite, order);
    return suite;
}

/*
 * test_recent.c - what ran lately, from the meters of a pool to whoever adds up several.
 */
#include "periodic/recent.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "client/pool_recent.h"
#include "client/pool_status.h"
#include "process/meters.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>

#define NOW ((usec_t)1893553445123456) /* 2030-01-02T03:04:05.123456Z */

static void write_status(const struct meters *meters, usec_t now, struct buffer *out)
{
    struct json_writer json = {.out = out};

    json_write_open(&json, NULL, '{');
    recent_write(meters, now, &json);
    json_write_close(&json, '}');
}

static struct meters *open_meters(void)
{
    struct meters *meters = NULL;
    struct error err;

    ck_assert_msg(meters_open(&meters, &err), "%s", err.text);
    return meters;
}

static void run_type(struct meters *meters, const char *type, usec_t wall)
{
    const struct meters_run run = {.type = type,
                                   .queue = "default",
                                   .outcome = wall % 2 == 0 ? RUN_DONE : RUN_RETRY,
                                   .now = NOW,
                                   .wall = wall,
                                   .wait = 3};

    meters_add_run(meters, &run);
}

START_TEST(a_pool_tells_what_ran_lately)
{
    CLEANUP(buffer_done) struct buffer out = BUFFER(RECENT_LIMIT);
    struct meters *meters = open_meters();

    run_type(meters, "mail", 10);
    run_type(meters, "mail", 12);
    run_type(meters, "mail", 15);
    write_status(meters, NOW, &out);
    ck_assert_str_eq(buffer_str(&out),
                     "{\"recent\":{\"since\":\"2030-01-02T02:51:00.000000Z\",\"types\":[{\"type\":"
                     "\"mail\",\"done\":2,\"failed\":1,\"run\":[10,1,1,1,2,1],\"wait\":[3,3]}],"
                     "\"left_out\":0}}");
    meters_close(&meters);
}
END_TEST

START_TEST(one_in_which_nothing_ran_lately_says_nothing)
{
    CLEANUP(buffer_done) struct buffer out = BUFFER(RECENT_LIMIT);
    struct meters *meters = open_meters();

    run_type(meters, "mail", 10);
    write_status(meters, NOW + RECENT_RUNS_SPAN, &out);
    ck_assert_str_eq(buffer_str(&out), "{}");
    meters_close(&meters);
}
END_TEST

/* As wide as they get: many durations each. */
static void run_all(struct meters *meters, int types)
{
    char type[JOB_NAME_MAX + 1];

    for (int i = 0; i < types; i++) {
        snprintf(type, sizeof type, "%0*d", JOB_NAME_MAX, i);
        for (usec_t wall = 1; wall < USEC_PER_HOUR; wall *= 3)
            run_type(meters, type, wall);
        if (i >= types / 2)
            run_type(meters, type, 2);
    }
}

START_TEST(where_not_all_types_fit_those_that_ran_least_are_left_out)
{
    CLEANUP(buffer_done) struct buffer out = BUFFER(RECENT_LIMIT);
    CLEANUP(arena_done) struct arena arena = {0};
    struct meters *meters = open_meters();
    struct error err;

    run_all(meters, 200);
    write_status(meters, NOW, &out);
    ck_assert_msg(buffer_ok(&out, &err), "%s", err.text);
    ck_assert_uint_ge(out.length, RECENT_LIMIT * 9 / 10);
    const struct pool_status status =
        pool_status_read((struct bytes){(const unsigned char *)out.data, out.length}, &arena);
    const struct pool_recent recent = pool_recent_read(&status, &arena);

    ck_assert_uint_ge(recent.count, 20);
    for (size_t i = 0; i < recent.count; i++)
        ck_assert_str_ge(recent.types[i].type + JOB_NAME_MAX - 3, "100");
    meters_close(&meters);
}
END_TEST

static struct pool_recent read_text(const char *text, struct arena *arena)
{
    const struct pool_status status =
        pool_status_read((struct bytes){(const unsigned char *)text, strlen(text)}, arena);

    return pool_recent_read(&status, arena);
}

START_TEST(what_a_pool_tells_is_read)
{
    CLEANUP(arena_done) struct arena arena = {0};
    CLEANUP(buffer_done) struct buffer out = BUFFER(RECENT_LIMIT);
    struct meters *meters = open_meters();

    run_type(meters, "mail", 10);
    run_type(meters, "image", 11);
    write_status(meters, NOW, &out);
    const struct pool_recent recent = read_text(buffer_str(&out), &arena);

    ck_assert_int_eq(recent.since, recent_runs_since(NOW));
    ck_assert_uint_eq(recent.count, 2);
    ck_assert_str_eq(recent.types[1].type, "image");
    ck_assert_uint_eq(recent.types[1].failed, 1);
    ck_assert_int_eq(log_histogram_percentile(&recent.types[1].run, 0.5), 11);
    ck_assert_int_eq(log_histogram_percentile(&recent.types[1].wait, 0.5), 3);
    meters_close(&meters);
}
END_TEST

static const struct {
    const char *rule, *text;
    size_t count;
} others[] = {
    {"a pool of an older version says nothing", "{}", 0},
    {"or something else", "{\"recent\":17}", 0},
    {"or no list", "{\"recent\":{\"types\":{}}}", 0},
    {"a type has a name", "{\"recent\":{\"types\":[{\"done\":1},7,{\"type\":\"x\"}]}}", 1},
    {"and may have more than we know",
     "{\"recent\":{\"types\":[{\"type\":\"x\",\"done\":-1,\"run\":\"?\",\"new\":[1]}]}}", 1},
};

START_TEST(a_pool_of_another_version_is_read_as_far_as_it_goes)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct pool_recent recent = read_text(others[_i].text, &arena);

    ck_assert_msg(recent.count == others[_i].count, "%s", others[_i].rule);
    for (size_t i = 0; i < recent.count; i++) {
        ck_assert_uint_eq(recent.types[i].done, 0);
        ck_assert_uint_eq(log_histogram_count(&recent.types[i].run), 0);
    }
}
END_TEST

Suite *recent_suite(void)
{
    Suite *suite = suite_create("periodic/recent");
    TCase *status = tcase_create("status");

    tcase_add_test(status, a_pool_tells_what_ran_lately);
    tcase_add_test(status, one_in_which_nothing_ran_lately_says_nothing);
    tcase_add_test(status, where_not_all_types_fit_those_that_ran_least_are_left_out);
    tcase_add_test(status, what_a_pool_tells_is_read);
    tcase_add_loop_test(status, a_pool_of_another_version_is_read_as_far_as_it_goes, 0,
                        COUNT_OF(others));
    suite_add_tcase(suite, status);
    return suite;
}

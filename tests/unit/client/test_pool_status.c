#include "client/pool_status.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const unsigned char *)text, text ? strlen(text) : 0};
}

static void expect_offer(const struct pool_status *status)
{
    ck_assert_uint_eq(status->queue_count, 2);
    ck_assert_int_eq(status->queues[0].max_running, 0);
    ck_assert_ptr_null(status->queues[0].rate);
    ck_assert_str_eq(status->queues[1].name, "mail");
    ck_assert_int_eq(status->queues[1].weight, 3);
    ck_assert_int_eq(status->queues[1].max_running, 10);
    ck_assert_str_eq(status->queues[1].rate, "100/s");
    ck_assert_uint_eq(status->handler_count, 1);
    ck_assert_str_eq(status->handlers[0].pattern, "email:*");
    ck_assert_str_eq(status->handlers[0].kind, "plugin");
    ck_assert_int_eq(status->handlers[0].max_attempts, 4);
    ck_assert_int_eq(status->handlers[0].timeout, 1500 * USEC_PER_MSEC);
}

START_TEST(all_that_a_pool_says_is_read)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct pool_status status = pool_status_read(
        bytes_of(
            "{\"version\":\"0.1.0\",\"state\":\"draining\",\"processes\":[{\"name\":\"reaper\"},"
            "{\"name\":\"worker 3\",\"pid\":12,\"state\":\"running\","
            "\"since\":\"1970-01-01T00:00:02.000001Z\",\"job\":\"an id\",\"type\":\"email\","
            "\"progress\":{\"percent\":40,\"text\":\"resizing\"},\"jobs_done\":17}],"
            "\"queues\":[{\"name\":\"default\",\"weight\":1,\"max_running\":null,\"rate\":null},"
            "{\"name\":\"mail\",\"weight\":3,\"max_running\":10,\"rate\":\"100/s\"}],"
            "\"handlers\":[{\"pattern\":\"email:*\",\"kind\":\"plugin\",\"max_attempts\":4,"
            "\"timeout_ms\":1500}]}"),
        &arena);

    ck_assert_str_eq(status.version, "0.1.0");
    ck_assert_str_eq(status.state, "draining");
    ck_assert_uint_eq(status.process_count, 2);
    const struct pool_process *process = &status.processes[1];
    ck_assert_str_eq(process->name, "worker 3");
    ck_assert_int_eq(process->pid, 12);
    ck_assert_str_eq(process->state, "running");
    ck_assert_int_eq(process->since, 2000001);
    ck_assert_str_eq(process->job, "an id");
    ck_assert_str_eq(process->type, "email");
    ck_assert_int_eq(process->progress_percent, 40);
    ck_assert_str_eq(process->progress_text, "resizing");
    ck_assert_int_eq(process->jobs_done, 17);
    expect_offer(&status);
    ck_assert(!arena.failed);
}
END_TEST

static const struct {
    const char *rule;
    const char *text;
} odd_statuses[] = {
    {"a pool that has not beaten yet", NULL},
    {"an empty text", ""},
    {"no JSON", "{\"version\":"},
    {"another kind of value", "[\"0.1.0\"]"},
    {"an empty object", "{}"},
    {"members of other kinds", "{\"version\":1,\"state\":{},\"processes\":\"none\"}"},
    {"members that are null", "{\"version\":null,\"state\":null,\"processes\":null}"},
    {"a name twice", "{\"version\":\"1\",\"version\":\"2\"}"},
};

START_TEST(what_is_not_understood_is_absent)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct pool_status status = pool_status_read(bytes_of(odd_statuses[_i].text), &arena);

    ck_assert_msg(!status.version && !status.state, "%s", odd_statuses[_i].rule);
    ck_assert_msg(!status.processes && status.process_count == 0, "%s", odd_statuses[_i].rule);
    ck_assert_msg(!arena.failed, "%s", odd_statuses[_i].rule);
}
END_TEST

static const struct {
    const char *rule;
    const char *process;
} odd_processes[] = {
    {"another kind of value", "7"},
    {"an empty object", "{}"},
    {"null everywhere", "{\"name\":null,\"pid\":null,\"state\":null,\"since\":null,\"job\":null,"
                        "\"type\":null,\"progress\":null,\"jobs_done\":null}"},
    {"other kinds everywhere", "{\"name\":1,\"pid\":\"1\",\"state\":[],\"since\":5,\"job\":{},"
                               "\"type\":true,\"progress\":40,\"jobs_done\":1.5}"},
    {"a time that is none and progress that is empty", "{\"since\":\"now\",\"progress\":{}}"},
};

START_TEST(a_process_has_what_is_understood_of_it)
{
    CLEANUP(arena_done) struct arena arena = {0};
    char text[512];

    snprintf(text, sizeof text, "{\"processes\":[%s]}", odd_processes[_i].process);
    struct pool_status status = pool_status_read(bytes_of(text), &arena);
    ck_assert_uint_eq(status.process_count, 1);
    const struct pool_process *process = &status.processes[0];
    ck_assert_msg(!process->name && !process->state && !process->job && !process->type &&
                      !process->progress_text,
                  "%s", odd_processes[_i].rule);
    ck_assert_msg(process->pid == 0 && process->since == 0 && process->progress_percent == -1 &&
                      process->jobs_done == -1,
                  "%s", odd_processes[_i].rule);
    ck_assert(!pool_process_is_worker(process) && !pool_process_is_busy(process));
}
END_TEST

START_TEST(no_process_is_not_the_same_as_nothing_said)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct pool_status status = pool_status_read(bytes_of("{\"processes\":[]}"), &arena);

    ck_assert_ptr_nonnull(status.processes);
    ck_assert_uint_eq(status.process_count, 0);
}
END_TEST

START_TEST(unknown_members_are_kept_as_written)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct pool_status status = pool_status_read(bytes_of("{\"load\": [0.50]}"), &arena);
    struct bytes load = pool_status_member(&status.members, "load");

    ck_assert_uint_eq(load.length, strlen("[0.50]"));
    ck_assert_mem_eq(load.data, "[0.50]", load.length);
    ck_assert_ptr_null(pool_status_member(&status.members, "mood").data);
}
END_TEST

START_TEST(an_offer_of_another_version_is_read_as_far_as_it_is_understood)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct pool_status status = pool_status_read(
        bytes_of("{\"queues\":[7,{\"name\":1,\"rate\":5}],\"handlers\":[{\"timeout_ms\":-1},[]]}"),
        &arena);

    ck_assert_uint_eq(status.queue_count, 2);
    ck_assert(!status.queues[1].name && !status.queues[1].rate);
    ck_assert_uint_eq(status.handler_count, 2);
    ck_assert(!status.handlers[0].pattern && status.handlers[0].timeout == 0);
    status = pool_status_read(bytes_of("{\"queues\":{},\"handlers\":[]}"), &arena);
    ck_assert_ptr_null(status.queues);
    ck_assert_ptr_nonnull(status.handlers);
}
END_TEST

START_TEST(out_of_memory_shows_in_the_arena)
{
    CLEANUP(arena_done) struct arena arena = {.failed = true};
    struct pool_status status = pool_status_read(bytes_of("{\"processes\":[{}]}"), &arena);

    ck_assert(arena.failed);
    ck_assert_uint_eq(status.process_count, 0);
}
END_TEST

static const struct {
    const char *rule;
    struct pool_process process;
    bool worker, busy;
} kinds[] = {
    {"a worker with a job is busy", {.name = "worker 3", .state = "running"}, true, true},
    {"an idle one is not", {.name = "worker 3", .state = "idle"}, true, false},
    {"nor is one that stops", {.name = "worker 12", .state = "stopping"}, true, false},
    {"a service is no worker", {.name = "dispatcher", .state = "running"}, false, false},
};

START_TEST(workers_are_known_by_their_names)
{
    ck_assert_msg(pool_process_is_worker(&kinds[_i].process) == kinds[_i].worker, "%s",
                  kinds[_i].rule);
    ck_assert_msg(pool_process_is_busy(&kinds[_i].process) == kinds[_i].busy, "%s", kinds[_i].rule);
}
END_TEST

Suite *pool_status_suite(void)
{
    Suite *suite = suite_create("client/pool_status");
    TCase *read = pure_case("read");

    tcase_add_test(read, all_that_a_pool_says_is_read);
    tcase_add_loop_test(read, what_is_not_understood_is_absent, 0, COUNT_OF(odd_statuses));
    tcase_add_loop_test(read, a_process_has_what_is_understood_of_it, 0, COUNT_OF(odd_processes));
    tcase_add_test(read, no_process_is_not_the_same_as_nothing_said);
    tcase_add_test(read, unknown_members_are_kept_as_written);
    tcase_add_test(read, an_offer_of_another_version_is_read_as_far_as_it_is_understood);
    tcase_add_test(read, out_of_memory_shows_in_the_arena);
    tcase_add_loop_test(read, workers_are_known_by_their_names, 0, COUNT_OF(kinds));
    suite_add_tcase(suite, read);
    return suite;
}

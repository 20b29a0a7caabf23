/*
 * test_offer.c - what a pool says that it serves and handles.
 */
#include "periodic/offer.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "config/config.h"
#include "suites.h"

#include <string.h>

static void write_offer(const struct config *config, struct buffer *out)
{
    struct json_writer json = {.out = out};

    json_write_open(&json, NULL, '{');
    offer_write(config, &json);
    json_write_close(&json, '}');
}

START_TEST(queues_have_their_limits_and_handlers_what_a_job_gets)
{
    static const char *const argv[] = {"/bin/true", NULL};
    struct queue_config queues[] = {
        {.name = "default", .weight = 1},
        {.name = "mail", .weight = 3, .max_running = 10, .rate = {100, USEC_PER_SEC}},
        {.name = "theirs", .weight = 1, .remote = true},
    };
    struct handler_config handlers[] = {
        {.pattern = "email:send", .command = {argv, 1, false}, .max_attempts = 2},
        {.pattern = "report:*", .resident = {argv, 1, false}, .timeout = 90 * USEC_PER_SEC},
        {.pattern = "thumbnail", .plugin = "libthumbnail.so"},
    };
    const struct config config = {
        .queues = queues,
        .queue_count = COUNT_OF(queues),
        .handlers = handlers,
        .handler_count = COUNT_OF(handlers),
        .pool = {.heartbeat_interval = 5 * USEC_PER_SEC, .lease = 30 * USEC_PER_SEC},
        .defaults = {.timeout = 5 * USEC_PER_MIN, .max_attempts = 4, .max_stalls = 3},
    };
    CLEANUP(buffer_done) struct buffer out = BUFFER(offer_limit(&config));

    write_offer(&config, &out);
    ck_assert_str_eq(
        buffer_str(&out),
        "{\"heartbeat_ms\":5000,\"queues\":[{\"name\":\"default\",\"weight\":1,\"max_running\":"
        "null,\"rate\":null},"
        "{\"name\":\"mail\",\"weight\":3,\"max_running\":10,\"rate\":\"100/s\"}],"
        "\"handlers\":[{\"pattern\":\"email:send\",\"kind\":\"command\",\"max_attempts\":2,"
        "\"timeout_ms\":300000},"
        "{\"pattern\":\"report:*\",\"kind\":\"resident\",\"max_attempts\":4,"
        "\"timeout_ms\":90000},"
        "{\"pattern\":\"thumbnail\",\"kind\":\"plugin\",\"max_attempts\":4,"
        "\"timeout_ms\":300000}]}");
}
END_TEST

START_TEST(the_longest_offer_fits)
{
    char name[JOB_NAME_MAX + 2];
    struct queue_config queues[9];
    struct handler_config handlers[9];
    const struct config config = {
        .queues = queues,
        .queue_count = COUNT_OF(queues),
        .handlers = handlers,
        .handler_count = COUNT_OF(handlers),
    };
    CLEANUP(buffer_done) struct buffer out = BUFFER(offer_limit(&config));
    struct error err;

    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    for (size_t i = 0; i < COUNT_OF(queues); i++) {
        queues[i] = (struct queue_config){.name = name,
                                          .weight = INT32_MAX,
                                          .max_running = INT32_MAX,
                                          .rate = {1000000000, USEC_PER_DAY}};
        handlers[i] = (struct handler_config){
            .pattern = name, .max_attempts = JOB_COUNT_MAX, .timeout = JOB_TIMEOUT_MAX};
    }
    write_offer(&config, &out);
    ck_assert_msg(buffer_ok(&out, &err), "%s", err.text);
}
END_TEST

Suite *offer_suite(void)
{
    Suite *suite = suite_create("periodic/offer");
    TCase *json = pure_case("json");

    tcase_add_test(json, queues_have_their_limits_and_handlers_what_a_job_gets);
    tcase_add_test(json, the_longest_offer_fits);
    suite_add_tcase(suite, json);
    return suite;
}

/*
 * test_status.c - the pool's status as JSON.
 */
#include "periodic/status.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "config/config.h"
#include "process/scoreboard.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>
#include <taskharbor/version.h>

#define SINCE ((usec_t)1893553445123456) /* 2030-01-02T03:04:05.123456Z */

#define HEAD    "{\"version\":\"" TH_VERSION "\",\"state\":\"running\",\"processes\":["
#define SINCE_Z "\"since\":\"2030-01-02T03:04:05.123456Z\""
#define NO_JOB  "\"job\":null,\"type\":null,\"progress\":null,\"jobs_running\":null"
#define TAIL    "],\"heartbeat_ms\":0,\"queues\":[],\"handlers\":[],\"start_failures\":[]}"
#define JOB     "\"job\":\"0193f0a2-7c1d-7abc-8def-0123456789ab\",\"type\":\"email:send\""

/* Nothing is served and nothing is handled, unless a test says so. */
static const struct config idle_config;

static void expect(const struct slot *slots, size_t count, const char *rule, const char *json)
{
    CLEANUP(buffer_done) struct buffer out = BUFFER(status_limit(&idle_config, count));
    struct error err;

    status_write(&idle_config, slots, count, NULL, NULL, 0, &out);
    ck_assert_msg(buffer_ok(&out, &err), "%s", rule);
    ck_assert_msg(strcmp(buffer_str(&out), json) == 0, "%s, not %s", rule, buffer_str(&out));
}

static struct slot slot_with_job(struct slot slot)
{
    ck_assert(uuid_parse("0193f0a2-7c1d-7abc-8def-0123456789ab", &slot.job));
    return slot;
}

static const struct {
    const char *rule;
    struct slot slot;
    const char *json;
} processes[] = {
    {"a service has neither job nor jobs done",
     {.name = "scheduler", .pid = 12, .state = SLOT_IDLE, .since = SINCE, .jobs_done = 99},
     HEAD "{\"name\":\"scheduler\",\"pid\":12,\"state\":\"idle\"," SINCE_Z "," NO_JOB
          ",\"jobs_done\":null}" TAIL},
    {"an idle worker has done jobs",
     {.name = "worker 3",
      .number = 3,
      .pid = 13,
      .state = SLOT_IDLE,
      .since = SINCE,
      .jobs_done = 17,
      .type = "email:send",
      .jobs_running = 1,
      .progress_percent = 40},
     HEAD "{\"name\":\"worker 3\",\"pid\":13,\"state\":\"idle\"," SINCE_Z "," NO_JOB
          ",\"jobs_done\":17}" TAIL},
    {"a running one has a job",
     {.name = "worker 3",
      .number = 3,
      .pid = 13,
      .state = SLOT_RUNNING,
      .since = SINCE,
      .type = "email:send",
      .jobs_running = 1,
      .progress_percent = -1},
     HEAD "{\"name\":\"worker 3\",\"pid\":13,\"state\":\"running\"," SINCE_Z "," JOB
          ",\"progress\":null,\"jobs_running\":1,\"jobs_done\":0}" TAIL},
    {"which may tell its progress",
     {.name = "worker 3",
      .number = 3,
      .pid = 13,
      .state = SLOT_RUNNING,
      .since = SINCE,
      .type = "email:send",
      .jobs_running = 1,
      .progress_percent = 40,
      .progress_text = "half \"of\" them"},
     HEAD "{\"name\":\"worker 3\",\"pid\":13,\"state\":\"running\"," SINCE_Z "," JOB
          ",\"progress\":{\"percent\":40,\"text\":\"half \\\"of\\\" "
          "them\"},\"jobs_running\":1,\"jobs_done\":0}" TAIL},
    {"with words or without",
     {.name = "worker 3",
      .number = 3,
      .pid = 13,
      .state = SLOT_RUNNING,
      .since = SINCE,
      .type = "email:send",
      .jobs_running = 1,
      .progress_percent = 0},
     HEAD "{\"name\":\"worker 3\",\"pid\":13,\"state\":\"running\"," SINCE_Z "," JOB
          ",\"progress\":{\"percent\":0,\"text\":null},\"jobs_running\":1,\"jobs_done\":0}" TAIL},
    {"a moment that cannot be is left out",
     {.name = "worker 3", .number = 3, .pid = 13, .state = SLOT_IDLE, .since = INT64_MAX},
     HEAD "{\"name\":\"worker 3\",\"pid\":13,\"state\":\"idle\",\"since\":null," NO_JOB
          ",\"jobs_done\":0}" TAIL},
    {"an empty slot is left out", {.name = "worker 3", .state = SLOT_EMPTY}, HEAD TAIL},
};

START_TEST(a_process_is_shown_as_its_slot_says)
{
    const struct slot slot = slot_with_job(processes[_i].slot);

    expect(&slot, 1, processes[_i].rule, processes[_i].json);
}
END_TEST

static const struct {
    const char *rule;
    const char *name;
    enum slot_state state;
    bool is_retiring;
    const char *pool_state;
} pools[] = {
    {"a pool runs", "dispatcher", SLOT_IDLE, false, "running"},
    {"also without its store", "dispatcher", SLOT_WAITING, false, "running"},
    {"until its dispatcher stops", "dispatcher", SLOT_STOPPING, false, "draining"},
    {"others may stop as they like", "worker 3", SLOT_STOPPING, false, "running"},
    {"a job with an old config is waited for", "worker 3", SLOT_RUNNING, true, "replacing"},
    {"and not a worker without one", "worker 3", SLOT_IDLE, true, "running"},
};

START_TEST(the_state_of_the_pool_is_that_of_its_processes)
{
    struct slot slots[2] = {{.name = "heartbeater", .state = SLOT_IDLE},
                            {.state = pools[_i].state, .is_retiring = pools[_i].is_retiring}};
    CLEANUP(buffer_done) struct buffer out = BUFFER(status_limit(&idle_config, 2));

    char expected[64];

    snprintf(expected, sizeof expected, "\"state\":\"%s\",\"processes\"", pools[_i].pool_state);
    snprintf(slots[1].name, sizeof slots[1].name, "%s", pools[_i].name);
    status_write(&idle_config, slots, 2, NULL, NULL, 0, &out);
    ck_assert_msg(strstr(buffer_str(&out), expected) != NULL, "%s, not %s", pools[_i].rule,
                  buffer_str(&out));
}
END_TEST

START_TEST(the_longest_status_fits)
{
    struct slot slots[3];
    CLEANUP(buffer_done) struct buffer out = BUFFER(status_limit(&idle_config, COUNT_OF(slots)));
    struct error err;

    memset(slots, 1, sizeof slots); /* of the bytes that JSON makes the most of */
    for (size_t i = 0; i < COUNT_OF(slots); i++) {
        slots[i].state = SLOT_RUNNING;
        slots[i].since = INT64_MAX / 1000000;
        slots[i].jobs_done = INT64_MIN;
        slots[i].jobs_running = INT64_MAX;
        slots[i].pid = INT32_MIN;
        slots[i].progress_percent = INT32_MAX;
        slots[i].name[SCOREBOARD_NAME_SIZE - 1] = '\0';
        slots[i].type[JOB_NAME_MAX] = '\0';
        slots[i].progress_text[SCOREBOARD_TEXT_SIZE - 1] = '\0';
    }
    status_write(&idle_config, slots, COUNT_OF(slots), NULL, NULL, 0, &out);
    ck_assert_msg(buffer_ok(&out, &err), "%s", err.text);
}
END_TEST

Suite *status_suite(void)
{
    Suite *suite = suite_create("periodic/status");
    TCase *json = tcase_create("json");

    tcase_add_loop_test(json, a_process_is_shown_as_its_slot_says, 0, COUNT_OF(processes));
    tcase_add_loop_test(json, the_state_of_the_pool_is_that_of_its_processes, 0, COUNT_OF(pools));
    tcase_add_test(json, the_longest_status_fits);
    suite_add_tcase(suite, json);
    return suite;
}

/*
 * test_job_json.c - a job as programs see it.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "cases.h"
#include "job/job_json.h"
#include "suites.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#define NOW      ((usec_t)1893553445123456) /* 2030-01-02T03:04:05.123456Z */
#define NOW_TEXT "2030-01-02T03:04:05.123456Z"
#define ID       "0193f0a2-7c1d-7abc-8def-0123456789ab"
#define OTHER_ID "0193f0a2-7c1d-7abc-8def-0123456789ac"

#define ID_BYTES(last)                                                                             \
    {                                                                                              \
        {                                                                                          \
            0x01, 0x93, 0xf0, 0xa2, 0x7c, 0x1d, 0x7a, 0xbc, 0x8d, 0xef, 0x01, 0x23, 0x45, 0x67,    \
                0x89, (last)                                                                       \
        }                                                                                          \
    }

/* Bytes that may hold a NUL, as an initialiser. */
#define LITERAL(text)                                                                              \
    {                                                                                              \
        (const unsigned char *)(text), sizeof(text) - 1                                            \
    }

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const unsigned char *)text, strlen(text)};
}

static void assert_written(const struct job *job, const char *expected, const char *rule)
{
    CLEANUP(buffer_done) struct buffer buffer = BUFFER(1 << 20);
    struct error err;

    job_json_add(&buffer, job);
    ck_assert(buffer_ok(&buffer, &err));
    ck_assert_msg(json_check(bytes_of(buffer_str(&buffer)), &err), "%s: %s", rule, err.text);
    ck_assert_msg(strcmp(buffer_str(&buffer), expected) == 0, "%s:\n%s\nnot\n%s", rule,
                  buffer_str(&buffer), expected);
}

static void assert_contains(const struct job *job, const char *expected, const char *rule)
{
    CLEANUP(buffer_done) struct buffer buffer = BUFFER(1 << 20);
    struct error err;

    job_json_add(&buffer, job);
    ck_assert(buffer_ok(&buffer, &err));
    ck_assert_msg(json_check(bytes_of(buffer_str(&buffer)), &err), "%s: %s", rule, err.text);
    ck_assert_msg(strstr(buffer_str(&buffer), expected) != NULL, "%s: no %s in\n%s", rule, expected,
                  buffer_str(&buffer));
}

static struct job_run full_runs[] = {
    {.execution = 8,
     .pool = "web-1",
     .worker = 2,
     .started_at = NOW - 5,
     .wall = 1999,
     .user = 2000,
     .system = 2001,
     .max_rss_kb = 4096,
     .outcome = RUN_RETRY,
     .exit_code = 7,
     .error = "exit code 7"},
    {.execution = 9, .outcome = RUN_DONE, .exit_code = JOB_NO_EXIT_CODE, .signal = 9},
};

static const struct job full_job = {
    .id = ID_BYTES(0xab),
    .type = "email:send",
    .queue = "mail",
    .encoding = JOB_JSON,
    .payload = LITERAL(" { \"to\" : 1 } "),
    .headers = "{ \"n\": 1.50 }",
    .tags = {(const char *const[]){"a", "b"}, 2},
    .priority = 3,
    .run_at = NOW,
    .timeout = 1500 * USEC_PER_MSEC,
    .max_attempts = 6,
    .max_stalls = 7,
    .attempts = 4,
    .stalls = 5,
    .key = "k\xc3\xb6y",
    .idempotency_key = "i\"k",
    .idempotency_expires = 1,
    .state = JOB_DEAD,
    .due = 2,
    .executions = 9,
    .created_at = NOW + 1,
    .started_at = NOW + 2,
    .ended_at = NOW + 3,
    .failed_at = NOW + 4,
    .token = {{0xaa, 0xbb}},
    .pool = "web-2",
    .worker = 3,
    .cancel_requested_at = NOW + 5,
    .merged_into = ID_BYTES(0xac),
    .last_error = "line\nline",
    .reason = REASON_EXHAUSTED,
    .exit_code = 0,
    .signal = 15,
    .progress_percent = 40,
    .progress_text = "resizing",
    .result = LITERAL("[ 1, 2 ]"),
    .output = LITERAL("bad \xff\x00 end"),
    .runs = full_runs,
    .run_count = COUNT_OF(full_runs),
};

static const char full_text[] =
    "{\"id\":\"" ID "\",\"type\":\"email:send\",\"queue\":\"mail\",\"state\":\"dead\",\"why\":null,"
    "\"encoding\":\"json\",\"payload\":{\"to\":1},\"headers\":{\"n\":1.50},"
    "\"tags\":[\"a\",\"b\"],\"priority\":3,\"run_at\":\"" NOW_TEXT "\","
    "\"timeout_ms\":1500,\"attempts\":4,\"max_attempts\":6,\"executions\":9,\"stalls\":5,"
    "\"max_stalls\":7,\"key\":\"k\xc3\xb6y\",\"idempotency_key\":\"i\\\"k\","
    "\"created_at\":\"2030-01-02T03:04:05.123457Z\","
    "\"started_at\":\"2030-01-02T03:04:05.123458Z\","
    "\"ended_at\":\"2030-01-02T03:04:05.123459Z\","
    "\"failed_at\":\"2030-01-02T03:04:05.123460Z\","
    "\"last_error\":\"line\\nline\",\"reason\":\"exhausted\",\"exit_code\":0,\"signal\":15,"
    "\"pool\":\"web-2\",\"worker\":3,\"progress\":{\"percent\":40,\"text\":\"resizing\"},"
    "\"result\":[1,2],\"cancel_requested_at\":\"2030-01-02T03:04:05.123461Z\","
    "\"merged_into\":\"" OTHER_ID "\",\"output\":\"bad \xef\xbf\xbd\\u0000 end\","
    "\"runs\":[{\"execution\":8,\"pool\":\"web-1\",\"worker\":2,"
    "\"started_at\":\"2030-01-02T03:04:05.123451Z\",\"wall_ms\":1,\"user_ms\":2,"
    "\"system_ms\":2,\"max_rss_kb\":4096,\"outcome\":\"retry\",\"exit_code\":7,"
    "\"signal\":null,\"error\":\"exit code 7\"},"
    "{\"execution\":9,\"pool\":null,\"worker\":null,\"started_at\":null,\"wall_ms\":0,"
    "\"user_ms\":0,\"system_ms\":0,\"max_rss_kb\":0,\"outcome\":\"done\",\"exit_code\":null,"
    "\"signal\":9,\"error\":null}]}";

START_TEST(a_job_with_everything_has_every_field_in_its_place)
{
    assert_written(&full_job, full_text, "the order of the fields");
}
END_TEST

START_TEST(what_is_absent_is_null)
{
    struct job job = job_defaults();

    job.payload = (struct bytes){0};
    assert_written(
        &job,
        "{\"id\":null,\"type\":null,\"queue\":\"default\",\"state\":\"scheduled\",\"why\":null,"
        "\"encoding\":\"json\",\"payload\":null,\"headers\":null,\"tags\":null,\"priority\":5,"
        "\"run_at\":null,"
        "\"timeout_ms\":null,\"attempts\":0,\"max_attempts\":null,\"executions\":0,"
        "\"stalls\":0,\"max_stalls\":null,\"key\":null,\"idempotency_key\":null,"
        "\"created_at\":null,\"started_at\":null,\"ended_at\":null,"
        "\"failed_at\":null,\"last_error\":null,\"reason\":null,\"exit_code\":null,"
        "\"signal\":null,\"pool\":null,\"worker\":null,\"progress\":null,"
        "\"result\":null,\"cancel_requested_at\":null,\"merged_into\":null,"
        "\"output\":null,\"runs\":[]}",
        "an empty job");
}
END_TEST

static const struct {
    const char *rule;
    enum job_encoding encoding;
    struct bytes payload;
    const char *expected;
} payloads[] = {
    {"null is JSON", JOB_JSON, LITERAL("null"), "\"json\",\"payload\":null,\"h"},
    {"a number of forty digits stays what it is", JOB_JSON,
     LITERAL("1234567890123456789012345678901234567890"),
     "\"json\",\"payload\":1234567890123456789012345678901234567890,\"h"},
    {"damaged JSON is shown as the bytes it is", JOB_JSON, LITERAL("{\"a\":"),
     "\"json\",\"payload_base64\":\"eyJhIjo=\",\"h"},
    {"nothing is no JSON", JOB_JSON, LITERAL(""), "\"json\",\"payload_base64\":\"\",\"h"},
    {"raw bytes", JOB_RAW, LITERAL("\0\xff"), "\"raw\",\"payload_base64\":\"AP8=\",\"h"},
    {"raw stays raw, also when it looks like JSON", JOB_RAW, LITERAL("[]"),
     "\"raw\",\"payload_base64\":\"W10=\",\"h"},
    {"no raw bytes", JOB_RAW, LITERAL(""), "\"raw\",\"payload_base64\":\"\",\"h"},
};

START_TEST(a_payload_is_written_as_what_it_is)
{
    struct job job = job_defaults();

    job.encoding = payloads[_i].encoding;
    job.payload = payloads[_i].payload;
    assert_contains(&job, payloads[_i].expected, payloads[_i].rule);
}
END_TEST

START_TEST(damaged_headers_are_shown_as_the_text_they_are)
{
    struct job job = job_defaults();

    job.headers = "{\"a\":";
    assert_contains(&job, "\"headers\":\"{\\\"a\\\":\",\"tags\":null", "for people to see");
}
END_TEST

static const struct {
    const char *rule;
    struct bytes result;
    const char *expected;
} results[] = {
    {"none", {NULL, 0}, "\"progress\":null,\"result\":null,\"cancel"},
    {"JSON", LITERAL("{\"ok\": 1}"), "null,\"result\":{\"ok\":1},\"cancel"},
    {"JSON null", LITERAL("null"), "null,\"result\":null,\"cancel"},
    {"text", LITERAL("ok\n"), "null,\"result_base64\":\"b2sK\",\"cancel"},
    {"an empty one", LITERAL(""), "null,\"result_base64\":\"\",\"cancel"},
};

START_TEST(a_result_is_written_as_what_it_is)
{
    struct job job = job_defaults();

    job.result = results[_i].result;
    assert_contains(&job, results[_i].expected, results[_i].rule);
}
END_TEST

static const struct {
    const char *rule;
    int percent;
    const char *text;
    const char *expected;
} progresses[] = {
    {"none", -1, NULL, "\"progress\":null,\"result\""},
    {"the very start", 0, NULL, "\"progress\":{\"percent\":0,\"text\":null},\"result\""},
    {"all of it", 100, "done", "\"progress\":{\"percent\":100,\"text\":\"done\"},\"result\""},
    {"a word only", -1, "soon", "\"progress\":{\"percent\":null,\"text\":\"soon\"},\"result\""},
};

START_TEST(progress_is_an_object_or_null)
{
    struct job job = job_defaults();

    job.progress_percent = progresses[_i].percent;
    job.progress_text = progresses[_i].text;
    assert_contains(&job, progresses[_i].expected, progresses[_i].rule);
}
END_TEST

static const struct {
    const char *rule;
    usec_t timeout;
    const char *expected;
} timeouts[] = {
    {"none", 0, "\"timeout_ms\":null,"},
    {"a millisecond", 1000, "\"timeout_ms\":1,"},
    {"less than one is not none", 1, "\"timeout_ms\":1,"},
    {"part of one counts", 1001, "\"timeout_ms\":2,"},
    {"the longest", JOB_TIMEOUT_MAX, "\"timeout_ms\":31536000000,"},
};

START_TEST(a_timeout_is_written_in_milliseconds)
{
    struct job job = job_defaults();

    job.timeout = timeouts[_i].timeout;
    assert_contains(&job, timeouts[_i].expected, timeouts[_i].rule);
}
END_TEST

START_TEST(every_state_is_written_by_its_name)
{
    struct job job = job_defaults();
    char expected[64];

    job.state = (enum job_state)_i;
    snprintf(expected, sizeof expected, "\"state\":\"%s\",", job_state_name(job.state));
    assert_contains(&job, expected, "state");
}
END_TEST

START_TEST(an_error_that_is_no_utf8_is_still_json)
{
    struct job_run run = {.error = "caf\xe9", .exit_code = JOB_NO_EXIT_CODE};
    struct job job = job_defaults();

    job.last_error = job.progress_text = "caf\xe9";
    job.runs = &run;
    job.run_count = 1;
    assert_contains(&job, "\"last_error\":\"caf\xef\xbf\xbd\"", "last_error");
    assert_contains(&job, "\"text\":\"caf\xef\xbf\xbd\"", "progress");
    assert_contains(&job, "\"error\":\"caf\xef\xbf\xbd\"", "run");
}
END_TEST

START_TEST(the_token_is_nobodys_business)
{
    CLEANUP(buffer_done) struct buffer buffer = BUFFER(1 << 20);
    struct job job = job_defaults();
    char token[LEASE_TOKEN_TEXT_SIZE];

    memset(&job.token, 0xa5, sizeof job.token);
    job_json_add(&buffer, &job);
    ck_assert_ptr_null(strstr(buffer_str(&buffer), "token"));
    ck_assert_ptr_null(strstr(buffer_str(&buffer), lease_token_format(&job.token, token)));
}
END_TEST

static TCase *write_case(void)
{
    TCase *write = pure_case("write");

    tcase_add_test(write, a_job_with_everything_has_every_field_in_its_place);
    tcase_add_test(write, what_is_absent_is_null);
    tcase_add_loop_test(write, a_payload_is_written_as_what_it_is, 0, COUNT_OF(payloads));
    tcase_add_test(write, damaged_headers_are_shown_as_the_text_they_are);
    tcase_add_loop_test(write, a_result_is_written_as_what_it_is, 0, COUNT_OF(results));
    tcase_add_loop_test(write, progress_is_an_object_or_null, 0, COUNT_OF(progresses));
    tcase_add_loop_test(write, a_timeout_is_written_in_milliseconds, 0, COUNT_OF(timeouts));
    tcase_add_loop_test(write, every_state_is_written_by_its_name, 0, JOB_STATES);
    tcase_add_test(write, an_error_that_is_no_utf8_is_still_json);
    tcase_add_test(write, the_token_is_nobodys_business);
    return write;
}

Suite *job_json_suite(void)
{
    Suite *suite = suite_create("job/job_json");

    suite_add_tcase(suite, write_case());
    suite_add_tcase(suite, job_json_read_case());
    return suite;
}

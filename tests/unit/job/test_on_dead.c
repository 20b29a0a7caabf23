#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/uuid.h"
#include "job/job.h"
#include "job/on_dead.h"
#include "suites.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define NOW ((usec_t)1800000000 * USEC_PER_SEC)
#define ID  "0193f0a2-7c1d-7abc-8def-0123456789ab"

static const struct on_dead alert = {.type = "alert", .queue = "ops"};

static const struct {
    const char *rule;
    enum job_encoding encoding;
    const char *payload, *error, *expected;
} payloads[] = {
    {"JSON is kept as it is", JOB_JSON, "{\"to\": 1}", "exit code 1",
     "[\"" ID "\",{\"to\":1},\"exit code 1\"]"},
    {"other bytes are base64", JOB_RAW, "\x01\x02\x03", "no", "[\"" ID "\",\"AQID\",\"no\"]"},
    {"an error may be anything", JOB_JSON, "1", "a \"b\"\n\xff",
     "[\"" ID "\",1,\"a \\\"b\\\"\\n\xef\xbf\xbd\"]"},
};

static const struct job *make(const struct job *dead, const char *error, size_t max_payload,
                              struct arena *arena)
{
    struct uuid_maker ids = {0};
    const struct job *job;
    struct error err;

    ck_assert_msg(on_dead_make(&alert, dead, error, max_payload, &ids, NOW, arena, &job, &err),
                  "%s", err.text);
    return job;
}

static struct job dead_job(enum job_encoding encoding, const char *payload, size_t length)
{
    struct job dead = job_defaults();

    ck_assert(uuid_parse(ID, &dead.id));
    dead.type = "mail";
    dead.encoding = encoding;
    dead.payload = (struct bytes){(const unsigned char *)payload, length};
    return dead;
}

START_TEST(the_payload_tells_id_payload_and_error)
{
    struct arena arena = {0};
    struct job dead =
        dead_job(payloads[_i].encoding, payloads[_i].payload, strlen(payloads[_i].payload));
    const struct job *job = make(&dead, payloads[_i].error, JOB_PAYLOAD_DEFAULT, &arena);

    ck_assert_msg(strcmp((const char *)job->payload.data, payloads[_i].expected) == 0, "%s, not %s",
                  payloads[_i].rule, (const char *)job->payload.data);
    arena_done(&arena);
}
END_TEST

START_TEST(it_is_a_job_like_any_other)
{
    struct arena arena = {0};
    struct job dead = dead_job(JOB_JSON, "1", 1);
    struct job job = *make(&dead, "no", JOB_PAYLOAD_DEFAULT, &arena);
    struct error err;

    ck_assert_str_eq(job.type, "alert");
    ck_assert_str_eq(job.queue, "ops");
    ck_assert_ptr_null(job.key);
    ck_assert(!uuid_is_nil(&job.id));
    ck_assert(job_validate(&job, JOB_PAYLOAD_DEFAULT, &err));
    arena_done(&arena);
}
END_TEST

START_TEST(it_has_the_headers_and_tags_of_the_dead_one)
{
    static const char *const names[] = {"a", "b"};
    struct arena arena = {0};
    struct job dead = dead_job(JOB_JSON, "1", 1);

    dead.headers = "{\"traceparent\":\"00-ab\"}";
    dead.tags = (struct tags){names, 2};
    const struct job *job = make(&dead, "no", JOB_PAYLOAD_DEFAULT, &arena);
    ck_assert_str_eq(job->headers, dead.headers);
    ck_assert(job->tags.count == 2 && tags_have(job->tags, "a") && tags_have(job->tags, "b"));
    dead.headers = "damaged";
    ck_assert_ptr_null(make(&dead, "no", JOB_PAYLOAD_DEFAULT, &arena)->headers);
    arena_done(&arena);
}
END_TEST

START_TEST(a_payload_that_would_be_too_large_is_left_out)
{
    struct arena arena = {0};
    char *large = calloc(1, 1000);

    memset(large, '1', 999);
    struct job dead = dead_job(JOB_JSON, large, 999);
    const struct job *job = make(&dead, "no", 1000, &arena);
    ck_assert_str_eq((const char *)job->payload.data, "[\"" ID "\",null,\"no\"]");
    free(large);
    arena_done(&arena);
}
END_TEST

START_TEST(an_error_that_would_be_too_large_is_left_out_as_well)
{
    struct arena arena = {0};
    char error[500];

    memset(error, 'e', sizeof error - 1);
    error[sizeof error - 1] = '\0';
    struct job dead = dead_job(JOB_JSON, "1", 1);
    const struct job *job = make(&dead, error, 100, &arena);
    ck_assert_str_eq((const char *)job->payload.data, "[\"" ID "\",null,null]");
    arena_done(&arena);
}
END_TEST

START_TEST(where_not_even_the_id_fits_there_is_no_such_job)
{
    struct job dead = dead_job(JOB_JSON, "1", 1);
    struct uuid_maker ids = {0};
    struct arena arena = {0};
    const struct job *job = NULL;
    struct error err;

    ck_assert(!on_dead_make(&alert, &dead, "no", 10, &ids, NOW, &arena, &job, &err));
    ck_assert_int_eq(err.code, TH_E_INVALID);
    ck_assert_ptr_null(job);
    arena_done(&arena);
}
END_TEST

START_TEST(a_payload_that_would_be_nested_too_deeply_is_left_out)
{
    struct arena arena = {0};
    char deep[2 * JSON_DEPTH_MAX + 1] = {0};

    memset(deep, '[', JSON_DEPTH_MAX);
    memset(deep + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
    struct job dead = dead_job(JOB_JSON, deep, 2 * (size_t)JSON_DEPTH_MAX);
    const struct job *job = make(&dead, "no", JOB_PAYLOAD_DEFAULT, &arena);
    ck_assert_str_eq((const char *)job->payload.data, "[\"" ID "\",null,\"no\"]");
    arena_done(&arena);
}
END_TEST

/* "webhook:*" with on_dead webhook:alert wrote 310 MB in five seconds. */
START_TEST(jobs_that_die_of_each_other_come_to_an_end)
{
    struct job dead = dead_job(JOB_JSON, "1", 1);
    struct uuid_maker ids = {0};
    struct arena arena = {0};
    const struct job *job = NULL;
    struct error err;
    int made = 0;

    while (on_dead_make(&alert, &dead, "no", JOB_PAYLOAD_DEFAULT, &ids, NOW, &arena, &job, &err)) {
        made++;
        ck_assert_int_eq(job->on_dead_depth, made);
        ck_assert_int_le(made, JOB_ON_DEAD_MAX);
        dead = *job;
    }
    ck_assert_int_eq(made, JOB_ON_DEAD_MAX);
    ck_assert_int_eq(err.code, TH_E_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "brought each other"));
    arena_done(&arena);
}
END_TEST

Suite *on_dead_suite(void)
{
    Suite *suite = suite_create("job/on_dead");
    TCase *cases = tcase_create("on_dead");

    tcase_add_loop_test(cases, the_payload_tells_id_payload_and_error, 0, COUNT_OF(payloads));
    tcase_add_test(cases, it_is_a_job_like_any_other);
    tcase_add_test(cases, it_has_the_headers_and_tags_of_the_dead_one);
    tcase_add_test(cases, a_payload_that_would_be_too_large_is_left_out);
    tcase_add_test(cases, an_error_that_would_be_too_large_is_left_out_as_well);
    tcase_add_test(cases, where_not_even_the_id_fits_there_is_no_such_job);
    tcase_add_test(cases, a_payload_that_would_be_nested_too_deeply_is_left_out);
    tcase_add_test(cases, jobs_that_die_of_each_other_come_to_an_end);
    suite_add_tcase(suite, cases);
    return suite;
}

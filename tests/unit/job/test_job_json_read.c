/*
 * test_job_json_read.c - a job as programs write it.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "cases.h"
#include "job/job_json.h"
#include "suites.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#define NOW      ((usec_t)1893553445123456) /* 2030-01-02T03:04:05.123456Z */
#define NOW_TEXT "2030-01-02T03:04:05.123456Z"
#define ID       "0193f0a2-7c1d-7abc-8def-0123456789ab"

/* Text that may hold a NUL. */
#define BYTES(literal) ((struct bytes){(const unsigned char *)(literal), sizeof(literal) - 1})

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const unsigned char *)text, strlen(text)};
}

/* Both jobs are compared as they are written: all fields, but for those below it, in one line. */
static void assert_read(const char *text, const struct job *expected, const char *rule)
{
    CLEANUP(arena_done) struct arena arena = {0};
    CLEANUP(buffer_done) struct buffer written = BUFFER(1 << 20);
    CLEANUP(buffer_done) struct buffer wanted = BUFFER(1 << 20);
    struct job job = job_defaults();
    struct error err = {0};

    ck_assert_msg(job_json_parse(bytes_of(text), NOW, &arena, &job, &err), "%s: %s", rule,
                  err.text);
    job_json_add(&written, &job);
    job_json_add(&wanted, expected);
    ck_assert_msg(strcmp(buffer_str(&written), buffer_str(&wanted)) == 0, "%s:\n%s\nnot\n%s", rule,
                  buffer_str(&written), buffer_str(&wanted));
    ck_assert_int_eq(job.timeout, expected->timeout);
    ck_assert_msg(keyed_flags_pack(job.update) == keyed_flags_pack(expected->update), "%s: flags",
                  rule);
}

static void assert_refused(struct bytes text, const char *expected, const char *rule)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct job job = job_defaults();
    struct error err = {0};

    ck_assert_msg(!job_json_parse(text, NOW, &arena, &job, &err), "%s: was read", rule);
    ck_assert_int_eq((int)err.code, TH_E_INVALID);
    ck_assert_msg(strcmp(err.text, expected) == 0, "%s: %s\nnot\n%s", rule, err.text, expected);
}

START_TEST(a_type_is_all_it_takes)
{
    struct job expected = job_defaults();

    expected.type = "t";
    assert_read("{\"type\":\"t\"}", &expected, "all else is as the defaults have it");
}
END_TEST

START_TEST(every_field_can_be_given)
{
    struct job expected = job_defaults();

    ck_assert(uuid_parse(ID, &expected.id));
    expected.type = "email:send";
    expected.queue = "mail";
    expected.payload = BYTES("{\"to\":1}");
    expected.headers = "{\"a\":1.50}";
    expected.tags = (struct tags){(const char *const[]){"x", "y"}, 2};
    expected.priority = 2;
    expected.run_at = NOW;
    expected.timeout = 30 * USEC_PER_SEC;
    expected.max_attempts = 6;
    expected.max_stalls = 7;
    expected.key = "k";
    expected.idempotency_key = "i";
    expected.update =
        (struct keyed_flags){false, UPDATE_RUN_AT_IF_LATER, .retry = false, .reset_counts = true};
    assert_read("{\"id\":\"" ID "\",\"type\":\"email:send\",\"queue\":\"mail\","
                "\"payload\":{\"to\":1},\"headers\":{\"a\":1.50},\"tags\":[\"x\",\"y\"],"
                "\"priority\":2,\"run_at\":\"" NOW_TEXT "\","
                "\"timeout\":\"30s\",\"max_attempts\":6,\"max_stalls\":7,\"key\":\"k\","
                "\"idempotency_key\":\"i\",\"update_payload\":false,"
                "\"update_run_at\":\"if_later\",\"update_retry\":false,\"reset_counts\":true}",
                &expected, "every field");
}
END_TEST

/* Each flag by itself: one taken for another would not show above. */
static const struct {
    const char *text;
    struct keyed_flags flags;
} flags[] = {
    {"{\"type\":\"t\",\"update_payload\":false}", {false, UPDATE_RUN_AT_ALWAYS, true, false}},
    {"{\"type\":\"t\",\"update_retry\":false}", {true, UPDATE_RUN_AT_ALWAYS, false, false}},
    {"{\"type\":\"t\",\"reset_counts\":true}", {true, UPDATE_RUN_AT_ALWAYS, true, true}},
    {"{\"type\":\"t\",\"update_run_at\":\"always\"}", {true, UPDATE_RUN_AT_ALWAYS, true, false}},
    {"{\"type\":\"t\",\"update_run_at\":\"never\"}", {true, UPDATE_RUN_AT_NEVER, true, false}},
    {"{\"type\":\"t\",\"update_run_at\":\"if_earlier\"}",
     {true, UPDATE_RUN_AT_IF_EARLIER, true, false}},
    {"{\"type\":\"t\",\"update_run_at\":\"if_later\"}",
     {true, UPDATE_RUN_AT_IF_LATER, true, false}},
};

START_TEST(each_flag_is_read_by_its_own_name)
{
    struct job expected = job_defaults();

    expected.type = "t";
    expected.update = flags[_i].flags;
    assert_read(flags[_i].text, &expected, flags[_i].text);
}
END_TEST

/* clang-format off */
static const char *const optional[] = {
    "id", "queue", "payload", "payload_base64", "headers", "tags", "priority", "run_at", "timeout", "timeout_ms",
    "max_attempts", "max_stalls", "key", "idempotency_key", "update_payload", "update_run_at",
    "update_retry", "reset_counts",
};
/* clang-format on */

START_TEST(a_null_member_is_an_absent_one)
{
    struct job expected = job_defaults();
    char text[64];

    expected.type = "t";
    snprintf(text, sizeof text, "{\"%s\":null,\"type\":\"t\"}", optional[_i]);
    assert_read(text, &expected, text);
}
END_TEST

START_TEST(a_payload_stays_where_it_was_written)
{
    static const char text[] = "{\"payload\" : [ 1.50, \"\\u00e9\" ] , \"type\":\"t\"}";
    CLEANUP(arena_done) struct arena arena = {0};
    struct job job = job_defaults();
    struct error err;

    ck_assert(job_json_parse(bytes_of(text), NOW, &arena, &job, &err));
    ck_assert_int_eq((int)job.encoding, JOB_JSON);
    ck_assert_ptr_eq(job.payload.data, strchr(text, '['));
    ck_assert_uint_eq(job.payload.length, strlen("[ 1.50, \"\\u00e9\" ]"));
}
END_TEST

START_TEST(a_payload_in_base64_is_raw)
{
    static const struct {
        const char *text;
        struct bytes payload;
    } rows[] = {
        {"{\"type\":\"t\",\"payload_base64\":\"AP8=\"}", {(const unsigned char *)"\0\xff", 2}},
        {"{\"type\":\"t\",\"payload_base64\":\"\"}", {(const unsigned char *)"", 0}},
        {"{\"type\":\"t\",\"payload\":null,\"payload_base64\":\"W10=\"}",
         {(const unsigned char *)"[]", 2}},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(arena_done) struct arena arena = {0};
        struct job job = job_defaults();
        struct error err = {0};

        ck_assert_msg(job_json_parse(bytes_of(rows[i].text), NOW, &arena, &job, &err), "%s",
                      err.text);
        ck_assert_int_eq((int)job.encoding, JOB_RAW);
        ck_assert_ptr_nonnull(job.payload.data);
        ck_assert_uint_eq(job.payload.length, rows[i].payload.length);
        ck_assert_mem_eq(job.payload.data, rows[i].payload.data, rows[i].payload.length);
    }
}
END_TEST

static const struct {
    const char *text;
    usec_t run_at;
} moments[] = {
    {"\"" NOW_TEXT "\"", NOW},
    {"\"2030-01-02T04:04:05.123456+01:00\"", NOW},
    {"\"+5m\"", NOW + 5 * USEC_PER_MIN},
    {"\"+1.5h\"", NOW + 90 * USEC_PER_MIN},
    {"\"+0\"", NOW},
};

START_TEST(run_at_is_a_moment_or_a_delay)
{
    struct job expected = job_defaults();
    char text[80];

    expected.type = "t";
    expected.run_at = moments[_i].run_at;
    snprintf(text, sizeof text, "{\"type\":\"t\",\"run_at\":%s}", moments[_i].text);
    assert_read(text, &expected, text);
}
END_TEST

static const struct {
    const char *member;
    usec_t timeout;
} durations[] = {
    {"\"timeout\":\"500ms\"", 500 * USEC_PER_MSEC},
    {"\"timeout\":\"0\"", 0},
    {"\"timeout_ms\":1500", 1500 * USEC_PER_MSEC},
    {"\"timeout_ms\":0", 0},
    {"\"timeout_ms\":31536000000", 365 * USEC_PER_DAY},
    {"\"timeout\":null,\"timeout_ms\":1", USEC_PER_MSEC},
    {"\"timeout_ms\":null,\"timeout\":\"1ms\"", USEC_PER_MSEC},
};

START_TEST(a_timeout_is_a_duration_or_milliseconds)
{
    struct job expected = job_defaults();
    char text[96];

    expected.type = "t";
    expected.timeout = durations[_i].timeout;
    snprintf(text, sizeof text, "{\"type\":\"t\",%s}", durations[_i].member);
    assert_read(text, &expected, text);
}
END_TEST

#define WITH(member)   BYTES("{\"type\":\"t\"," member "}")
#define NO_STRING      " must be a string without \\u0000"
#define NO_NUMBER      " must be a whole number of 32 bits"
#define NO_TIMEOUT_MS  "timeout_ms must be a whole number from 0 to 31536000000"
#define NO_TAGS        "tags must be an array of strings"
#define NO_FLAG        " must be true or false"
#define NO_UPDATE_WORD "update_run_at must be always, never, if_earlier or if_later"

START_TEST(what_is_wrong_is_refused_with_its_name)
{
    const struct {
        struct bytes text;
        const char *expected;
    } rows[] = {
        {BYTES("{}"), "type is missing"},
        {BYTES("{\"queue\":\"q\"}"), "type is missing"},
        {BYTES("{\"type\":null}"), "type is missing"},
        {BYTES("{\"type\":1}"), "type" NO_STRING},
        {BYTES("{\"type\":\"a\\u0000b\"}"), "type" NO_STRING},
        {BYTES("{\"type\":[\"t\"]}"), "type" NO_STRING},
        {WITH("\"queue\":7"), "queue" NO_STRING},
        {WITH("\"key\":7"), "key" NO_STRING},
        {WITH("\"idempotency_key\":true"), "idempotency_key" NO_STRING},
        {WITH("\"id\":7"), "id" NO_STRING},
        {WITH("\"id\":\"\""), "id must be a UUID other than nil"},
        {WITH("\"id\":\"0193f0a2\""), "id must be a UUID other than nil"},
        {WITH("\"id\":\"00000000-0000-0000-0000-000000000000\""),
         "id must be a UUID other than nil"},
        {WITH("\"headers\":\"{}\""), "headers must be an object"},
        {WITH("\"headers\":[]"), "headers must be an object"},
        {WITH("\"tags\":\"a\""), NO_TAGS},
        {WITH("\"tags\":[\"a\",1]"), NO_TAGS},
        {WITH("\"tags\":[\"a\\u0000b\"]"), NO_TAGS},
        {WITH("\"priority\":\"5\""), "priority" NO_NUMBER},
        {WITH("\"priority\":5.0"), "priority" NO_NUMBER},
        {WITH("\"priority\":true"), "priority" NO_NUMBER},
        {WITH("\"priority\":2147483648"), "priority" NO_NUMBER},
        {WITH("\"priority\":-2147483649"), "priority" NO_NUMBER},
        {WITH("\"priority\":99999999999999999999"), "priority" NO_NUMBER},
        {WITH("\"max_attempts\":\"4\""), "max_attempts" NO_NUMBER},
        {WITH("\"max_stalls\":{}"), "max_stalls" NO_NUMBER},
        {WITH("\"payload_base64\":7"), "payload_base64" NO_STRING},
        {WITH("\"payload_base64\":\"AP8\""), "payload_base64 must be base64 with its padding"},
        {WITH("\"payload_base64\":\"*\""), "payload_base64 must be base64 with its padding"},
        {WITH("\"payload\":1,\"payload_base64\":\"AP8=\""),
         "payload and payload_base64 exclude each other: use one"},
        {WITH("\"payload_base64\":\"AP8=\",\"payload\":1"),
         "payload and payload_base64 exclude each other: use one"},
        {WITH("\"timeout\":\"1s\",\"timeout_ms\":1"),
         "timeout and timeout_ms exclude each other: use one"},
        {WITH("\"timeout\":30"), "timeout" NO_STRING},
        {WITH("\"timeout_ms\":\"30\""), NO_TIMEOUT_MS},
        {WITH("\"timeout_ms\":-1"), NO_TIMEOUT_MS},
        {WITH("\"timeout_ms\":31536000001"), NO_TIMEOUT_MS},
        {WITH("\"timeout_ms\":9223372036854775807"), NO_TIMEOUT_MS},
        {WITH("\"run_at\":1893553445"), "run_at" NO_STRING},
        {WITH("\"update_payload\":\"true\""), "update_payload" NO_FLAG},
        {WITH("\"update_retry\":1"), "update_retry" NO_FLAG},
        {WITH("\"reset_counts\":0"), "reset_counts" NO_FLAG},
        {WITH("\"update_run_at\":true"), "update_run_at" NO_STRING},
        {WITH("\"update_run_at\":\"later\""), NO_UPDATE_WORD},
        {WITH("\"quue\":\"q\""), "unknown field 'quue' (did you mean 'queue'?)"},
        {WITH("\"maxattempts\":4"), "unknown field 'maxattempts' (did you mean 'max_attempts'?)"},
        {WITH("\"Queue\":\"q\""), "unknown field 'Queue' (did you mean 'queue'?)"},
        {WITH("\"zzzzzzzz\":null"), "unknown field 'zzzzzzzz'"},
        {WITH("\"\":1"), "unknown field ''"},
        {WITH("\"\\u001b[31m\":1"), "unknown field '\\x1b[31m'"},
        {WITH("\"state\":\"done\""), "unknown field 'state'"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_refused(rows[i].text, rows[i].expected, (const char *)rows[i].text.data);
}
END_TEST

/* The rest of the sentence is that of the module that refused it. */
static const struct {
    const char *text;
    const char *start;
} elsewhere[] = {
    {"{\"type\":\"t\",\"timeout\":\"30\"}", "timeout: "},
    {"{\"type\":\"t\",\"timeout\":\"-1s\"}", "timeout: "},
    {"{\"type\":\"t\",\"timeout\":\"\"}", "timeout: "},
    {"{\"type\":\"t\",\"run_at\":\"tomorrow\"}", "run_at: "},
    {"{\"type\":\"t\",\"run_at\":\"\"}", "run_at: "},
    {"{\"type\":\"t\",\"run_at\":\"+\"}", "run_at: "},
    {"{\"type\":\"t\",\"run_at\":\"+5\"}", "run_at: "},
    {"{\"type\":\"t\",\"run_at\":\"+-5m\"}", "run_at: "},
    {"{\"type\":\"t\",\"run_at\":\"5m\"}", "run_at: "},
    {"[]", "line 1"},
    {"", "line 1"},
    {"{\"type\":\"t\"} {}", "line 1"},
    {"{\"type\":\"t\",}", "line 1"},
    {"{\"type\":\"t\",\"payload\":01}", "line 1"},
    {"{\"type\":\"t\",\"type\":\"u\"}", "the name 'type'"},
};

START_TEST(what_other_modules_refuse_is_refused_with_their_reason)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct job job = job_defaults();
    struct error err = {0};

    ck_assert(!job_json_parse(bytes_of(elsewhere[_i].text), NOW, &arena, &job, &err));
    ck_assert_int_eq((int)err.code, TH_E_INVALID);
    ck_assert_msg(strncmp(err.text, elsewhere[_i].start, strlen(elsewhere[_i].start)) == 0 &&
                      strlen(err.text) > strlen(elsewhere[_i].start),
                  "%s: %s", elsewhere[_i].text, err.text);
}
END_TEST

START_TEST(an_arena_without_memory_is_not_the_writers_fault)
{
    CLEANUP(arena_done) struct arena arena = {.failed = true};
    struct job job = job_defaults();
    struct error err = {0};

    ck_assert(!job_json_parse(BYTES("{\"type\":\"t\"}"), NOW, &arena, &job, &err));
    ck_assert_int_eq((int)err.code, TH_E_NO_MEMORY);
}
END_TEST

TCase *job_json_read_case(void)
{
    TCase *read = pure_case("read");

    tcase_add_test(read, a_type_is_all_it_takes);
    tcase_add_test(read, every_field_can_be_given);
    tcase_add_loop_test(read, each_flag_is_read_by_its_own_name, 0, COUNT_OF(flags));
    tcase_add_loop_test(read, a_null_member_is_an_absent_one, 0, COUNT_OF(optional));
    tcase_add_test(read, a_payload_stays_where_it_was_written);
    tcase_add_test(read, a_payload_in_base64_is_raw);
    tcase_add_loop_test(read, run_at_is_a_moment_or_a_delay, 0, COUNT_OF(moments));
    tcase_add_loop_test(read, a_timeout_is_a_duration_or_milliseconds, 0, COUNT_OF(durations));
    tcase_add_test(read, what_is_wrong_is_refused_with_its_name);
    tcase_add_loop_test(read, what_other_modules_refuse_is_refused_with_their_reason, 0,
                        COUNT_OF(elsewhere));
    tcase_add_test(read, an_arena_without_memory_is_not_the_writers_fault);
    return read;
}

#include "store/redis/codec/record.h"

#include "base/cleanup.h"
#include "suites.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN "0123456789abcdefghij"
#define JOB                                                                                        \
    "p 17 5 1893553445123456 0 30000000 4 3 1 2 6 1893553445000000 0 1 10 3 4 email:sendkeyonce{}"
#define RICH  "t 17 5 1893553445123456          2 1   w7 3 {\"a\":1}x y{}"
#define LEASE "p" TOKEN "001893553475123456 2 1893553445123456 3 0 web-1.x"
#define END   "5T" TOKEN " 0 2 1 0 1893553446000000 1 3 1893553445123456 500 20 10 2048 0 0 - web-1.x"
#define RUN   "2 1 3 1893553445123456 500 20 10 2048 -1 9 1 7 web-1.xkilled"

/* Bytes that end with their block: whoever reads beyond them is caught. */
static redisReply reply_of(const char *text, size_t length)
{
    char *bytes = malloc(length + (length == 0));

    ck_assert_ptr_nonnull(bytes);
    memcpy(bytes, text, length);
    return (redisReply){.type = REDIS_REPLY_STRING, .str = bytes, .len = length};
}

struct read {
    struct arena arena;
    struct job job;
    struct job_run run;
};

static void read_done(struct read *read)
{
    arena_done(&read->arena);
}

static bool read_job(const redisReply *text, struct read *read)
{
    return redis_record_job(text, &read->arena, &read->job);
}

static bool read_lease(const redisReply *text, struct read *read)
{
    return redis_record_lease(text, &read->arena, &read->job);
}

static bool read_end(const redisReply *text, struct read *read)
{
    return redis_record_end(text, &read->arena, &read->job, &read->run);
}

static bool read_run(const redisReply *text, struct read *read)
{
    return redis_record_run(text, &read->arena, &read->run);
}

/* Of each kind of record one, and how many of its last bytes may be missing unnoticed: what comes
 * last has no length of its own. */
static const struct {
    const char *name, *text;
    size_t rest;
    bool (*read)(const redisReply *text, struct read *read);
} kinds[] = {
    {"job", JOB, sizeof("{}") - 1, read_job},
    {"lease", LEASE, sizeof("web-1.x") - 1, read_lease},
    {"end", END, sizeof("web-1.x") - 1, read_end},
    {"run", RUN, sizeof("killed") - 1, read_run},
    {"job with headers and tags", RICH, sizeof("{}") - 1, read_job},
};

static bool read_text(size_t kind, const char *text, size_t length, struct read *read)
{
    redisReply reply = reply_of(text, length);
    bool ok = kinds[kind].read(&reply, read);

    free(reply.str);
    return ok;
}

/* ---- writing and reading ---- */

START_TEST(headers_and_tags_are_read_as_they_were_written)
{
    CLEANUP(buffer_done) struct buffer record = BUFFER(4096);
    CLEANUP(read_done) struct read read = {0};
    char how[REDIS_HOW_SIZE];
    struct job job = job_defaults();

    job.type = "t";
    job.headers = "{ \"a\": 1 }";
    ck_assert_str_eq(redis_record_how(&job, how), "ps");
    job.tags = (struct tags){(const char *const[]){"x", "y:1"}, 2};
    ck_assert_str_eq(redis_record_how(&job, how), "tk");
    job.payload = (struct bytes){(const unsigned char *)"5 6 7", 5};
    job.encoding = JOB_RAW;
    buffer_text(&record, "t 42 ");
    redis_record_body(&record, &job, 1893553445123456);
    ck_assert(read_text(0, record.data, record.length, &read));
    ck_assert_str_eq(read.job.headers, job.headers);
    ck_assert_uint_eq(read.job.tags.count, 2);
    ck_assert_str_eq(read.job.tags.names[1], "y:1");
    ck_assert_int_eq(read.job.encoding, JOB_RAW);
    ck_assert_uint_eq(read.job.payload.length, 5);
    ck_assert_mem_eq(read.job.payload.data, "5 6 7", 5);
}
END_TEST

START_TEST(a_job_is_read_as_it_was_written)
{
    CLEANUP(buffer_done) struct buffer record = BUFFER(4096);
    CLEANUP(read_done) struct read read = {0};
    struct job job = job_defaults();

    job.type = "email:send";
    job.key = "user 7";
    job.idempotency_key = "once";
    job.payload = (struct bytes){(const unsigned char *)"a\0b", 3};
    job.encoding = JOB_RAW;
    job.priority = 9;
    job.run_at = 253402300799999999;
    job.timeout = JOB_TIMEOUT_MAX;
    job.max_attempts = job.max_stalls = JOB_COUNT_MAX;
    job.attempts = 3;
    job.stalls = 2;
    job.update.run_at = UPDATE_RUN_AT_IF_LATER;
    buffer_text(&record, "t 42 ");
    redis_record_body(&record, &job, 1893553445123456);
    ck_assert(read_text(0, record.data, record.length, &read));
    ck_assert_int_eq(read.job.ref, 42);
    ck_assert_str_eq(read.job.type, "email:send");
    ck_assert_str_eq(read.job.key, "user 7");
    ck_assert_str_eq(read.job.idempotency_key, "once");
    ck_assert_uint_eq(read.job.payload.length, 3);
    ck_assert_mem_eq(read.job.payload.data, "a\0b", 3);
    ck_assert_int_eq(read.job.encoding, JOB_RAW);
    ck_assert_int_eq(read.job.priority, 9);
    ck_assert_int_eq(read.job.run_at, job.run_at);
    ck_assert_int_eq(read.job.due, job.run_at);
    ck_assert_int_eq(read.job.timeout, JOB_TIMEOUT_MAX);
    ck_assert_int_eq(read.job.max_attempts, JOB_COUNT_MAX);
    ck_assert_int_eq(read.job.max_stalls, JOB_COUNT_MAX);
    ck_assert_int_eq(read.job.attempts, 3);
    ck_assert_int_eq(read.job.stalls, 2);
    ck_assert_int_eq(read.job.created_at, 1893553445123456);
    ck_assert_int_eq(keyed_flags_pack(read.job.update), keyed_flags_pack(job.update));
}
END_TEST

START_TEST(what_a_job_does_not_have_is_absent)
{
    CLEANUP(buffer_done) struct buffer record = BUFFER(4096);
    CLEANUP(read_done) struct read read = {0};
    struct job job = job_defaults();

    job.type = "work";
    job.payload = (struct bytes){0};
    buffer_text(&record, "p 1 ");
    redis_record_body(&record, &job, 1893553445123456);
    ck_assert(read_text(0, record.data, record.length, &read));
    ck_assert_ptr_null(read.job.key);
    ck_assert_ptr_null(read.job.idempotency_key);
    ck_assert_uint_eq(read.job.payload.length, 0);
    ck_assert_int_eq(read.job.run_at, 0);
    ck_assert_int_eq(read.job.due, 1893553445123456);
}
END_TEST

START_TEST(what_is_absent_or_usual_takes_no_room)
{
    CLEANUP(buffer_done) struct buffer record = BUFFER(4096);
    CLEANUP(read_done) struct read read = {0};
    struct job job = job_defaults();

    job.type = "work";
    job.payload = (struct bytes){(const unsigned char *)"{}", 2};
    buffer_text(&record, "p 1 ");
    redis_record_body(&record, &job, 1893553445123456);
    ck_assert_uint_eq(record.length, sizeof "p 1 5 1893553445123456           4   work{}" - 1);
    ck_assert_mem_eq(record.data, "p 1 5 1893553445123456           4   work{}", record.length);
    ck_assert(read_text(0, record.data, record.length, &read));
    ck_assert_int_eq(read.job.created_at, 1893553445123456);
    ck_assert_uint_eq(read.job.payload.length, 2);
}
END_TEST

START_TEST(an_end_is_read_as_it_was_written)
{
    CLEANUP(buffer_done) struct buffer record = BUFFER(4096);
    CLEANUP(read_done) struct read read = {0};
    struct settlement settlement = {
        .run = {.pool = "web-1.x",
                .worker = 3,
                .started_at = 7,
                .wall = 500,
                .user = 20,
                .system = 10,
                .max_rss_kb = 2048,
                .exit_code = JOB_NO_EXIT_CODE},
    };

    memcpy(settlement.token.bytes, TOKEN, sizeof settlement.token.bytes);
    redis_record_plain_end(&record, &settlement, 1893553446000000);
    ck_assert(read_text(2, record.data, record.length, &read));
    ck_assert_mem_eq(read.job.token.bytes, TOKEN, sizeof read.job.token.bytes);
    ck_assert_int_eq(read.job.ended_at, 1893553446000000);
    ck_assert_int_eq(read.job.executions, 1);
    ck_assert_int_eq(read.job.worker, 3);
    ck_assert_str_eq(read.job.pool, "web-1.x");
    ck_assert(uuid_is_nil(&read.job.merged_into));
    ck_assert_int_eq(read.run.execution, 1);
    ck_assert_int_eq(read.run.started_at, 7);
    ck_assert_int_eq(read.run.wall, 500);
    ck_assert_int_eq(read.run.max_rss_kb, 2048);
    ck_assert_int_eq(read.run.exit_code, JOB_NO_EXIT_CODE);
    ck_assert_str_eq(read.run.pool, "web-1.x");
}
END_TEST

START_TEST(an_end_by_a_merge_says_into_which_job)
{
    static const char end[] = "7-" TOKEN " -1 0 0 0 1893553446000000 0 0 0 0 0 0 0 -1 0 "
                              "0193a0b0-0000-7000-8000-000000000001 ";
    CLEANUP(read_done) struct read read = {0};
    char id[UUID_TEXT_SIZE];

    ck_assert(read_text(2, end, strlen(end), &read));
    ck_assert_str_eq(uuid_format(&read.job.merged_into, id),
                     "0193a0b0-0000-7000-8000-000000000001");
    ck_assert_int_eq(read.run.execution, 0);
    ck_assert_ptr_null(read.job.pool);
}
END_TEST

START_TEST(a_lease_is_read)
{
    CLEANUP(read_done) struct read read = {0};

    ck_assert(read_text(1, LEASE, strlen(LEASE), &read));
    ck_assert_mem_eq(read.job.token.bytes, TOKEN, sizeof read.job.token.bytes);
    ck_assert_int_eq(read.job.expires_at, 1893553475123456);
    ck_assert_int_eq(read.job.executions, 2);
    ck_assert_int_eq(read.job.started_at, 1893553445123456);
    ck_assert_int_eq(read.job.worker, 3);
    ck_assert_str_eq(read.job.pool, "web-1.x");
}
END_TEST

START_TEST(a_run_is_read)
{
    CLEANUP(read_done) struct read read = {0};

    ck_assert(read_text(3, RUN, strlen(RUN), &read));
    ck_assert_int_eq(read.run.execution, 2);
    ck_assert_int_eq(read.run.outcome, RUN_RETRY);
    ck_assert_int_eq(read.run.exit_code, JOB_NO_EXIT_CODE);
    ck_assert_int_eq(read.run.signal, 9);
    ck_assert_str_eq(read.run.pool, "web-1.x");
    ck_assert_str_eq(read.run.error, "killed");
}
END_TEST

static const struct {
    const char *rule;
    size_t payload;
    const char *key, *idempotency_key;
    int attempts;
    const char *how;
} ways[] = {
    {"a plain job", 2, NULL, NULL, 0, "ps"},
    {"the longest payload inside", REDIS_PAYLOAD_INSIDE, NULL, NULL, 0, "ps"},
    {"a payload outside", REDIS_PAYLOAD_INSIDE + 1, NULL, NULL, 0, "Ps"},
    {"a key", 2, "k", NULL, 0, "tk"},
    {"an idempotency key", 2, NULL, "i", 0, "pk"},
    {"brought from elsewhere", 2, NULL, NULL, 1, "ts"},
    {"all of it", REDIS_PAYLOAD_INSIDE + 1, "k", "i", 1, "Tk"},
};

START_TEST(a_script_is_told_what_it_has_to_look_at)
{
    AUTO_FREE unsigned char *payload = calloc(1, ways[_i].payload);
    struct job job = job_defaults();
    char how[REDIS_HOW_SIZE];

    job.payload = (struct bytes){payload, ways[_i].payload};
    job.key = ways[_i].key;
    job.idempotency_key = ways[_i].idempotency_key;
    job.attempts = ways[_i].attempts;
    ck_assert_msg(strcmp(redis_record_how(&job, how), ways[_i].how) == 0, "%s, not %s",
                  ways[_i].rule, how);
}
END_TEST

/* ---- damage ---- */

static const struct {
    const char *rule;
    size_t kind;
    const char *text;
} damaged[] = {
    {"a number of 19 digits", 0, "p 1000000000000000000 5 1 0 0 4 3 0 0 0 1 0 0 4 0 0 work{}"},
    {"a number with a sign", 0, "p 1 5 1 0 -3 4 3 0 0 0 1 0 0 4 0 0 work{}"},
    {"a priority over 9", 0, "p 1 10 1 0 0 4 3 0 0 0 1 0 0 4 0 0 work{}"},
    {"more attempts than an int", 0, "p 1 5 1 0 0 4 3 4294967296 0 0 1 0 0 4 0 0 work{}"},
    {"a letter where a number should be", 0, "p 1 5 1 0 x 4 3 0 0 0 1 0 0 4 0 0 work{}"},
    {"two spaces", 0, "p 1 5  1 0 0 4 3 0 0 0 1 0 0 4 0 0 work{}"},
    {"a type longer than the record", 0, "p 1 5 1 0 0 4 3 0 0 0 1 0 0 400 0 0 work{}"},
    {"a key longer than the record", 0, "p 1 5 1 0 0 4 3 0 0 0 1 0 0 4 3 0 work{}"},
    {"an idempotency key longer than it", 0,
     "p 1 5 1 0 0 4 3 0 0 0 1 0 0 4 0 999999999999999999 work{}"},
    {"an outcome that is none", 3, "2 7 3 1 500 20 10 2048 -1 9 1 7 web-1.xkilled"},
    {"a pool longer than the record", 3, "2 1 3 1 500 20 10 2048 -1 9 1 70 web-1.xkilled"},
    {"a signal over an int", 3, "2 1 3 1 500 20 10 2048 -1 99999999999 1 7 web-1.xkilled"},
    {"an exit code over an int", 3, "2 1 3 1 500 20 10 2048 -2147483648 9 1 7 web-1.xkilled"},
    {"a sign alone", 3, "2 1 3 1 500 20 10 2048 - 9 1 7 web-1.xkilled"},
    {"an end without its last fields", 2, "5T" TOKEN " 0 2 1 0 1893553446000000 1 3"},
    {"an end that names no twin", 2, "5T" TOKEN " 0 2 1 0 1 1 3 1 500 20 10 2048 0 0"},
    {"a lease that is not text", 1, "p" TOKEN "\x01\x02\x03"},
};

START_TEST(a_damaged_record_is_refused)
{
    CLEANUP(read_done) struct read read = {0};

    ck_assert_msg(!read_text(damaged[_i].kind, damaged[_i].text, strlen(damaged[_i].text), &read),
                  "%s", damaged[_i].rule);
}
END_TEST

START_TEST(a_record_that_is_cut_off_is_refused)
{
    size_t length = strlen(kinds[_i].text);

    for (size_t kept = 0; kept <= length; kept++) {
        CLEANUP(read_done) struct read read = {0};
        bool whole = read_text((size_t)_i, kinds[_i].text, kept, &read);
        ck_assert_msg(whole == (kept >= length - kinds[_i].rest), "%s, %zu of %zu bytes",
                      kinds[_i].name, kept, length);
    }
}
END_TEST

START_TEST(a_record_with_any_byte_changed_is_refused_or_can_be_shown)
{
    static const char bytes[] = {0, ' ', '-', '0', '9', 'x', '\n', (char)0x80, (char)0xff};
    AUTO_FREE char *text = strdup(kinds[_i].text);
    size_t length = strlen(kinds[_i].text);

    for (size_t at = 0; at < length; at++) {
        for (size_t k = 0; k < COUNT_OF(bytes); k++) {
            CLEANUP(read_done) struct read read = {0};
            text[at] = bytes[k];
            if (!read_text((size_t)_i, text, length, &read))
                continue;
            ck_assert_ptr_nonnull(run_outcome_name(read.run.outcome));
            ck_assert_int_le(read.job.priority, JOB_PRIORITY_MAX);
            ck_assert_int_ge(read.job.timeout, 0);
        }
        text[at] = kinds[_i].text[at];
    }
}
END_TEST

START_TEST(an_answer_that_is_no_text_is_refused)
{
    static const redisReply others[] = {
        {.type = REDIS_REPLY_NIL},
        {.type = REDIS_REPLY_INTEGER, .integer = 7},
        {.type = REDIS_REPLY_ARRAY},
    };

    for (size_t i = 0; i < COUNT_OF(others); i++) {
        CLEANUP(read_done) struct read read = {0};
        ck_assert(!kinds[_i].read(&others[i], &read));
    }
}
END_TEST

static const struct {
    const char *rule;
    redisReply reply;
    int64_t number;
} numbers[] = {
    {"a number", {.type = REDIS_REPLY_INTEGER, .integer = -7}, -7},
    {"its text",
     {.type = REDIS_REPLY_STRING, .str = (char *)"1893553445123456", .len = 16},
     1893553445123456},
    {"other text is 0", {.type = REDIS_REPLY_STRING, .str = (char *)"7x", .len = 2}, 0},
    {"too much is 0",
     {.type = REDIS_REPLY_STRING, .str = (char *)"9223372036854775808", .len = 19},
     0},
    {"nothing is 0", {.type = REDIS_REPLY_NIL}, 0},
};

START_TEST(a_number_is_read_in_either_form)
{
    ck_assert_msg(redis_reply_int(&numbers[_i].reply) == numbers[_i].number, "%s",
                  numbers[_i].rule);
}
END_TEST

Suite *redis_record_suite(void)
{
    Suite *suite = suite_create("store/redis_record");
    TCase *forms = tcase_create("forms");
    TCase *damage = tcase_create("damage");

    tcase_add_test(forms, a_job_is_read_as_it_was_written);
    tcase_add_test(forms, headers_and_tags_are_read_as_they_were_written);
    tcase_add_test(forms, what_a_job_does_not_have_is_absent);
    tcase_add_test(forms, what_is_absent_or_usual_takes_no_room);
    tcase_add_test(forms, an_end_is_read_as_it_was_written);
    tcase_add_test(forms, an_end_by_a_merge_says_into_which_job);
    tcase_add_test(forms, a_lease_is_read);
    tcase_add_test(forms, a_run_is_read);
    tcase_add_loop_test(forms, a_script_is_told_what_it_has_to_look_at, 0, COUNT_OF(ways));
    tcase_add_loop_test(forms, a_number_is_read_in_either_form, 0, COUNT_OF(numbers));
    suite_add_tcase(suite, forms);

    tcase_add_loop_test(damage, a_damaged_record_is_refused, 0, COUNT_OF(damaged));
    tcase_add_loop_test(damage, a_record_that_is_cut_off_is_refused, 0, COUNT_OF(kinds));
    tcase_add_loop_test(damage, a_record_with_any_byte_changed_is_refused_or_can_be_shown, 0,
                        COUNT_OF(kinds));
    tcase_add_loop_test(damage, an_answer_that_is_no_text_is_refused, 0, COUNT_OF(kinds));
    suite_add_tcase(suite, damage);
    return suite;
}

/*
 * test_job_validate.c - what may be stored, and what is said of what may not.
 */
#include "base/error.h"
#include "base/timestamp.h"
#include "cases.h"
#include "job/job.h"
#include "suites.h"

#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define NAME_ALLOWED "use 1 to 128 of A-Z a-z 0-9 _ . : -"
#define KEY_ALLOWED  "use 1 to 256 bytes of UTF-8, or leave it out"

#define TEN       "abcdefghij"
#define HUNDRED   TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define NAME_128  HUNDRED TEN TEN "12345678"
#define KEY_256   HUNDRED HUNDRED TEN TEN TEN TEN TEN "123456"
#define EURO      "\xe2\x82\xac" /* three bytes */
#define NO_UTF8   "caf\xe9"
#define SURROGATE "\xed\xa0\x80"

static struct job valid_job(void)
{
    struct job job = job_defaults();

    job.id.bytes[15] = 1;
    job.type = "email:send";
    return job;
}

/* NULL: valid. */
static void assert_verdict(struct job *job, const char *expected, const char *rule)
{
    struct error err = {0};
    const bool ok = job_validate(job, 100, &err);

    if (!expected) {
        ck_assert_msg(ok, "%s, but: %s", rule, err.text);
        return;
    }
    ck_assert_msg(!ok, "%s, but it was accepted", rule);
    ck_assert_int_eq((int)err.code, TH_E_INVALID);
    ck_assert_msg(strcmp(err.text, expected) == 0, "%s, but the text is: %s", rule, err.text);
}

START_TEST(defaults_with_type_and_id_are_valid)
{
    struct job job = valid_job();

    assert_verdict(&job, NULL, "a type and an id are all it takes");
}
END_TEST

START_TEST(a_nil_id_is_refused)
{
    struct job job = valid_job();

    job.id = (struct uuid){0};
    assert_verdict(&job, "id is missing: use a UUID other than nil", "an id is never nil");
}
END_TEST

/* What is wrong with a name; what follows the name of the field, or NULL. */
static const struct {
    const char *rule;
    const char *name;
    const char *complaint;
} job_names[] = {
    {"one letter is enough", "a", NULL},
    {"every kind of character", "AZaz09_.:-", NULL},
    {"128 characters", NAME_128, NULL},
    {"a name is needed", NULL, "is blank: " NAME_ALLOWED},
    {"an empty one is none", "", "is blank: " NAME_ALLOWED},
    {"a blank one is none", " \t\n", "is blank: " NAME_ALLOWED},
    {"129 are too many", NAME_128 "9",
     "'" TEN TEN TEN TEN "abcd...' is 129 characters long: " NAME_ALLOWED},
    {"a space within", "a b", "'a b' has a character that is not allowed: " NAME_ALLOWED},
    {"a space before", " a", "' a' has a character that is not allowed: " NAME_ALLOWED},
    {"a slash", "a/b", "'a/b' has a character that is not allowed: " NAME_ALLOWED},
    {"the brace of a Redis hash tag", "a}b",
     "'a}b' has a character that is not allowed: " NAME_ALLOWED},
    {"the at sign before A", "@", "'@' has a character that is not allowed: " NAME_ALLOWED},
    {"the bracket after Z", "[", "'[' has a character that is not allowed: " NAME_ALLOWED},
    {"the tick before a", "`", "'`' has a character that is not allowed: " NAME_ALLOWED},
    {"the semicolon after 9 and :", ";", "';' has a character that is not allowed: " NAME_ALLOWED},
    {"a letter of another language is shown by its bytes", "gr\xc3\xb6sse",
     "'gr\\xc3\\xb6sse' has a character that is not allowed: " NAME_ALLOWED},
    {"no control character reaches a terminal", "\x1b[31m\n\x7f",
     "'\\x1b[31m\\x0a\\x7f' has a character that is not allowed: " NAME_ALLOWED},
    {"44 characters are shown whole", TEN TEN TEN TEN "abc!",
     "'" TEN TEN TEN TEN "abc!' has a character that is not allowed: " NAME_ALLOWED},
    {"45 are cut", TEN TEN TEN TEN "abcd!",
     "'" TEN TEN TEN TEN "abcd...' has a character that is not allowed: " NAME_ALLOWED},
    {"a byte is shown whole or not at all", TEN TEN TEN TEN "a\x01",
     "'" TEN TEN TEN TEN "a...' has a character that is not allowed: " NAME_ALLOWED},
};

START_TEST(a_type_is_a_name)
{
    struct job job = valid_job();
    char expected[256];

    job.type = job_names[_i].name;
    snprintf(expected, sizeof expected, "type %s",
             job_names[_i].complaint ? job_names[_i].complaint : "");
    assert_verdict(&job, job_names[_i].complaint ? expected : NULL, job_names[_i].rule);
}
END_TEST

START_TEST(a_queue_is_a_name)
{
    struct job job = valid_job();
    char expected[256];

    job.queue = job_names[_i].name;
    snprintf(expected, sizeof expected, "queue %s",
             job_names[_i].complaint ? job_names[_i].complaint : "");
    assert_verdict(&job, job_names[_i].complaint ? expected : NULL, job_names[_i].rule);
}
END_TEST

START_TEST(a_tag_is_a_name)
{
    struct job job = valid_job();
    const char *const names[] = {"first", job_names[_i].name};
    char expected[256];

    job.tags = (struct tags){names, 2};
    snprintf(expected, sizeof expected, "tag %s",
             job_names[_i].complaint ? job_names[_i].complaint : "");
    assert_verdict(&job, job_names[_i].complaint ? expected : NULL, job_names[_i].rule);
}
END_TEST

START_TEST(tags_are_few_and_each_stands_there_once)
{
    static const char *const many[] = {"1", "2", "3", "4", "5", "6", "7", "8", "9"};
    static const char *const twice[] = {"a", "b", "a"};
    struct job job = valid_job();

    job.tags = (struct tags){many, 8};
    assert_verdict(&job, NULL, "eight");
    job.tags = (struct tags){many, 9};
    assert_verdict(&job, "tags are 9: use at most 8", "nine");
    job.tags = (struct tags){twice, 3};
    assert_verdict(&job, "tag 'a' stands there twice: use it once", "twice");
}
END_TEST

START_TEST(headers_are_checked_as_headers_are)
{
    struct job job = valid_job();

    job.headers = "{\"a\":1}";
    assert_verdict(&job, NULL, "an object");
    job.headers = "[]";
    assert_verdict(&job,
                   "headers are not a JSON object: use a JSON object of at most 8192 bytes, or "
                   "leave them out",
                   "an array");
}
END_TEST

START_TEST(a_name_is_valid_when_a_queue_of_that_name_is)
{
    ck_assert_msg(job_name_is_valid(job_names[_i].name) == !job_names[_i].complaint, "%s",
                  job_names[_i].rule);
}
END_TEST

static const struct {
    const char *rule;
    const char *name;
    size_t max;
    const char *complaint;
} checked_names[] = {
    {"a name", "a", 128, NULL},
    {"as long as it may be", "abc", 3, NULL},
    {"longer", "abcd", 3, "'abcd' is not a name: use 1 to 3 of A-Z a-z 0-9 _ . : -"},
    {"a space", "a b", 128, "'a b' is not a name: " NAME_ALLOWED},
    {"what cannot be shown", "\x1b", 128, "'\\x1b' is not a name: " NAME_ALLOWED},
    {"an empty one", "", 128, "'' is not a name: " NAME_ALLOWED},
    {"none", NULL, 128, "'' is not a name: " NAME_ALLOWED},
};

START_TEST(a_name_that_is_none_is_told_with_what_is_one)
{
    struct error err = {0};
    const bool ok = job_name_check(checked_names[_i].name, checked_names[_i].max, &err);
    const char *complaint = checked_names[_i].complaint;

    ck_assert_msg(ok == !complaint, "%s", checked_names[_i].rule);
    ck_assert_str_eq(err.text, complaint ? complaint : "");
}
END_TEST

START_TEST(each_byte_is_allowed_in_a_name_exactly_when_it_is_in_the_set)
{
    for (int c = 0; c < 256; c++) {
        const char name[] = {(char)c, '\0'};
        const bool allowed = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                             (c >= '0' && c <= '9') || c == '_' || c == '.' || c == ':' || c == '-';

        ck_assert_msg(job_name_is_valid(name) == allowed, "byte %d", c);
    }
}
END_TEST

static const struct {
    const char *rule;
    enum job_encoding encoding;
    const char *payload, *complaint;
} payloads[] = {
    {"JSON", JOB_JSON, "{\"a\":[1]}", NULL},
    {"nothing is no JSON", JOB_JSON, "",
     "payload is not JSON: line 1, column 1: expected a value (use raw for other bytes)"},
    {"half of it is none", JOB_JSON, "[1,",
     "payload is not JSON: line 1, column 4: expected a value (use raw for other bytes)"},
    {"other bytes are raw", JOB_RAW, "[1,", NULL},
};

START_TEST(a_payload_is_json_unless_it_is_raw)
{
    struct job job = valid_job();
    const char *payload = payloads[_i].payload;

    job.encoding = payloads[_i].encoding;
    job.payload = (struct bytes){(const unsigned char *)payload, strlen(payload)};
    assert_verdict(&job, payloads[_i].complaint, payloads[_i].rule);
}
END_TEST

START_TEST(a_payload_is_as_long_as_configured_at_most)
{
    static const unsigned char bytes[101] = {0};
    struct job job = valid_job();

    job.encoding = JOB_RAW;
    job.payload = (struct bytes){bytes, 100};
    assert_verdict(&job, NULL, "100 of 100 bytes");
    job.payload = (struct bytes){bytes, 101};
    assert_verdict(&job, "payload is 101 bytes long: use at most 100", "101 of 100 bytes");
    job.payload = (struct bytes){bytes, 0};
    assert_verdict(&job, NULL, "none at all");
}
END_TEST

#define FIELD(member) offsetof(struct job, member), sizeof(((struct job *)0)->member)
#define OUT_OF(range) " is out of range: use " range
#define YEARS         "the years 2000 to 9999"
#define TOO_EARLY     "run_at is before the year 2000 (as a number it is microseconds since 1970)"
#define YEAR          (365 * USEC_PER_DAY)
#define MILLION       "0 to 1000000"

/* clang-format off */
static const struct {
    const char *rule;
    size_t offset, size;
    int64_t value;
    const char *expected;
} numbers[] = {
    {"0 is the most urgent",          FIELD(priority), 0, NULL},
    {"9 is the least",                FIELD(priority), 9, NULL},
    {"nothing is more urgent than 0", FIELD(priority), -1, "priority" OUT_OF("0 to 9")},
    {"nor less than 9",               FIELD(priority), 10, "priority" OUT_OF("0 to 9")},
    {"no run_at is now",              FIELD(run_at), 0, NULL},
    {"the first moment",              FIELD(run_at), TIMESTAMP_2000, NULL},
    {"before 2000 nobody means",      FIELD(run_at), TIMESTAMP_2000 - 1, TOO_EARLY},
    {"nor in milliseconds",           FIELD(run_at), 1893553445123, TOO_EARLY},
    {"the last moment",               FIELD(run_at), TIMESTAMP_MAX, NULL},
    {"no moment before 1970",         FIELD(run_at), -1, "run_at" OUT_OF(YEARS)},
    {"no moment after 9999",          FIELD(run_at), TIMESTAMP_MAX + 1, "run_at" OUT_OF(YEARS)},
    {"no timeout of its own",         FIELD(timeout), 0, NULL},
    {"the shortest",                  FIELD(timeout), 1, NULL},
    {"the longest",                   FIELD(timeout), YEAR, NULL},
    {"none is negative",              FIELD(timeout), -1, "timeout" OUT_OF("0 to 365d")},
    {"none is longer",                FIELD(timeout), YEAR + 1, "timeout" OUT_OF("0 to 365d")},
    {"or for ever",                   FIELD(timeout), USEC_MAX, "timeout" OUT_OF("0 to 365d")},
    {"one attempt",                   FIELD(max_attempts), 1, NULL},
    {"a million",                     FIELD(max_attempts), 1000000, NULL},
    {"not fewer than none",           FIELD(max_attempts), -1, "max_attempts" OUT_OF(MILLION)},
    {"not more than a million",       FIELD(max_attempts), 1000001, "max_attempts" OUT_OF(MILLION)},
    {"one stall",                     FIELD(max_stalls), 1, NULL},
    {"a million of them",             FIELD(max_stalls), 1000000, NULL},
    {"a limit is not negative",       FIELD(max_stalls), -1, "max_stalls" OUT_OF(MILLION)},
    {"and not over a million",        FIELD(max_stalls), INT_MAX, "max_stalls" OUT_OF(MILLION)},
    {"attempts without a limit",      FIELD(attempts), 1000000, NULL},
    {"attempts are not negative",     FIELD(attempts), -1, "attempts" OUT_OF(MILLION)},
    {"attempts are countable",        FIELD(attempts), 1000001, "attempts" OUT_OF(MILLION)},
    {"stalls without a limit",        FIELD(stalls), 1000000, NULL},
    {"stalls are not negative",       FIELD(stalls), INT_MIN, "stalls" OUT_OF(MILLION)},
    {"stalls are countable",          FIELD(stalls), 1000001, "stalls" OUT_OF(MILLION)},
};
/* clang-format on */

START_TEST(a_number_has_its_range)
{
    struct job job = valid_job();
    char *target = (char *)&job + numbers[_i].offset;

    if (numbers[_i].size == sizeof(int))
        *(int *)target = (int)numbers[_i].value;
    else
        *(usec_t *)target = numbers[_i].value;
    assert_verdict(&job, numbers[_i].expected, numbers[_i].rule);
}
END_TEST

static const struct {
    const char *rule;
    int count, max;
    bool valid;
} counts[] = {
    {"fewer than allowed", 3, 4, true},
    {"as many as allowed", 4, 4, true},
    {"more than allowed", 5, 4, false},
    {"nothing says how many", 5, 0, true},
};

START_TEST(attempts_are_not_over_their_own_limit)
{
    struct job job = valid_job();

    job.attempts = counts[_i].count;
    job.max_attempts = counts[_i].max;
    assert_verdict(
        &job, counts[_i].valid ? NULL : "attempts 5 is over max_attempts 4: use at most as many",
        counts[_i].rule);
}
END_TEST

START_TEST(stalls_are_not_over_their_own_limit)
{
    struct job job = valid_job();

    job.stalls = counts[_i].count;
    job.max_stalls = counts[_i].max;
    assert_verdict(&job,
                   counts[_i].valid ? NULL : "stalls 5 is over max_stalls 4: use at most as many",
                   counts[_i].rule);
}
END_TEST

/* What both kinds of key have in common. */
static const struct {
    const char *rule;
    const char *key;
    const char *complaint;
} keys[] = {
    {"none is fine", NULL, NULL},
    {"one byte", "k", NULL},
    {"256 bytes", KEY_256, NULL},
    {"any language",
     "gr\xc3\xb6\xc3\x9f"
     "e " EURO,
     NULL},
    {"any character", "a/b {c}\n", NULL},
    {"257 bytes", KEY_256 "7", "is 257 bytes long: " KEY_ALLOWED},
    {"bytes are counted, not characters", KEY_256 EURO, "is 259 bytes long: " KEY_ALLOWED},
    {"what is not UTF-8", NO_UTF8, "is not valid UTF-8: " KEY_ALLOWED},
    {"half a surrogate pair", SURROGATE, "is not valid UTF-8: " KEY_ALLOWED},
};

START_TEST(a_key_is_a_short_text)
{
    struct job job = valid_job();
    char expected[256];

    job.key = keys[_i].key;
    snprintf(expected, sizeof expected, "key %s", keys[_i].complaint ? keys[_i].complaint : "");
    assert_verdict(&job, keys[_i].complaint ? expected : NULL, keys[_i].rule);
}
END_TEST

START_TEST(an_idempotency_key_is_a_short_text)
{
    struct job job = valid_job();
    char expected[256];

    job.idempotency_key = keys[_i].key;
    job.idempotency_expires = 1;
    snprintf(expected, sizeof expected, "idempotency_key %s",
             keys[_i].complaint ? keys[_i].complaint : "");
    assert_verdict(&job, keys[_i].complaint ? expected : NULL, keys[_i].rule);
    ck_assert_ptr_eq(job.idempotency_key, keys[_i].key);
}
END_TEST

static const char *const blanks[] = {"", " ", " \t\r\n"};

START_TEST(a_blank_key_is_refused)
{
    struct job job = valid_job();

    job.key = blanks[_i];
    assert_verdict(&job, "key is blank: " KEY_ALLOWED, "blank is not absent here");
}
END_TEST

START_TEST(a_blank_idempotency_key_becomes_absent)
{
    struct job job = valid_job();

    job.idempotency_key = blanks[_i];
    assert_verdict(&job, NULL, "blank is absent here");
    ck_assert_ptr_null(job.idempotency_key);
}
END_TEST

static const struct {
    const char *rule;
    const char *key;
    usec_t expires;
    const char *expected;
} records[] = {
    {"a key with its end", "k", 1, NULL},
    {"the last moment is one", "k", TIMESTAMP_MAX, NULL},
    {"a key without", "k", 0, "idempotency_expires is missing: idempotency_key needs it"},
    {"a key that never held", "k", -1, "idempotency_expires" OUT_OF("the years 1970 to 9999")},
    {"a key that holds too long", "k", TIMESTAMP_MAX + 1,
     "idempotency_expires" OUT_OF("the years 1970 to 9999")},
    {"without a key it does not matter", NULL, -1, NULL},
    {"nor with a blank one", " ", 0, NULL},
};

START_TEST(an_idempotency_record_has_an_end)
{
    struct job job = valid_job();

    job.idempotency_key = records[_i].key;
    job.idempotency_expires = records[_i].expires;
    assert_verdict(&job, records[_i].expected, records[_i].rule);
}
END_TEST

TCase *job_validate_case(void)
{
    TCase *fields = pure_case("validate");

    tcase_add_test(fields, defaults_with_type_and_id_are_valid);
    tcase_add_test(fields, a_nil_id_is_refused);
    tcase_add_loop_test(fields, a_type_is_a_name, 0, COUNT_OF(job_names));
    tcase_add_loop_test(fields, a_queue_is_a_name, 0, COUNT_OF(job_names));
    tcase_add_loop_test(fields, a_tag_is_a_name, 0, COUNT_OF(job_names));
    tcase_add_test(fields, tags_are_few_and_each_stands_there_once);
    tcase_add_test(fields, headers_are_checked_as_headers_are);
    tcase_add_loop_test(fields, a_name_is_valid_when_a_queue_of_that_name_is, 0,
                        COUNT_OF(job_names));
    tcase_add_loop_test(fields, a_name_that_is_none_is_told_with_what_is_one, 0,
                        COUNT_OF(checked_names));
    tcase_add_test(fields, each_byte_is_allowed_in_a_name_exactly_when_it_is_in_the_set);
    tcase_add_loop_test(fields, a_payload_is_json_unless_it_is_raw, 0, COUNT_OF(payloads));
    tcase_add_test(fields, a_payload_is_as_long_as_configured_at_most);
    tcase_add_loop_test(fields, a_number_has_its_range, 0, COUNT_OF(numbers));
    tcase_add_loop_test(fields, attempts_are_not_over_their_own_limit, 0, COUNT_OF(counts));
    tcase_add_loop_test(fields, stalls_are_not_over_their_own_limit, 0, COUNT_OF(counts));
    tcase_add_loop_test(fields, a_key_is_a_short_text, 0, COUNT_OF(keys));
    tcase_add_loop_test(fields, an_idempotency_key_is_a_short_text, 0, COUNT_OF(keys));
    tcase_add_loop_test(fields, a_blank_key_is_refused, 0, COUNT_OF(blanks));
    tcase_add_loop_test(fields, a_blank_idempotency_key_becomes_absent, 0, COUNT_OF(blanks));
    tcase_add_loop_test(fields, an_idempotency_record_has_an_end, 0, COUNT_OF(records));
    return fields;
}

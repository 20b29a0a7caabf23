/*
 * test_resident_line.c - what is said between a worker and a resident.
 */
#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "job/job.h"
#include "suites.h"
#include "worker/handler.h"
#include "worker/resident_line.h"

#include <string.h>

#define ID           "0193f0a2-7c1d-7abc-8def-0123456789ab"
#define SAY(members) "{\"id\":\"" ID "\"," members "}"

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const unsigned char *)text, strlen(text)};
}

/* clang-format off */
static const struct {
    const char *rule;
    const char *payload;
    bool is_json;
    usec_t timeout;
    const char *rest; /* of the line */
} tasks[] = {
    {"a payload is as it was written", "{\"n\":12345678901234567890123}", true, 30 * USEC_PER_SEC,
     "\"deadline\":130,\"payload\":{\"n\":12345678901234567890123}}\n"},
    {"but on one line", "{\n  \"a\": [1,\n2]\n}", true, 30 * USEC_PER_SEC,
     "\"deadline\":130,\"payload\":{\"a\":[1,2]}}\n"},
    {"no timeout, no deadline", "null", true, 0, "\"deadline\":null,\"payload\":null}\n"},
    {"what is no JSON is base64", "a\nb", false, 0, "\"deadline\":null,\"payload_base64\":\"YQpi\"}\n"},
    {"also what looks like it", "1", false, 0, "\"deadline\":null,\"payload_base64\":\"MQ==\"}\n"},
};
/* clang-format on */

START_TEST(headers_are_in_the_line_of_a_job_that_has_them)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(4096);
    const struct handler_job job = {.id = ID,
                                    .type = "t",
                                    .queue = "q",
                                    .headers = "{\n\"a\": 1.50}",
                                    .payload = bytes_of("[1]"),
                                    .payload_is_json = true};

    resident_line_write(&job, 0, &line);
    ck_assert_ptr_nonnull(
        strstr(buffer_str(&line), ",\"headers\":{\"a\":1.50},\"payload\":[1]}\n"));
}
END_TEST

START_TEST(a_job_is_one_line)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(4096);
    CLEANUP(buffer_done) struct buffer expected = BUFFER(4096);
    const struct handler_job job = {
        .id = ID,
        .type = "report:build",
        .queue = "reports",
        .attempt = 2,
        .max_attempts = 25,
        .execution = 3,
        .payload = bytes_of(tasks[_i].payload),
        .payload_is_json = tasks[_i].is_json,
        .timeout = tasks[_i].timeout,
    };

    resident_line_write(&job, 100 * USEC_PER_SEC, &line);
    buffer_text(&expected, "{\"id\":\"" ID "\",\"type\":\"report:build\",\"queue\":\"reports\","
                           "\"attempt\":2,\"max_attempts\":25,\"execution\":3,");
    buffer_text(&expected, tasks[_i].rest);
    ck_assert_msg(text_equal(buffer_str(&line), buffer_str(&expected)), "%s, not %s",
                  tasks[_i].rule, buffer_str(&line));
}
END_TEST

/* clang-format off */
static const struct {
    const char *rule;
    const char *line;
    enum answer_kind kind;
    const char *result, *error;
    usec_t snooze_for; /* seconds */
    int percent;
    const char *text;
} answers[] = {
    {"done", SAY("\"ok\":true"), ANSWER_DONE, NULL, NULL, 0, -1, ""},
    {"space does not matter", " { \"ok\" : true , \"id\" : \"" ID "\" } \r", ANSWER_DONE, NULL, NULL, 0, -1, ""},
    {"a result is as it was written", SAY("\"ok\":true,\"result\":{\"a\": 1.0e2}"), ANSWER_DONE, "{\"a\": 1.0e2}", NULL, 0, -1, ""},
    {"null is no result", SAY("\"ok\":true,\"result\":null"), ANSWER_DONE, NULL, NULL, 0, -1, ""},
    {"false is one", SAY("\"ok\":true,\"result\":false"), ANSWER_DONE, "false", NULL, 0, -1, ""},
    {"what is not known is ignored", SAY("\"ok\":true,\"mood\":[{}],\"took\":3"), ANSWER_DONE, NULL, NULL, 0, -1, ""},
    {"failed", SAY("\"ok\":false"), ANSWER_FAILED, NULL, NULL, 0, -1, ""},
    {"failed with a reason", SAY("\"ok\":false,\"error\":\"no \\u0041\""), ANSWER_FAILED, NULL, "no A", 0, -1, ""},
    {"retry true says nothing new", SAY("\"ok\":false,\"retry\":true"), ANSWER_FAILED, NULL, NULL, 0, -1, ""},
    {"retry false is dead", SAY("\"ok\":false,\"retry\":false,\"error\":\"gone\""), ANSWER_PERMANENT, NULL, "gone", 0, -1, ""},
    {"snooze is later", SAY("\"ok\":false,\"snooze\":\"30s\""), ANSWER_SNOOZE, NULL, NULL, 30, -1, ""},
    {"dead beats later", SAY("\"ok\":false,\"retry\":false,\"snooze\":\"30s\""), ANSWER_PERMANENT, NULL, NULL, 30, -1, ""},
    {"null is absent", SAY("\"ok\":false,\"error\":null,\"retry\":null,\"snooze\":null,\"progress\":null"), ANSWER_FAILED, NULL, NULL, 0, -1, ""},
    {"what a success has no use for is not looked at", SAY("\"ok\":true,\"snooze\":5,\"error\":7"), ANSWER_DONE, NULL, NULL, 0, -1, ""},
    {"progress", SAY("\"progress\":40"), ANSWER_NONE, NULL, NULL, 0, 40, ""},
    {"progress with a word", SAY("\"progress\":0,\"text\":\"on it\""), ANSWER_NONE, NULL, NULL, 0, 0, "on it"},
    {"both at once", SAY("\"progress\":100,\"ok\":true"), ANSWER_DONE, NULL, NULL, 0, 100, ""},
};
/* clang-format on */

static bool same(struct bytes bytes, const char *text)
{
    if (!text)
        return !bytes.data;
    return bytes.length == strlen(text) && memcmp(bytes.data, text, bytes.length) == 0;
}

START_TEST(an_answer_is_understood)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct answer answer;
    struct error err;

    ck_assert_msg(resident_line_read(bytes_of(answers[_i].line), &arena, &answer, &err), "%s: %s",
                  answers[_i].rule, err.text);
    ck_assert_msg(answer.kind == answers[_i].kind, "%s, not %d", answers[_i].rule, answer.kind);
    ck_assert_msg(same(answer.result, answers[_i].result), "%s", answers[_i].rule);
    ck_assert_msg(text_equal(answer.error, answers[_i].error), "%s", answers[_i].rule);
    ck_assert_int_eq(answer.snooze_for, answers[_i].snooze_for * USEC_PER_SEC);
    ck_assert_int_eq(answer.percent, answers[_i].percent);
    ck_assert_str_eq(answer.text, answers[_i].text);
}
END_TEST

static const struct {
    const char *line;
    const char *problem;
} faults[] = {
    {"hello", "line 1, column 1: expected an object"},
    {"", "line 1, column 1: expected an object"},
    {"[1]", "line 1, column 1: expected an object"},
    {"{\"id\":", "line 1, column 7: expected a value"},
    {SAY("\"ok\":true") "{}", "line 1, column 56: expected nothing more"},
    {SAY("\"ok\":true,\"error\":\"\xff\""), "line 1, column 65: not UTF-8"},
    {SAY("\"ok\":true,\"ok\":true"), "the name 'ok' appears twice"},
    {"{}", "has no id"},
    {"{\"ok\":true}", "has no id"},
    {"{\"id\":null,\"ok\":true}", "has no id"},
    {"{\"id\":7,\"ok\":true}", "the id is not text"},
    {SAY("\"result\":1"), "has neither 'ok' nor 'progress'"},
    {SAY("\"ok\":null"), "has neither 'ok' nor 'progress'"},
    {SAY("\"ok\":1"), "'ok' is neither true nor false"},
    {SAY("\"ok\":\"true\""), "'ok' is neither true nor false"},
    {SAY("\"ok\":false,\"error\":{}"), "'error' is not text"},
    {SAY("\"ok\":false,\"error\":\"\\u0000\""), "'error' is not text"},
    {SAY("\"ok\":false,\"retry\":0"), "'retry' is neither true nor false"},
    {SAY("\"ok\":false,\"snooze\":30"), "'snooze' is not text"},
    {SAY("\"ok\":false,\"snooze\":\"soon\""), "'snooze': "},
    {SAY("\"progress\":101"), "'progress' is not a whole number from 0 to 100"},
    {SAY("\"progress\":-1"), "'progress' is not a whole number from 0 to 100"},
    {SAY("\"progress\":4.5"), "'progress' is not a whole number from 0 to 100"},
    {SAY("\"progress\":\"40\""), "'progress' is not a whole number from 0 to 100"},
    {SAY("\"progress\":40,\"text\":1"), "'text' is not text"},
    {SAY("\"progress\":400,\"ok\":true"), "'progress' is not a whole number from 0 to 100"},
};

START_TEST(a_wish_to_stop_is_one_line)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(4096);

    resident_line_cancel(ID, &line);
    ck_assert_str_eq(buffer_str(&line), "{\"id\":\"" ID "\",\"cancel\":true}\n");
}
END_TEST

START_TEST(whom_it_is_about_is_told_of_a_line_that_is_no_answer_as_well)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct answer answer;
    struct error err;

    ck_assert(!resident_line_read(bytes_of(SAY("\"ok\":7")), &arena, &answer, &err));
    ck_assert_str_eq(answer.id, ID);
    ck_assert(!resident_line_read(bytes_of("{\"ok\":7}"), &arena, &answer, &err));
    ck_assert_ptr_null(answer.id);
}
END_TEST

START_TEST(a_line_that_is_no_answer_is_refused_with_the_reason)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct answer answer;
    struct error err;

    ck_assert_msg(!resident_line_read(bytes_of(faults[_i].line), &arena, &answer, &err), "%s",
                  faults[_i].line);
    ck_assert_int_eq(err.code, TH_E_INVALID);
    ck_assert_msg(text_starts_with(err.text, faults[_i].problem), "%s: %s, not %s", faults[_i].line,
                  faults[_i].problem, err.text);
}
END_TEST

START_TEST(a_result_has_its_limit)
{
    CLEANUP(arena_done) struct arena arena = {0};
    CLEANUP(buffer_done) struct buffer line = BUFFER(RESIDENT_LINE_MAX);
    const int excess = _i;
    struct answer answer;
    struct error err;

    buffer_printf(&line, "{\"id\":\"" ID "\",\"ok\":true,\"result\":\"%*d\"}",
                  (int)JOB_RESULT_MAX - 2 + excess, 1);
    const bool is_fine = resident_line_read(bytes_of(buffer_str(&line)), &arena, &answer, &err);
    ck_assert_int_eq(is_fine, excess == 0);
    if (!is_fine)
        ck_assert_str_eq(err.text, "the result has 65537 bytes; 65536 are allowed");
}
END_TEST

Suite *resident_line_suite(void)
{
    Suite *suite = suite_create("worker/resident_line");
    TCase *write = pure_case("write");
    TCase *read = pure_case("read");

    tcase_add_loop_test(write, a_job_is_one_line, 0, COUNT_OF(tasks));
    tcase_add_test(write, headers_are_in_the_line_of_a_job_that_has_them);
    tcase_add_loop_test(read, an_answer_is_understood, 0, COUNT_OF(answers));
    tcase_add_test(read, a_wish_to_stop_is_one_line);
    tcase_add_test(read, whom_it_is_about_is_told_of_a_line_that_is_no_answer_as_well);
    tcase_add_loop_test(read, a_line_that_is_no_answer_is_refused_with_the_reason, 0,
                        COUNT_OF(faults));
    tcase_add_loop_test(read, a_result_has_its_limit, 0, 2);
    suite_add_tcase(suite, write);
    suite_add_tcase(suite, read);
    return suite;
}

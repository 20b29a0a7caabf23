/*
 * test_log_line.c - events as lines, with a clock that stands still.
 */
#include "base/error.h"
#include "base/json.h"
#include "base/log_line.h"
#include "base/text.h"
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Texts that are absent are among what is tested. */
#pragma GCC diagnostic ignored "-Wformat-overflow"

#define REPLACEMENT "\xEF\xBF\xBD"
#define HEAD                                                                                       \
    "time=2026-01-31T10:00:00.123456Z level=info event=job_done pool=web-1 process=dispatcher"
#define JSON_HEAD                                                                                  \
    "{\"time\":\"2026-01-31T10:00:00.123456Z\",\"level\":\"info\",\"event\":\"job_done\","         \
    "\"pool\":\"web-1\",\"process\":\"dispatcher\""

static const struct log_form logfmt = {.format = FORMAT_LOGFMT};
static const struct log_form json = {.format = FORMAT_JSON};

static struct log_event event = {
    .time = 1769853600123456,
    .level = LEVEL_INFO,
    .name = "job_done",
    .pool = "web-1",
    .process = "dispatcher",
};
static char line[LOG_LINE_MAX + 1];
static size_t length;

PRINTF_LIKE(2, 3)
static const char *line_of(const struct log_form *form, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    length = log_line_write(line, form, &event, format, arguments);
    va_end(arguments);
    ck_assert_uint_le(length, LOG_LINE_MAX);
    line[length] = '\0';
    ck_assert_uint_eq(strlen(line), length);
    ck_assert_ptr_eq(strchr(line, '\n'), line + length - 1);
    ck_assert(text_is_utf8((struct bytes){(const unsigned char *)line, length}));
    return line;
}

static void assert_is_json(void)
{
    struct error err;
    const struct bytes text = {(const unsigned char *)line, length - 1};

    ck_assert_msg(json_check(text, &err), "%s: %s", err.text, line);
}

START_TEST(logfmt_begins_with_our_own_fields)
{
    ck_assert_str_eq(line_of(&logfmt, "job=%s ms=%d", "0193", 12), HEAD " job=0193 ms=12\n");
}
END_TEST

START_TEST(json_is_an_object_with_numbers_and_strings)
{
    ck_assert_str_eq(line_of(&json, "job=%s ms=%d digits=%s rate=%u/s", "0193", -12, "5", 7U),
                     JSON_HEAD ",\"job\":\"0193\",\"ms\":-12,\"digits\":\"5\",\"rate\":\"7/s\"}\n");
    assert_is_json();
}
END_TEST

START_TEST(what_is_absent_is_a_dash_or_null)
{
    const char *null = NULL;

    event.pool = NULL;
    event.process = NULL;
    ck_assert_str_eq(line_of(&logfmt, "key=%s", null),
                     "time=2026-01-31T10:00:00.123456Z level=info event=job_done key=-\n");
    ck_assert_str_eq(line_of(&json, "key=%s", null),
                     "{\"time\":\"2026-01-31T10:00:00.123456Z\",\"level\":\"info\","
                     "\"event\":\"job_done\",\"key\":null}\n");
}
END_TEST

START_TEST(an_event_about_another_process_has_no_field_twice)
{
    ck_assert_str_eq(line_of(&logfmt, "process=%s pool=%s", "worker 3", "web-2"),
                     "time=2026-01-31T10:00:00.123456Z level=info event=job_done "
                     "process=\"worker 3\" pool=web-2\n");
}
END_TEST

static const struct {
    const char *rule;
    const char *value;
    const char *logfmt, *json;
} values[] = {
    {"a word is bare", "email:send", "email:send", "\"email:send\""},
    {"so is one in any script", "\xC3\xBC\xE2\x82\xAC\xF0\x9F\x90\x99",
     "\xC3\xBC\xE2\x82\xAC\xF0\x9F\x90\x99", "\"\xC3\xBC\xE2\x82\xAC\xF0\x9F\x90\x99\""},
    {"nothing is quoted", "", "\"\"", "\"\""},
    {"a space is quoted", "a b", "\"a b\"", "\"a b\""},
    {"so is an equals sign", "a=b", "\"a=b\"", "\"a=b\""},
    {"a quote is escaped", "a\"b", "\"a\\\"b\"", "\"a\\\"b\""},
    {"so is a backslash", "a\\b", "\"a\\\\b\"", "\"a\\\\b\""},
    {"a newline ends no line", "x\nevent=job_done", "\"x\\nevent=job_done\"",
     "\"x\\nevent=job_done\""},
    {"a quote and a space end no value", "x\" event=\"job_done", "\"x\\\" event=\\\"job_done\"",
     "\"x\\\" event=\\\"job_done\""},
    {"control characters have their numbers", "\x1b[31m\t\r\x01\x7f",
     "\"\\u001b[31m\\t\\r\\u0001\\u007f\"", "\"\\u001b[31m\\t\\r\\u0001\\u007f\""},
    {"so have those of ISO 8859", "\xC2\x9B", "\"\\u009b\"", "\"\\u009b\""},
    {"and separators of lines", "a\xE2\x80\xA8z", "\"a\\u2028z\"", "\"a\\u2028z\""},
    {"and what turns text around", "\xE2\x80\xAEz\xE2\x81\xA6", "\"\\u202ez\\u2066\"",
     "\"\\u202ez\\u2066\""},
    {"what is no UTF-8 is replaced", "a\xFFz\xC3", "\"a" REPLACEMENT "z" REPLACEMENT "\"",
     "\"a" REPLACEMENT "z" REPLACEMENT "\""},
};

START_TEST(a_value_stays_one_value)
{
    char expected[1000];

    snprintf(expected, sizeof expected, HEAD " key=%s next=1\n", values[_i].logfmt);
    line_of(&logfmt, "key=%s next=%d", values[_i].value, 1);
    ck_assert_msg(strcmp(line, expected) == 0, "%s: %s", values[_i].rule, line);
    snprintf(expected, sizeof expected, JSON_HEAD ",\"key\":%s,\"next\":1}\n", values[_i].json);
    line_of(&json, "key=%s next=%d", values[_i].value, 1);
    ck_assert_msg(strcmp(line, expected) == 0, "%s: %s", values[_i].rule, line);
    assert_is_json();
}
END_TEST

START_TEST(a_nul_is_a_control_character)
{
    ck_assert_str_eq(line_of(&logfmt, "key=%c", '\0'), HEAD " key=\"\\u0000\"\n");
}
END_TEST

static const struct {
    enum log_level level;
    const char *logfmt, *json;
} priorities[] = {
    {LEVEL_ERROR, "<3>level=error event=job_done", "<3>{\"level\":\"error\","},
    {LEVEL_WARNING, "<4>level=warning event=job_done", "<4>{\"level\":\"warning\","},
    {LEVEL_INFO, "<6>level=info event=job_done", "<6>{\"level\":\"info\","},
    {LEVEL_DEBUG, "<7>level=debug event=job_done", "<7>{\"level\":\"debug\","},
};

START_TEST(journald_gets_a_priority_and_no_time)
{
    const struct log_form to_journald = {.format = FORMAT_LOGFMT, .for_journald = true};
    const struct log_form json_to_journald = {.format = FORMAT_JSON, .for_journald = true};

    event.level = priorities[_i].level;
    ck_assert(text_starts_with(line_of(&to_journald, "a=1"), priorities[_i].logfmt));
    ck_assert(text_starts_with(line_of(&json_to_journald, "a=1"), priorities[_i].json));
}
END_TEST

static const struct {
    enum log_level level;
    const char *plain, *coloured;
} shown[] = {
    {LEVEL_ERROR, "error job_done", "\033[1;31merror job_done\033[0m"},
    {LEVEL_WARNING, "warning job_done", "\033[1;33mwarning job_done\033[0m"},
    {LEVEL_INFO, "job_done", "\033[1mjob_done\033[0m"},
    {LEVEL_DEBUG, "job_done", "\033[2mjob_done\033[0m"},
};

START_TEST(people_get_local_time_and_columns)
{
    const struct log_form plain = {.for_people = true};
    const struct log_form coloured = {.for_people = true, .coloured = true};
    char expected[200];

    setenv("TZ", "UTC-2", 1);
    event.level = shown[_i].level;
    snprintf(expected, sizeof expected, "12:00:00.123 dispatcher   %s job=0193 ms=12\n",
             shown[_i].plain);
    ck_assert_str_eq(line_of(&plain, "job=%s ms=%d", "0193", 12), expected);
    snprintf(expected, sizeof expected,
             "\033[2m12:00:00.123 dispatcher   \033[0m%s \033[2mjob=\033[0m0193 "
             "\033[2mms=\033[0m12\n",
             shown[_i].coloured);
    ck_assert_str_eq(line_of(&coloured, "job=%s ms=%d", "0193", 12), expected);
}
END_TEST

static const struct {
    const char *rule;
    const char *value, *shown;
} last_values[] = {
    {"quotes are left as they are", "{\"name\": \"Ada\"}", "{\"name\": \"Ada\"}"},
    {"so are spaces, equals signs and backslashes", "a = b\\c", "a = b\\c"},
    {"a newline ends no line", "a\nb", "a\\nb"},
    {"an escape steers no terminal", "\033[31m", "\\u001b[31m"},
    {"what turns text around does not", "\xE2\x80\xAEz", "\\u202ez"},
    {"nothing is seen", "", "\"\""},
};

START_TEST(people_read_the_last_value_as_it_is)
{
    const struct log_form plain = {.for_people = true};
    char expected[200];

    setenv("TZ", "UTC", 1);
    snprintf(expected, sizeof expected, "10:00:00.123 dispatcher   job_done name=\"a b\" line=%s\n",
             last_values[_i].shown);
    line_of(&plain, "name=%s line=%s", "a b", last_values[_i].value);
    ck_assert_msg(strcmp(line, expected) == 0, "%s: %s", last_values[_i].rule, line);
}
END_TEST

static const struct {
    const char *rule;
    const char *character;
} fillings[] = {
    {"of letters", "x"},
    {"of letters of two bytes", "\xC3\xBC"},
    {"of letters of four bytes", "\xF0\x9F\x90\x99"},
    {"of what is escaped", "\x1b"},
    {"of what needs quotes", " "},
    {"of what is no UTF-8", "\xFF"},
};

/* A text of `count` characters. */
static const char *fill(const char *character, size_t count)
{
    static char text[5 * LOG_LINE_MAX];
    const size_t size = strlen(character);

    for (size_t i = 0; i < count; i++)
        memcpy(text + i * size, character, size);
    text[count * size] = '\0';
    return text;
}

START_TEST(a_value_that_is_too_long_ends_in_dots)
{
    const char *text = fill(fillings[_i].character, LOG_LINE_MAX);

    line_of(&logfmt, "text=%s", text);
    ck_assert_msg(strstr(line, "...\n") || strstr(line, "...\"\n"), "%s", fillings[_i].rule);
    ck_assert_msg(length > LOG_LINE_MAX - 10, "%s: %zu", fillings[_i].rule, length);
    line_of(&json, "text=%s", text);
    ck_assert_msg(strstr(line, "...\"}\n"), "%s", fillings[_i].rule);
    ck_assert_msg(length > LOG_LINE_MAX - 10, "%s: %zu", fillings[_i].rule, length);
    assert_is_json();
}
END_TEST

START_TEST(a_value_that_is_too_long_leaves_room_for_those_behind_it)
{
    const char *text = fill(fillings[_i].character, LOG_LINE_MAX);

    line_of(&json, "text=%s more=%s ms=%d last=%s", text, text, 12, text);
    ck_assert_msg(strstr(line, "...\",\"more\":\""), "%s", fillings[_i].rule);
    ck_assert_msg(strstr(line, "...\",\"ms\":12,\"last\":\""), "%s", fillings[_i].rule);
    ck_assert_msg(strstr(line, "...\"}\n"), "%s", fillings[_i].rule);
    assert_is_json();
}
END_TEST

/* Around the lengths at which a value, a key and a number just fit, and just do not. */
START_TEST(a_line_of_any_length_is_whole)
{
    const size_t around = strlen(JSON_HEAD ",\"text\":\"\"}\n");

    for (size_t count = LOG_LINE_MAX - 300; count <= LOG_LINE_MAX; count++) {
        const char *text = fill("x", count);

        line_of(&json, "text=%s", text);
        assert_is_json();
        ck_assert_int_eq(!strstr(line, "..."), around + count <= LOG_LINE_MAX);
        line_of(&json, "a=%s b=%s c=%s d=%s e=%s f=%d", text, text, text, text, text, 12345);
        assert_is_json();
        line_of(&logfmt, "a=%s b=%s c=%s d=%s e=%s f=%d", text, text, text, text, text, 12345);
    }
}
END_TEST

Suite *log_line_suite(void)
{
    Suite *suite = suite_create("base/log_line");
    TCase *forms = tcase_create("forms");
    TCase *lengths = tcase_create("lengths");

    tcase_add_test(forms, logfmt_begins_with_our_own_fields);
    tcase_add_test(forms, json_is_an_object_with_numbers_and_strings);
    tcase_add_test(forms, what_is_absent_is_a_dash_or_null);
    tcase_add_test(forms, an_event_about_another_process_has_no_field_twice);
    tcase_add_loop_test(forms, a_value_stays_one_value, 0, COUNT_OF(values));
    tcase_add_test(forms, a_nul_is_a_control_character);
    tcase_add_loop_test(forms, journald_gets_a_priority_and_no_time, 0, COUNT_OF(priorities));
    tcase_add_loop_test(forms, people_get_local_time_and_columns, 0, COUNT_OF(shown));
    tcase_add_loop_test(forms, people_read_the_last_value_as_it_is, 0, COUNT_OF(last_values));
    suite_add_tcase(suite, forms);
    tcase_add_loop_test(lengths, a_value_that_is_too_long_ends_in_dots, 0, COUNT_OF(fillings));
    tcase_add_loop_test(lengths, a_value_that_is_too_long_leaves_room_for_those_behind_it, 0,
                        COUNT_OF(fillings));
    tcase_add_test(lengths, a_line_of_any_length_is_whole);
    suite_add_tcase(suite, lengths);
    return suite;
}

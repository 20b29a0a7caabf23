/*
 * test_json_writer.c - one JSON value into a buffer.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "suites.h"

#include <string.h>

#define BYTES(text)                                                                                \
    {                                                                                              \
        (const unsigned char *)(text), sizeof(text) - 1                                            \
    }

static void assert_written(const struct buffer *out, const char *expected)
{
    const struct bytes text = {(const unsigned char *)buffer_str(out), out->length};
    struct error err = {0};

    ck_assert_str_eq(buffer_str(out), expected);
    ck_assert_msg(json_check(text, &err), "%s", err.text);
}

START_TEST(members_have_commas_between_them_and_nowhere_else)
{
    CLEANUP(buffer_done) struct buffer out = BUFFER(1000);
    struct json_writer json = {.out = &out};

    json_write_open(&json, NULL, '{');
    json_write_text(&json, "type", "email:send");
    json_write_int(&json, "priority", -5);
    json_write_open(&json, "empty", '{');
    json_write_close(&json, '}');
    json_write_open(&json, "runs", '[');
    json_write_open(&json, NULL, '{');
    json_write_bool(&json, "ok", true);
    json_write_close(&json, '}');
    json_write_bool(&json, NULL, false);
    json_write_null(&json, NULL);
    json_write_open(&json, NULL, '[');
    json_write_close(&json, ']');
    json_write_close(&json, ']');
    json_write_null(&json, "result");
    json_write_close(&json, '}');
    assert_written(&out, "{\"type\":\"email:send\",\"priority\":-5,\"empty\":{},"
                         "\"runs\":[{\"ok\":true},false,null,[]],\"result\":null}");
}
END_TEST

START_TEST(integers_keep_all_their_digits)
{
    CLEANUP(buffer_done) struct buffer out = BUFFER(1000);
    struct json_writer json = {.out = &out};

    json_write_open(&json, NULL, '[');
    json_write_int(&json, NULL, INT64_MIN);
    json_write_int(&json, NULL, INT64_MAX);
    json_write_close(&json, ']');
    assert_written(&out, "[-9223372036854775808,9223372036854775807]");
}
END_TEST

START_TEST(raw_json_is_compacted)
{
    CLEANUP(buffer_done) struct buffer out = BUFFER(1000);
    struct json_writer json = {.out = &out};

    json_write_open(&json, NULL, '{');
    json_write_raw(&json, "payload", (struct bytes)BYTES(" { \"a\" :\n1.00 } "));
    json_write_raw(&json, "result", (struct bytes)BYTES("[ ]"));
    json_write_close(&json, '}');
    assert_written(&out, "{\"payload\":{\"a\":1.00},\"result\":[]}");
}
END_TEST

START_TEST(bytes_are_written_in_base64)
{
    CLEANUP(buffer_done) struct buffer out = BUFFER(1000);
    struct json_writer json = {.out = &out};

    json_write_open(&json, NULL, '[');
    json_write_base64(&json, NULL, (struct bytes)BYTES("\0\xff"));
    json_write_base64(&json, NULL, (struct bytes)BYTES(""));
    json_write_close(&json, ']');
    assert_written(&out, "[\"AP8=\",\"\"]");
}
END_TEST

START_TEST(times_are_timestamps)
{
    CLEANUP(buffer_done) struct buffer out = BUFFER(1000);
    struct json_writer json = {.out = &out};

    json_write_open(&json, NULL, '{');
    json_write_time(&json, "run_at", 1893553445123456);
    json_write_time(&json, "ended_at", 0);
    json_write_close(&json, '}');
    assert_written(&out, "{\"run_at\":\"2030-01-02T03:04:05.123456Z\",\"ended_at\":null}");
}
END_TEST

START_TEST(what_is_absent_is_null)
{
    CLEANUP(buffer_done) struct buffer out = BUFFER(1000);
    const struct bytes absent = {NULL, 0};
    struct json_writer json = {.out = &out};

    json_write_open(&json, NULL, '{');
    json_write_text(&json, "a", NULL);
    json_write_raw(&json, "b", absent);
    json_write_base64(&json, "c", absent);
    json_write_lossy_text(&json, "d", absent);
    json_write_close(&json, '}');
    assert_written(&out, "{\"a\":null,\"b\":null,\"c\":null,\"d\":null}");
}
END_TEST

/* clang-format off */
static const struct {
    const char *rule;
    struct bytes text;
    const char *written;
} texts[] = {
    {"empty text is empty", BYTES(""), "\"\""},
    {"plain text is copied", BYTES("abc /~\x7f"), "\"abc /~\x7f\""},
    {"quotes and backslashes are escaped", BYTES("\"a\\b\""), "\"\\\"a\\\\b\\\"\""},
    {"common control characters have letters", BYTES("\n\r\t"), "\"\\n\\r\\t\""},
    {"others have numbers", BYTES("\x01z\x1f"), "\"\\u0001z\\u001f\""},
    {"UTF-8 is copied", BYTES("é€\xF0\x9F\x9A\xA2"), "\"é€\xF0\x9F\x9A\xA2\""},
    {"a wrong byte is replaced", BYTES("a\xff" "b"), "\"a\xEF\xBF\xBD" "b\""},
    {"every wrong byte is", BYTES("\x80\x81"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\""},
    {"a character cut off at the end is", BYTES("a\xE2\x82"), "\"a\xEF\xBF\xBD\xEF\xBF\xBD\""},
    {"and what follows a cut is kept", BYTES("\xE2\x82" "a"), "\"\xEF\xBF\xBD\xEF\xBF\xBD" "a\""},
};
/* clang-format on */

START_TEST(text_is_escaped)
{
    CLEANUP(buffer_done) struct buffer out = BUFFER(1000);
    struct json_writer json = {.out = &out};

    json_write_lossy_text(&json, NULL, texts[_i].text);
    assert_written(&out, texts[_i].written);
    buffer_clear(&out);
    json = (struct json_writer){.out = &out};
    json_write_text(&json, NULL, (const char *)texts[_i].text.data);
    assert_written(&out, texts[_i].written);
}
END_TEST

START_TEST(bytes_as_text_may_have_nuls)
{
    CLEANUP(buffer_done) struct buffer out = BUFFER(1000);
    struct json_writer json = {.out = &out};

    json_write_lossy_text(&json, NULL, (struct bytes)BYTES("a\0b"));
    assert_written(&out, "\"a\\u0000b\"");
}
END_TEST

START_TEST(names_are_escaped)
{
    CLEANUP(buffer_done) struct buffer out = BUFFER(1000);
    struct json_writer json = {.out = &out};

    json_write_open(&json, NULL, '{');
    json_write_bool(&json, "a\"b\xff", true);
    json_write_close(&json, '}');
    assert_written(&out, "{\"a\\\"b\xEF\xBF\xBD\":true}");
}
END_TEST

Suite *json_writer_suite(void)
{
    Suite *suite = suite_create("base/json_writer");
    TCase *values = tcase_create("values");
    TCase *text = tcase_create("text");

    tcase_add_test(values, members_have_commas_between_them_and_nowhere_else);
    tcase_add_test(values, integers_keep_all_their_digits);
    tcase_add_test(values, raw_json_is_compacted);
    tcase_add_test(values, bytes_are_written_in_base64);
    tcase_add_test(values, times_are_timestamps);
    tcase_add_test(values, what_is_absent_is_null);
    suite_add_tcase(suite, values);

    tcase_add_loop_test(text, text_is_escaped, 0, COUNT_OF(texts));
    tcase_add_test(text, bytes_as_text_may_have_nuls);
    tcase_add_test(text, names_are_escaped);
    suite_add_tcase(suite, text);
    return suite;
}

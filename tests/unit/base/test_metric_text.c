/*
 * test_metric_text.c - numbers as Prometheus reads them.
 */
#include "base/metric_text.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "suites.h"

START_TEST(a_metric_is_its_head_and_its_values)
{
    CLEANUP(buffer_done) struct buffer out = BUFFER(4096);
    const struct metric_label labels[] = {{"queue", "default"}, {"state", "ready"}};

    metric_text_head(&out, "jobs", "gauge", "All \\ of\nthem, \"here\".");
    metric_text_count(&out, "jobs", labels, 2, 17);
    metric_text_count(&out, "jobs", NULL, 0, UINT64_MAX);
    ck_assert_str_eq(buffer_str(&out), "# HELP jobs All \\\\ of\\nthem, \"here\".\n"
                                       "# TYPE jobs gauge\n"
                                       "jobs{queue=\"default\",state=\"ready\"} 17\n"
                                       "jobs 18446744073709551615\n");
}
END_TEST

START_TEST(a_label_may_have_any_characters)
{
    CLEANUP(buffer_done) struct buffer out = BUFFER(4096);
    const struct metric_label labels[] = {{"type", "a\"b\\c\nd{}=,\xc3\xa9"}};

    metric_text_count(&out, "jobs", labels, 1, 1);
    ck_assert_str_eq(buffer_str(&out), "jobs{type=\"a\\\"b\\\\c\\nd{}=,\xc3\xa9\"} 1\n");
}
END_TEST

static const struct {
    usec_t value;
    const char *text;
} durations[] = {
    {0, "s 0.000000\n"},
    {1, "s 0.000001\n"},
    {61500000, "s 61.500000\n"},
    {-1, "s 0.000000\n"}, /* of two clocks */
};

START_TEST(a_duration_is_in_seconds)
{
    CLEANUP(buffer_done) struct buffer out = BUFFER(4096);

    metric_text_seconds(&out, "s", NULL, 0, durations[_i].value);
    ck_assert_str_eq(buffer_str(&out), durations[_i].text);
}
END_TEST

Suite *metric_text_suite(void)
{
    Suite *suite = suite_create("base/metric_text");
    TCase *text = pure_case("text");

    tcase_add_test(text, a_metric_is_its_head_and_its_values);
    tcase_add_test(text, a_label_may_have_any_characters);
    tcase_add_loop_test(text, a_duration_is_in_seconds, 0, COUNT_OF(durations));
    suite_add_tcase(suite, text);
    return suite;
}

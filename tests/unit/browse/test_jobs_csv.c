#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "browse/jobs_csv.h"
#include "job/job.h"
#include "suites.h"

#include <check.h>
#include <string.h>

static const struct {
    const char *rule, *text, *expected;
} errors[] = {
    {"a text is as it is", "no such file", ",no such file,"},
    {"quotes are doubled", "no \"a\"", ",\"no \"\"a\"\"\","},
    {"a comma is within quotes", "a,b", ",\"a,b\","},
    {"lines are within quotes", "a\r\nb", ",\"a\r\nb\","},
    {"no formula", "=HYPERLINK(\"http://x\")", ",\"'=HYPERLINK(\"\"http://x\"\")\","},
    {"nor one that begins with a sign", "-1+1", ",'-1+1,"},
    {"plus", "+1", ",'+1,"},
    {"at", "@x", ",'@x,"},
    {"a tab before it", "\t=1", ",'\t=1,"},
    {"a return before it", "\r=1", ",\"'\r=1\","},
    {"one in the middle is none", "a=1", ",a=1,"},
};

START_TEST(a_text_comes_back_as_it_was_and_never_as_a_formula)
{
    CLEANUP(buffer_done) struct buffer row = BUFFER(64 * 1024);
    struct job job = job_defaults();
    struct error err;

    job.type = "t";
    job.last_error = errors[_i].text;
    ck_assert(jobs_csv_add(&row, &job, &err));
    ck_assert_msg(strstr(buffer_str(&row), errors[_i].expected), "%s: %s", errors[_i].rule,
                  buffer_str(&row));
}
END_TEST

static size_t count(const char *text, char c)
{
    size_t count = 0;

    for (; *text; text++)
        count += *text == c;
    return count;
}

START_TEST(a_row_has_a_field_for_each_name)
{
    CLEANUP(buffer_done) struct buffer names = BUFFER(64 * 1024);
    CLEANUP(buffer_done) struct buffer row = BUFFER(64 * 1024);
    struct job job = job_defaults();
    struct error err;

    job.type = "t";
    jobs_csv_add_names(&names);
    ck_assert(jobs_csv_add(&row, &job, &err));
    ck_assert_uint_eq(count(buffer_str(&names), ','), count(buffer_str(&row), ','));
    ck_assert_str_eq(buffer_str(&row) + row.length - 2, "\r\n");
    ck_assert_ptr_nonnull(strstr(buffer_str(&row), ",json,null,,"));
}
END_TEST

START_TEST(a_payload_is_json_and_what_has_a_NUL_stays_json)
{
    CLEANUP(buffer_done) struct buffer row = BUFFER(64 * 1024);
    struct job job = job_defaults();
    struct error err;

    job.type = "t";
    job.payload = (struct bytes){(const unsigned char *)"\"=1+1\"", 6};
    job.output = (struct bytes){(const unsigned char *)"a\0b", 3};
    ck_assert(jobs_csv_add(&row, &job, &err));
    ck_assert_ptr_nonnull(strstr(buffer_str(&row), ",json,\"\"\"=1+1\"\"\","));
    ck_assert_ptr_nonnull(strstr(buffer_str(&row), ",\"\"\"a\\u0000b\"\"\","));
}
END_TEST

Suite *jobs_csv_suite(void)
{
    Suite *suite = suite_create("browse/jobs_csv");
    TCase *rows = pure_case("rows");

    tcase_add_loop_test(rows, a_text_comes_back_as_it_was_and_never_as_a_formula, 0,
                        COUNT_OF(errors));
    tcase_add_test(rows, a_row_has_a_field_for_each_name);
    tcase_add_test(rows, a_payload_is_json_and_what_has_a_NUL_stays_json);
    suite_add_tcase(suite, rows);
    return suite;
}

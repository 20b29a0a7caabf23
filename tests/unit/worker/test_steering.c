/*
 * test_steering.c - what a job may say on descriptor 3.
 */
#include "base/cleanup.h"
#include "job/job.h"
#include "suites.h"
#include "worker/steering.h"

#include <stdio.h>
#include <string.h>

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const unsigned char *)text, strlen(text)};
}

static int garbage_count;
static char last_problem[200];

static void see_garbage(void *context, const char *problem)
{
    (void)context;
    garbage_count++;
    snprintf(last_problem, sizeof last_problem, "%s", problem);
}

static int progress_count;

static void see_progress(void *context, int percent, const char *text)
{
    ck_assert_ptr_eq(context, &progress_count);
    ck_assert_int_ge(percent, 0);
    ck_assert_ptr_nonnull(text);
    progress_count++;
}

static void begin(struct steering *steering)
{
    steering_init(steering);
    steering->garbage = see_garbage;
    steering->progress = see_progress;
    steering->context = &progress_count;
}

#define S(n) ((n)*USEC_PER_SEC)

static const struct {
    const char *rule;
    const char *said;
    enum steering_verdict verdict;
    usec_t snooze_for;
    const char *reason;
    int percent;
    const char *progress;
    const char *result; /* NULL: none */
    int garbage;
} cases[] = {
    {"nothing said", "", STEERING_NONE, 0, "", -1, "", NULL, 0},
    {"progress", "progress 40 resizing it\n", STEERING_NONE, 0, "", 40, "resizing it", NULL, 0},
    {"progress without a word", "progress 7\n", STEERING_NONE, 0, "", 7, "", NULL, 0},
    {"the last progress", "progress 7 a\nprogress 100 b\n", STEERING_NONE, 0, "", 100, "b", NULL,
     0},
    {"progress over 100", "progress 101\n", STEERING_NONE, 0, "", -1, "", NULL, 1},
    {"progress of nothing", "progress\n", STEERING_NONE, 0, "", -1, "", NULL, 1},
    {"a result", "result {\"a\": 1}\n", STEERING_NONE, 0, "", -1, "", "{\"a\": 1}", 0},
    {"the last result", "result 1\nresult 2\n", STEERING_NONE, 0, "", -1, "", "2", 0},
    {"an empty result", "result\n", STEERING_NONE, 0, "", -1, "", NULL, 1},
    {"snooze", "snooze 30s\n", STEERING_SNOOZE, S(30), "", -1, "", NULL, 0},
    {"snooze without a unit", "snooze 30\n", STEERING_NONE, 0, "", -1, "", NULL, 1},
    {"dead", "dead no such customer\n", STEERING_DEAD, 0, "no such customer", -1, "", NULL, 0},
    {"dead without a reason", "dead\n", STEERING_DEAD, 0, "", -1, "", NULL, 0},
    {"dead after snooze", "snooze 1s\ndead x\n", STEERING_DEAD, S(1), "x", -1, "", NULL, 0},
    {"snooze after dead", "dead x\nsnooze 1s\n", STEERING_SNOOZE, S(1), "x", -1, "", NULL, 0},
    {"no newline at the end", "dead x", STEERING_DEAD, 0, "x", -1, "", NULL, 0},
    {"carriage returns and empty lines", "\r\n\nsnooze 1s\r\n", STEERING_SNOOZE, S(1), "", -1, "",
     NULL, 0},
    {"each problem is told", "what\nis\nthis\nsnooze 1s\n", STEERING_SNOOZE, S(1), "", -1, "", NULL,
     3},
    {"but not all of many", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n", STEERING_NONE, 0, "", -1, "",
     NULL, STEERING_PROBLEMS_MAX},
    {"a result that is no JSON is told and kept", "result {bad\n", STEERING_NONE, 0, "", -1, "",
     "{bad", 1},
    {"words are whole", "deadly x\nDEAD\n", STEERING_NONE, 0, "", -1, "", NULL, 2},
    {"bytes that are no text", "dead \xff\n", STEERING_NONE, 0, "", -1, "", NULL, 1},
};

static void check(const struct steering *steering, int i)
{
    ck_assert_msg(steering->verdict == cases[i].verdict, "%s", cases[i].rule);
    ck_assert_msg(steering->snooze_for == cases[i].snooze_for, "%s", cases[i].rule);
    ck_assert_str_eq(steering->reason, cases[i].reason);
    ck_assert_int_eq(steering->progress_percent, cases[i].percent);
    ck_assert_str_eq(steering->progress_text, cases[i].progress);
    ck_assert_int_eq(steering->has_result, cases[i].result != NULL);
    if (cases[i].result)
        ck_assert_str_eq(buffer_str(&steering->result), cases[i].result);
    ck_assert_msg(garbage_count == cases[i].garbage, "%s", cases[i].rule);
}

START_TEST(each_word_does_what_it_says)
{
    CLEANUP(steering_done) struct steering steering;

    begin(&steering);
    steering_add(&steering, bytes_of(cases[_i].said));
    steering_end(&steering);
    check(&steering, _i);
}
END_TEST

START_TEST(it_does_not_matter_how_the_bytes_are_cut)
{
    CLEANUP(steering_done) struct steering steering;

    begin(&steering);
    for (const char *c = cases[_i].said; *c != '\0'; c++)
        steering_add(&steering, (struct bytes){(const unsigned char *)c, 1});
    steering_end(&steering);
    check(&steering, _i);
}
END_TEST

static void say_result(struct steering *steering, size_t length)
{
    steering_add(steering, bytes_of("result "));
    for (size_t i = 0; i < length; i++)
        steering_add(steering, bytes_of("1"));
    steering_add(steering, bytes_of("\n"));
}

START_TEST(a_result_has_at_most_64_kib)
{
    CLEANUP(steering_done) struct steering steering;

    begin(&steering);
    say_result(&steering, JOB_RESULT_MAX);
    ck_assert_uint_eq(steering.result.length, JOB_RESULT_MAX);
    ck_assert_int_eq(garbage_count, 0);
    for (size_t more = 1; more < 20; more++)
        say_result(&steering, JOB_RESULT_MAX + more);
    ck_assert_uint_eq(steering.result.length, JOB_RESULT_MAX);
    ck_assert_int_eq(garbage_count, STEERING_PROBLEMS_MAX);
}
END_TEST

START_TEST(a_line_without_end_is_garbage_and_memory_stays_bounded)
{
    static unsigned char chunk[1 << 16];
    CLEANUP(steering_done) struct steering steering;

    memset(chunk, 'x', sizeof chunk);
    begin(&steering);
    for (int i = 0; i < 100; i++)
        steering_add(&steering, (struct bytes){chunk, sizeof chunk});
    ck_assert_uint_le(steering.line.capacity, JOB_RESULT_MAX + 100);
    steering_add(&steering, bytes_of("\nsnooze 1s\n"));
    ck_assert_int_eq(steering.verdict, STEERING_SNOOZE);
    ck_assert_int_eq(garbage_count, 1);
    ck_assert_str_eq(last_problem, "a line on descriptor 3 is over 64 KiB: it is ignored");
}
END_TEST

START_TEST(a_long_reason_is_cut_between_characters)
{
    CLEANUP(steering_done) struct steering steering;

    begin(&steering);
    steering_add(&steering, bytes_of("dead "));
    for (int i = 0; i < 1000; i++)
        steering_add(&steering, bytes_of("\xe2\x82\xac"));
    steering_end(&steering);
    ck_assert_uint_eq(strlen(steering.reason), 1023 / 3 * 3);
}
END_TEST

START_TEST(every_progress_is_told_and_garbage_is_quoted)
{
    CLEANUP(steering_done) struct steering steering;

    begin(&steering);
    steering_add(&steering, bytes_of("progress 1\nprogress 2 x\nbl\x01"
                                     "ah\n"));
    ck_assert_int_eq(progress_count, 2);
    ck_assert_str_eq(last_problem, "not understood on descriptor 3: bl\\x01ah "
                                   "(the words are progress, result, snooze and dead)");
}
END_TEST

Suite *steering_suite(void)
{
    Suite *suite = suite_create("worker/steering");
    TCase *lines = tcase_create("lines");

    tcase_add_loop_test(lines, each_word_does_what_it_says, 0, COUNT_OF(cases));
    tcase_add_loop_test(lines, it_does_not_matter_how_the_bytes_are_cut, 0, COUNT_OF(cases));
    tcase_add_test(lines, a_result_has_at_most_64_kib);
    tcase_add_test(lines, a_line_without_end_is_garbage_and_memory_stays_bounded);
    tcase_add_test(lines, a_long_reason_is_cut_between_characters);
    tcase_add_test(lines, every_progress_is_told_and_garbage_is_quoted);
    suite_add_tcase(suite, lines);
    return suite;
}

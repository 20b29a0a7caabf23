/*
 * test_progress_sent.c - progress and output are told once.
 */
#include "periodic/progress_sent.h"

#include "base/text.h"
#include "store/store.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>

/* A worker's slot, as far as it matters here. */
struct seen {
    struct hold hold;
    int percent;
    const char *text;
    const char *printed; /* all of it; the tail is the last of it */
};

static struct slot_job job_of(const struct seen *seen)
{
    struct slot_job job = {.hold = seen->hold, .progress_percent = seen->percent};

    snprintf(job.progress_text, sizeof job.progress_text, "%s", seen->text);
    job.output_total = strlen(seen->printed);
    job.output_length = strlen(seen->printed);
    memcpy(job.output, seen->printed, job.output_length);
    return job;
}

#define RUN                                                                                        \
    {                                                                                              \
        3, 7                                                                                       \
    } /* entry 3 of the lease table, used for the seventh time */
#define NEXT_RUN                                                                                   \
    {                                                                                              \
        3, 8                                                                                       \
    }
#define FIRST_RUN                                                                                  \
    {                                                                                              \
        0, 0                                                                                       \
    }

static const struct {
    const char *rule;
    bool any; /* there was a beat before */
    struct seen before, now;
    bool tells_progress, tells_output;
} cases[] = {
    {"a run that says nothing has nothing to tell",
     false,
     {RUN, -1, "", ""},
     {RUN, -1, "", ""},
     false,
     false},
    {"nor has one that says what cannot be",
     false,
     {RUN, -1, "", ""},
     {RUN, 101, "", ""},
     false,
     false},
    {"what it says first is told", false, {RUN, -1, "", ""}, {RUN, 0, "", "hello"}, true, true},
    {"also in the very first entry",
     false,
     {FIRST_RUN, 0, "", ""},
     {FIRST_RUN, 0, "", "hello"},
     true,
     true},
    {"what was told is not told again",
     true,
     {RUN, 40, "half", "hello"},
     {RUN, 40, "half", "hello"},
     false,
     false},
    {"a new percentage is",
     true,
     {RUN, 40, "half", "hello"},
     {RUN, 41, "half", "hello"},
     true,
     false},
    {"a new text is", true, {RUN, 40, "half", "hello"}, {RUN, 40, "soon", "hello"}, true, false},
    {"more output is", true, {RUN, 40, "half", "hello"}, {RUN, 40, "half", "hello!"}, false, true},
    {"a new run tells all of its own",
     true,
     {RUN, 40, "half", "hello"},
     {NEXT_RUN, 40, "half", "hello"},
     true,
     true},
    {"and nothing of the one before",
     true,
     {RUN, 40, "half", "hello"},
     {NEXT_RUN, -1, "", ""},
     false,
     false},
};

START_TEST(each_thing_is_told_once)
{
    const struct slot_job before = job_of(&cases[_i].before), now = job_of(&cases[_i].now);
    struct lease_beat beat = {.progress_percent = -1};
    struct progress_sent sent = {0};

    if (cases[_i].any)
        progress_sent_remember(&sent, &before, false);
    progress_sent_compare(&sent, &now, &beat);
    ck_assert_msg((beat.progress_percent >= 0) == cases[_i].tells_progress, "%s", cases[_i].rule);
    ck_assert_msg((beat.output.data != NULL) == cases[_i].tells_output, "%s", cases[_i].rule);
}
END_TEST

START_TEST(what_is_told_is_what_the_slot_says)
{
    const struct seen seen = {RUN, 40, "half", "hello"};
    const struct slot_job job = job_of(&seen);
    const struct progress_sent nothing = {0};
    struct lease_beat beat = {.progress_percent = -1};

    progress_sent_compare(&nothing, &job, &beat);
    ck_assert_int_eq(beat.progress_percent, 40);
    ck_assert_str_eq(beat.progress_text, "half");
    ck_assert_uint_eq(beat.output.length, 5);
    ck_assert_mem_eq(beat.output.data, "hello", 5);
}
END_TEST

static const char *const no_words[] = {"", "\xff", "cut in two: \xc3"};

START_TEST(a_progress_without_words_has_no_text)
{
    const struct seen seen = {RUN, 40, no_words[_i], ""};
    const struct slot_job job = job_of(&seen);
    const struct progress_sent nothing = {0};
    struct lease_beat beat = {.progress_percent = -1};

    progress_sent_compare(&nothing, &job, &beat);
    ck_assert_int_eq(beat.progress_percent, 40);
    ck_assert_ptr_null(beat.progress_text);
}
END_TEST

Suite *progress_sent_suite(void)
{
    Suite *suite = suite_create("periodic/progress_sent");
    TCase *memory = tcase_create("memory");

    tcase_add_loop_test(memory, each_thing_is_told_once, 0, COUNT_OF(cases));
    tcase_add_test(memory, what_is_told_is_what_the_slot_says);
    tcase_add_loop_test(memory, a_progress_without_words_has_no_text, 0, COUNT_OF(no_words));
    suite_add_tcase(suite, memory);
    return suite;
}

#include "store/redis/codec/show.h"

#include "base/cleanup.h"
#include "suites.h"

#include <check.h>
#include <string.h>

#define ID    "0193a0b0-0000-7000-8000-000000000001"
#define TOKEN "0123456789abcdefghij"
#define JOB   "p 1 5 1893553445123456 0 0 4 3 0 0 1 1893553445000000 0 0 4 0 0 work{}"
#define END   "6T" TOKEN " 2 1 1 0 1893553446000000 0 3 7 0 0 0 0 -1 0 - web-1.x"
#define RUN   "1 2 3 7 500 20 10 2048 1 0 0 7 web-1.x"

/* What scripts/show.lua answers for one job of which nothing is kept but one detail and one run. */
struct answer {
    const char *id, *state, *record, *lease, *end;
    const char *detail, *value;
    const char *run;
};

static redisReply text_of(const char *text)
{
    return (redisReply){.type = REDIS_REPLY_STRING, .str = (char *)text, .len = strlen(text)};
}

static void show(const struct answer *answer, struct job_list *jobs_out)
{
    redisReply detail[] = {text_of(answer->detail), text_of(answer->value)};
    redisReply *details[] = {&detail[0], &detail[1]};
    redisReply run = text_of(answer->run);
    redisReply *runs[] = {&run};
    redisReply fields[] = {
        text_of(answer->id),
        text_of(answer->state),
        text_of(answer->record),
        text_of(answer->lease),
        text_of(answer->end),
        {.type = REDIS_REPLY_ARRAY, .elements = 2, .element = details},
        {.type = REDIS_REPLY_ARRAY, .elements = 1, .element = runs},
        {.type = REDIS_REPLY_ARRAY},
    };
    redisReply *elements[COUNT_OF(fields)];
    redisReply reply = {
        .type = REDIS_REPLY_ARRAY, .elements = COUNT_OF(fields), .element = elements};
    struct error err = {0};

    for (size_t i = 0; i < COUNT_OF(fields); i++)
        elements[i] = &fields[i];
    ck_assert_msg(redis_show_read(&reply, "mail", jobs_out, &err), "%s", err.text);
    ck_assert_uint_eq(jobs_out->count, 1);
}

START_TEST(a_job_is_shown_with_all_that_is_known_of_it)
{
    static const struct answer answer = {ID, "6", JOB, "", END, "reason", "2", RUN};
    CLEANUP(job_list_done) struct job_list jobs = {0};

    show(&answer, &jobs);
    const struct job *job = &jobs.items[0];
    ck_assert_ptr_null(job->defect);
    ck_assert_int_eq(job->state, JOB_DEAD);
    ck_assert_str_eq(job->queue, "mail");
    ck_assert_str_eq(job->type, "work");
    ck_assert_int_eq(job->reason, REASON_PERMANENT);
    ck_assert_int_eq(job->ended_at, 1893553446000000);
    ck_assert_uint_eq(job->run_count, 1);
    ck_assert_int_eq(job->runs[0].outcome, RUN_DEAD);
}
END_TEST

static const struct {
    const char *rule;
    struct answer answer;
} strange[] = {
    {"a state that is none", {ID, "9", JOB, "", END, "reason", "2", RUN}},
    {"a state that is no number", {ID, "x", JOB, "", END, "reason", "2", RUN}},
    {"a reason that is none", {ID, "6", JOB, "", END, "reason", "7", RUN}},
    {"a reason below all", {ID, "6", JOB, "", END, "reason", "-1", RUN}},
    {"an outcome that is none", {ID, "6", JOB, "", END, "reason", "2", "1 9 3 7 0 0 0 0 1 0 0 0 "}},
    {"an id that is none", {"x", "6", JOB, "", END, "reason", "2", RUN}},
    {"no record", {ID, "6", "", "", END, "reason", "2", RUN}},
    {"a lease that is none", {ID, "3", JOB, "x", "", "progress_percent", "x", RUN}},
    {"an end that is none", {ID, "5", JOB, "", "x", "exit_code", "x", RUN}},
};

/* Names of states, reasons and outcomes end the process when they are asked for what is none. */
START_TEST(what_somebody_else_wrote_can_be_shown)
{
    CLEANUP(job_list_done) struct job_list jobs = {0};

    show(&strange[_i].answer, &jobs);
    const struct job *job = &jobs.items[0];
    ck_assert_msg(job_state_name(job->state) != NULL, "%s", strange[_i].rule);
    ck_assert_msg(job->reason == REASON_NONE || job_reason_name(job->reason), "%s",
                  strange[_i].rule);
    for (size_t i = 0; i < job->run_count; i++)
        ck_assert_msg(run_outcome_name(job->runs[i].outcome) != NULL, "%s", strange[_i].rule);
}
END_TEST

Suite *redis_show_suite(void)
{
    Suite *suite = suite_create("store/redis_show");
    TCase *group = tcase_create("redis_show");

    tcase_add_test(group, a_job_is_shown_with_all_that_is_known_of_it);
    tcase_add_loop_test(group, what_somebody_else_wrote_can_be_shown, 0, COUNT_OF(strange));
    suite_add_tcase(suite, group);
    return suite;
}

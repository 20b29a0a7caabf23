/*
 * test_why.c - what a job waits for, by the facts.
 */
#include "job/why.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json_writer.h"
#include "job/job.h"
#include "suites.h"

#include <string.h>

#define NOW        ((usec_t)1893553445000000)
#define SECONDS(n) ((usec_t)(n)*USEC_PER_SEC)

#define POOL    .name = "web-1", .serves = true, .handles = true
#define WAITING .type = "email:send", .queue = "mail", .due = NOW - SECONDS(1)

/* One pool, unless its name is absent. */
static const struct {
    const char *rule;
    struct job job;
    struct why_pool pool;
    struct why_facts facts;
    enum why_code code;
    const char *text; /* a part of it */
} cases[] = {
    {"what has ended, has",
     {WAITING, .state = JOB_DEAD, .reason = REASON_EXHAUSTED, .ended_at = NOW - SECONDS(60)},
     {POOL},
     {.paused_at = 1},
     WHY_ENDED,
     "ended 1m ago: dead (exhausted)"},
    {"a lease that a live pool holds runs",
     {WAITING, .state = JOB_RUNNING, .pool = "web-1", .started_at = NOW - SECONDS(5),
      .expires_at = NOW + 1},
     {POOL},
     {0},
     WHY_RUNNING,
     "running for 5s, in pool web-1"},
    {"one of a silent pool will end",
     {WAITING, .state = JOB_RUNNING, .pool = "web-1", .expires_at = NOW + SECONDS(20)},
     {POOL, .is_silent = true},
     {0},
     WHY_POOL_SILENT,
     "ends in 20s"},
    {"as will one of a pool that is gone",
     {WAITING, .state = JOB_RUNNING, .pool = "web-2", .expires_at = NOW + SECONDS(20)},
     {POOL},
     {0},
     WHY_POOL_SILENT,
     "pool web-2"},
    {"or it is over",
     {WAITING, .state = JOB_RUNNING, .pool = "web-1", .expires_at = NOW},
     {POOL},
     {0},
     WHY_POOL_SILENT,
     "its lease is over"},
    {"a scheduled job waits for its time, pause or not",
     {.queue = "mail", .state = JOB_SCHEDULED, .due = NOW + SECONDS(300)},
     {0},
     {.paused_at = 1},
     WHY_DUE_LATER,
     "in 5m"},
    {"a failed one for its next attempt",
     {.queue = "mail", .state = JOB_RETRY, .attempts = 2, .due = NOW + SECONDS(20)},
     {0},
     {0},
     WHY_DUE_LATER,
     "attempts: 2"},
    {"one that is due waits as a ready one does",
     {WAITING, .state = JOB_SCHEDULED},
     {0},
     {0},
     WHY_NO_POOL,
     "no live pool serves queue mail"},
    {"a blocked one waits for its twin",
     {WAITING, .state = JOB_BLOCKED},
     {POOL},
     {.running_count = 1},
     WHY_KEY,
     "with the same key is running"},
    {"a pause comes first",
     {WAITING, .state = JOB_READY},
     {0},
     {.paused_at = NOW - SECONDS(120), .paused_by = "kim@web-1"},
     WHY_PAUSED,
     "paused 2m ago by kim@web-1"},
    {"nobody need have said who",
     {WAITING, .state = JOB_READY},
     {0},
     {.paused_at = NOW - SECONDS(120)},
     WHY_PAUSED,
     "paused 2m ago"},
    {"nor does a fraction of a second matter",
     {WAITING, .state = JOB_READY},
     {0},
     {.paused_at = NOW - 71800},
     WHY_PAUSED,
     "queue mail was paused just now"},
    {"unless it is still to come",
     {.queue = "mail", .state = JOB_SCHEDULED, .due = NOW + 71800},
     {0},
     {0},
     WHY_DUE_LATER,
     "in 71ms"},
    {"a queue may be mistyped",
     {WAITING, .state = JOB_READY},
     {0},
     {.close_queue = "mails"},
     WHY_NO_POOL,
     "serves queue mail (did you mean 'mails'?)"},
    {"and so may a type",
     {WAITING, .state = JOB_READY},
     {.name = "web-1", .serves = true},
     {.close_type = "email:sent"},
     WHY_NO_HANDLER,
     "(did you mean 'email:sent'?)"},
    {"a pool of other queues is none",
     {WAITING, .state = JOB_READY},
     {.name = "web-1", .handles = true},
     {0},
     WHY_NO_POOL,
     "no live pool"},
    {"nor is one that drains",
     {WAITING, .state = JOB_READY},
     {POOL, .is_draining = true},
     {0},
     WHY_NO_POOL,
     "draining"},
    {"nor one that is silent",
     {WAITING, .state = JOB_READY},
     {POOL, .is_silent = true},
     {0},
     WHY_NO_POOL,
     "not been heard of"},
    {"a pool without its handler does not run it",
     {WAITING, .state = JOB_READY},
     {.name = "web-1", .serves = true},
     {0},
     WHY_NO_HANDLER,
     "handler for type email:send"},
    {"one that was set aside is none when somebody handles it now",
     {WAITING, .state = JOB_READY, .aside = ASIDE_NO_HANDLER, .aside_since = NOW},
     {POOL},
     {0},
     WHY_TURN,
     "next one"},
    {"a handler that cannot be started says why",
     {WAITING, .state = JOB_READY},
     {POOL, .start_error = "exec:\nno such file", .next_try = NOW + SECONDS(8)},
     {0},
     WHY_CANNOT_START,
     "started: no such file; tried again in 8s"},
    {"also where only the job knows it",
     {WAITING, .state = JOB_READY, .last_error = "no such file", .aside = ASIDE_CANNOT_START,
      .aside_since = NOW},
     {POOL},
     {0},
     WHY_CANNOT_START,
     "no such file"},
    {"one that runs may fill a queue",
     {WAITING, .state = JOB_READY},
     {POOL, .max_running = 1},
     {.running = 1},
     WHY_MAX_RUNNING,
     "1 job of queue mail runs, and its max_running is 1"},
    {"a queue may be full",
     {WAITING, .state = JOB_READY},
     {POOL, .max_running = 2},
     {.running = 2, .running_count = 2},
     WHY_MAX_RUNNING,
     "its max_running is 2"},
    {"or have room",
     {WAITING, .state = JOB_READY},
     {POOL, .max_running = 2},
     {.running = 1},
     WHY_TURN,
     "next one"},
    {"a rate may be used up",
     {WAITING, .state = JOB_READY},
     {POOL, .rate = {1, USEC_PER_MIN}},
     {.spent_until = NOW + SECONDS(60)},
     WHY_RATE,
     "rate of 1/m allows: the next one may start in"},
    {"or not",
     {WAITING, .state = JOB_READY},
     {POOL, .rate = {1, USEC_PER_MIN}},
     {.spent_until = NOW - 1},
     WHY_TURN,
     "next one"},
    {"all others wait for their turn",
     {WAITING, .state = JOB_READY},
     {POOL},
     {.before = 1},
     WHY_TURN,
     "1 job of queue mail is before it"},
    {"which comes as it went lately",
     {WAITING, .state = JOB_READY},
     {POOL},
     {.before = 30, .done = 100, .done_in = SECONDS(200)},
     WHY_TURN,
     "in about 1m"},
    {"as far as it was counted",
     {WAITING, .state = JOB_READY},
     {POOL},
     {.before = WHY_BEFORE_MAX, .done = 100, .done_in = SECONDS(200)},
     WHY_TURN,
     "at least 10000 jobs"},
};

static struct why decide(int which)
{
    struct why_facts facts = cases[which].facts;
    struct why why;

    facts.job = &cases[which].job;
    facts.now = NOW;
    facts.pools = &cases[which].pool;
    facts.pool_count = cases[which].pool.name != NULL;
    why_decide(&facts, &why);
    return why;
}

START_TEST(the_first_reason_that_applies_is_told)
{
    const struct why why = decide(_i);

    ck_assert_msg(why.code == cases[_i].code, "%s, not %s", cases[_i].rule,
                  why_code_name(why.code));
    ck_assert_msg(strstr(why.text, cases[_i].text) != NULL, "%s: %s", cases[_i].rule, why.text);
}
END_TEST

START_TEST(one_pool_with_room_is_enough)
{
    const struct job job = {WAITING, .state = JOB_READY};
    const struct why_pool pools[] = {
        {POOL, .max_running = 2, .rate = {1, USEC_PER_MIN}, .start_error = "broken"},
        {.name = "web-2", .serves = true, .handles = true},
    };
    const struct why_facts facts = {.job = &job,
                                    .now = NOW,
                                    .pools = pools,
                                    .pool_count = 2,
                                    .running = 5,
                                    .spent_until = NOW + SECONDS(60)};
    struct why why;

    why_decide(&facts, &why);
    ck_assert_int_eq(why.code, WHY_TURN);
    ck_assert_int_eq(why.limit, 0);
}
END_TEST

START_TEST(as_json_it_has_all_members)
{
    CLEANUP(buffer_done) struct buffer out = BUFFER(4096);
    struct json_writer json = {.out = &out};
    struct why why = {.code = WHY_PAUSED,
                      .by = "kim@web-1",
                      .since = NOW,
                      .before = -1,
                      .text = "queue mail was paused"};

    json_write_open(&json, NULL, '[');
    why_json_add(&json, NULL, NULL);
    why_json_add(&json, NULL, &why);
    json_write_close(&json, ']');
    ck_assert_str_eq(
        buffer_str(&out),
        "[null,{\"code\":\"paused\",\"text\":\"queue mail was paused\",\"help\":null,"
        "\"since\":\"2030-01-02T03:04:05.000000Z\",\"until\":null,\"by\":\"kim@web-1\","
        "\"pool\":null,\"error\":null,\"max_running\":null,\"before\":null,\"jobs\":[]}]");
}
END_TEST

Suite *why_suite(void)
{
    Suite *suite = suite_create("job/why");
    TCase *reasons = pure_case("reasons");

    tcase_add_loop_test(reasons, the_first_reason_that_applies_is_told, 0, COUNT_OF(cases));
    tcase_add_test(reasons, one_pool_with_room_is_enough);
    tcase_add_test(reasons, as_json_it_has_all_members);
    suite_add_tcase(suite, reasons);
    return suite;
}

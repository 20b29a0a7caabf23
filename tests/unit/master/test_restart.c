#include "master/restart.h"
#include "suites.h"

#include <check.h>

#define READY    .was_ready = true
#define QUICK    .lived = USEC_PER_SEC
#define LONG     .lived = RESTART_LIFE
#define MSEC(ms) ((ms)*USEC_PER_MSEC)
#define SEEN_MAX 3

/* What a place has seen before, and how long the last of them waits. */
static const struct {
    const char *rule;
    size_t count;
    struct death deaths[SEEN_MAX];
    usec_t expected;
} delays[] = {
    {"the first death of one that was ready is replaced at once", 1, {{READY, QUICK}}, 0},
    {"one that was never ready waits, from the first time on", 1, {{QUICK}}, MSEC(100)},
    {"again within ten seconds is a death that waits",
     2,
     {{READY, QUICK}, {READY, QUICK}},
     MSEC(100)},
    {"and each further one waits twice as long",
     3,
     {{READY, QUICK}, {READY, QUICK}, {READY, QUICK}},
     MSEC(200)},
    {"also when none was ready", 3, {{QUICK}, {QUICK}, {QUICK}}, MSEC(400)},
    {"ten seconds of life are enough to be replaced at once", 1, {{READY, LONG}}, 0},
    {"whether it was ready or not", 1, {{LONG}}, 0},
    {"and a long life makes up for what was before", 3, {{QUICK}, {QUICK}, {READY, LONG}}, 0},
    {"so that the delay starts anew", 3, {{QUICK}, {LONG}, {QUICK}}, MSEC(100)},
    {"a moment less than ten seconds is not enough",
     2,
     {{READY, QUICK}, {READY, .lived = RESTART_LIFE - 1}},
     MSEC(100)},
    {"a worker that died of a job is replaced at once",
     3,
     {{QUICK}, {QUICK}, {READY, QUICK, .had_job = true}},
     0},
    {"and so is one that was recycled",
     3,
     {{QUICK}, {QUICK}, {READY, QUICK, .was_recycled = true}},
     0},
    {"which does not make a crash the second one",
     2,
     {{READY, QUICK, .was_recycled = true}, {READY, QUICK}},
     0},
    {"nor the first one of two", 3, {{QUICK}, {READY, QUICK, .had_job = true}, {QUICK}}, MSEC(200)},
};

START_TEST(a_process_waits_by_how_it_died)
{
    struct restart restart = {0};
    usec_t delay = -1;

    for (size_t i = 0; i < delays[_i].count; i++)
        delay = restart_delay(&restart, &delays[_i].deaths[i]);
    ck_assert_msg(delay == delays[_i].expected, "%s, not %lld us", delays[_i].rule,
                  (long long)delay);
}
END_TEST

START_TEST(the_delay_grows_to_thirty_seconds_and_stays_there)
{
    const struct death stillborn = {0};
    struct restart restart = {0};
    usec_t last = 0;

    for (int i = 0; i < 100; i++) {
        const usec_t delay = restart_delay(&restart, &stillborn);

        ck_assert_int_ge(delay, last);
        ck_assert_int_le(delay, RESTART_DELAY_MAX);
        last = delay;
    }
    ck_assert_int_eq(last, RESTART_DELAY_MAX);
}
END_TEST

Suite *restart_suite(void)
{
    Suite *suite = suite_create("master/restart");
    TCase *delay = tcase_create("delay");

    tcase_add_loop_test(delay, a_process_waits_by_how_it_died, 0, COUNT_OF(delays));
    tcase_add_test(delay, the_delay_grows_to_thirty_seconds_and_stays_there);
    suite_add_tcase(suite, delay);
    return suite;
}

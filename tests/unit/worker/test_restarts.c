/*
 * test_restarts.c - when a resident that died may be started again.
 */
#include "suites.h"
#include "worker/restarts.h"

#define SHORT (RESTARTS_SOON - 1)
#define NOW   (1000 * USEC_PER_SEC)

static const struct {
    const char *rule;
    unsigned before; /* deaths, all of them soon and without an answer */
    usec_t lived;
    bool has_answered;
    usec_t wait; /* milliseconds */
} deaths[] = {
    {"one death waits for nothing", 0, SHORT, false, 0},
    {"the second in a row waits", 1, SHORT, false, 100},
    {"each further one twice as long", 2, SHORT, false, 200},
    {"and again", 3, SHORT, false, 400},
    {"but no longer than half a minute", 10, SHORT, false, 30000},
    {"however many there were", 5000, SHORT, false, 30000},
    {"one that has answered is of use", 5, SHORT, true, 0},
    {"one that has lived can live", 5, RESTARTS_SOON, false, 0},
};

START_TEST(the_delay_grows_while_it_gets_nowhere)
{
    struct restarts restarts = {0};

    for (unsigned i = 0; i < deaths[_i].before; i++)
        restarts_note_death(&restarts, SHORT, false, 1);
    restarts_note_death(&restarts, deaths[_i].lived, deaths[_i].has_answered, NOW);
    const usec_t wait = restarts_wait(&restarts, NOW);

    ck_assert_msg(wait == deaths[_i].wait * USEC_PER_MSEC, "%s, not %lld us", deaths[_i].rule,
                  (long long)wait);
    ck_assert_int_eq(restarts_wait(&restarts, NOW + wait), 0);
}
END_TEST

Suite *restarts_suite(void)
{
    Suite *suite = suite_create("worker/restarts");
    TCase *delay = tcase_create("delay");

    tcase_add_loop_test(delay, the_delay_grows_while_it_gets_nowhere, 0, COUNT_OF(deaths));
    suite_add_tcase(suite, delay);
    return suite;
}

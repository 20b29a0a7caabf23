#include "master/overrun.h"

#include "config/config.h"
#include "suites.h"

#include <check.h>
#include <signal.h>

#define NOW   (1000 * USEC_PER_SEC)
#define LATER (NOW + 1)

static const struct hold held = {3, 4};

static const struct {
    const char *rule;
    usec_t until, stop_at;
    unsigned flags;
    bool is_stopping;
    enum stop_reason expected;
} runs[] = {
    {"within its time it goes on", LATER, LATER, 0, false, STOP_NONE},
    {"without a limit, too", 0, LATER, 0, false, STOP_NONE},
    {"its time is up", NOW, LATER, 0, false, STOP_TIMEOUT},
    {"its lease was not confirmed", LATER, NOW, 0, false, STOP_LOST_LEASE},
    {"its entry is not its own any more", LATER, 0, 0, false, STOP_LOST_LEASE},
    {"its lease is lost", LATER, LATER, LEASE_LOST, false, STOP_LOST_LEASE},
    {"it shall be cancelled", LATER, LATER, LEASE_CANCELED, false, STOP_CANCEL},
    {"a lost lease is nobody's to cancel", LATER, LATER, LEASE_LOST | LEASE_CANCELED, false,
     STOP_LOST_LEASE},
    {"the pool stops", LATER, LATER, 0, true, STOP_DRAIN},
    {"a cancelled job is not given back", LATER, LATER, LEASE_CANCELED, true, STOP_CANCEL},
};

START_TEST(a_run_shall_stop_for_one_reason)
{
    const struct overrun_facts facts = {
        .mark = {1, held, runs[_i].until},
        .stop_at = runs[_i].stop_at,
        .flags = runs[_i].flags,
        .is_stopping = runs[_i].is_stopping,
        .now = NOW,
    };

    ck_assert_msg(overrun_reason(&facts) == runs[_i].expected, "%s", runs[_i].rule);
}
END_TEST

START_TEST(what_is_for_no_job_only_has_its_time)
{
    struct overrun_facts facts = {.mark = {1, HOLD_NONE, LATER}, .is_stopping = true, .now = NOW};

    ck_assert_int_eq(overrun_reason(&facts), STOP_NONE);
    facts.mark.until = NOW;
    ck_assert_int_eq(overrun_reason(&facts), STOP_TIMEOUT);
}
END_TEST

#define SECONDS(n) ((usec_t)(n)*USEC_PER_SEC)

static const struct pool_config pool = {.lease = SECONDS(30), .kill_grace = SECONDS(4)};

static const struct {
    const char *rule;
    usec_t stop_at;
    unsigned flags;
    usec_t expected;
} graces[] = {
    {"whose lease holds has kill_grace", LATER, 0, SECONDS(4)},
    {"whose lease was not confirmed in time, too", NOW, 0, SECONDS(4)},
    {"that is seen late ends before its lease can", NOW - SECONDS(3), 0, SECONDS(2)},
    {"whose lease may be over has none", NOW - SECONDS(11), 0, 0},
    {"whose lease is lost has none", LATER, LEASE_LOST, 0},
    {"whose entry is another's has none", 0, 0, 0},
};

START_TEST(a_run_that_lost_its_lease_had_kill_grace)
{
    struct overrun_facts facts = {
        .mark = {1, held, 0}, .stop_at = graces[_i].stop_at, .flags = graces[_i].flags, .now = NOW};

    ck_assert_msg(overrun_grace(&facts, &pool) == graces[_i].expected, "one %s", graces[_i].rule);
    facts.mark.hold = HOLD_NONE;
    ck_assert_int_eq(overrun_grace(&facts, &pool), pool.kill_grace);
}
END_TEST

static const struct {
    const char *rule;
    enum stop_reason reason;
    bool is_killed;
    int status; /* as waitpid() has it: a signal */
    bool expected;
} deaths[] = {
    {"that was let alone was not killed by us", STOP_NONE, false, SIGKILL, false},
    {"that was sent KILL was", STOP_LOST_LEASE, true, SIGKILL, true},
    {"that TERM was no harm to was not", STOP_TIMEOUT, false, SIGKILL, false},
    {"that died of TERM was", STOP_TIMEOUT, false, SIGTERM, true},
    {"that aborted before KILL came was not", STOP_LOST_LEASE, true, SIGABRT, false},
    {"that was stopped and sent KILL was", STOP_FROZEN, true, SIGKILL, true},
};

START_TEST(who_died_by_itself_was_not_killed)
{
    const struct overrun_watch watch = {.reason = deaths[_i].reason,
                                        .is_killed = deaths[_i].is_killed};

    ck_assert_msg(overrun_did_kill(&watch, deaths[_i].status) == deaths[_i].expected, "one %s",
                  deaths[_i].rule);
}
END_TEST

Suite *overrun_suite(void)
{
    Suite *suite = suite_create("master/overrun");
    TCase *cases = tcase_create("overrun");

    tcase_add_loop_test(cases, a_run_shall_stop_for_one_reason, 0, COUNT_OF(runs));
    tcase_add_test(cases, what_is_for_no_job_only_has_its_time);
    tcase_add_loop_test(cases, a_run_that_lost_its_lease_had_kill_grace, 0, COUNT_OF(graces));
    tcase_add_loop_test(cases, who_died_by_itself_was_not_killed, 0, COUNT_OF(deaths));
    suite_add_tcase(suite, cases);
    return suite;
}

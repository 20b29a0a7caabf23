#include "job/stop_reason.h"
#include "suites.h"

#include <check.h>

static const struct {
    const char *rule;
    enum stop_reason reason;
    const char *name;
    enum outcome_kind outcome;
} reasons[] = {
    {"what ended by itself, and not well", STOP_NONE, "none", OUTCOME_FAILED},
    {"what took too long may get better", STOP_TIMEOUT, "timeout", OUTCOME_FAILED},
    {"what somebody wanted stopped", STOP_CANCEL, "cancel", OUTCOME_CANCELLED},
    {"what runs elsewhere is let go", STOP_LOST_LEASE, "lost_lease", OUTCOME_RELEASED},
    {"a pool that goes down gives back", STOP_DRAIN, "drain", OUTCOME_RELEASED},
    {"nobody pays for another's job", STOP_COMPANY, "company", OUTCOME_RELEASED},
    {"a job may have stopped its worker itself", STOP_FROZEN, "stopped", OUTCOME_FAILED},
};

START_TEST(what_comes_of_a_job_follows_from_why_it_was_stopped)
{
    ck_assert_msg(stop_reason_outcome(reasons[_i].reason) == reasons[_i].outcome, "%s",
                  reasons[_i].rule);
    ck_assert_str_eq(stop_reason_name(reasons[_i].reason), reasons[_i].name);
}
END_TEST

START_TEST(every_reason_has_its_row)
{
    ck_assert_uint_eq(COUNT_OF(reasons), STOP_REASONS);
    for (size_t i = 0; i < COUNT_OF(reasons); i++)
        ck_assert_uint_eq(reasons[i].reason, i);
}
END_TEST

Suite *stop_reason_suite(void)
{
    Suite *suite = suite_create("job/stop_reason");
    TCase *cases = pure_case("stop_reason");

    tcase_add_loop_test(cases, what_comes_of_a_job_follows_from_why_it_was_stopped, 0,
                        COUNT_OF(reasons));
    tcase_add_test(cases, every_reason_has_its_row);
    suite_add_tcase(suite, cases);
    return suite;
}

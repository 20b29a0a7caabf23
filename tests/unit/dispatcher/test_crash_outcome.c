#include "config/config.h"
#include "dispatcher/crash_outcome.h"
#include "suites.h"

#include <check.h>
#include <signal.h>

#define EXITED(code) ((code) << 8) /* as waitpid() has it */
#define OWN                                                                                        \
    {                                                                                              \
        3, 4                                                                                       \
    }
#define OTHER                                                                                      \
    {                                                                                              \
        3, 5                                                                                       \
    }

static struct handler_config handlers[] = {{.pattern = "a", .plugin = "/srv/libthumbnail.so"}};
static const struct config config = {.handlers = handlers, .handler_count = 1};

static const struct {
    const char *rule;
    struct worker_end end;
    enum outcome_kind kind;
    const char *error;
} ends[] = {
    {"a crash in a plugin",
     {SIGSEGV, 1, STOP_NONE, OWN, {0, 0}},
     OUTCOME_FAILED,
     "killed by SIGSEGV in plugin thumbnail"},
    {"a crash elsewhere",
     {SIGSEGV, 0, STOP_NONE, OWN, {0, 0}},
     OUTCOME_FAILED,
     "worker 2 was killed by SIGSEGV while it ran the job"},
    {"a signal without a name",
     {40, 1, STOP_NONE, OWN, {0, 0}},
     OUTCOME_FAILED,
     "killed by signal 40 in plugin thumbnail"},
    {"an exit in a plugin",
     {EXITED(3), 1, STOP_NONE, OWN, {0, 0}},
     OUTCOME_FAILED,
     "exit(3) called in plugin thumbnail"},
    {"an exit of the worker itself",
     {EXITED(1), 0, STOP_NONE, OWN, {0, 0}},
     OUTCOME_FAILED,
     "worker 2 exited with code 1 while it ran the job"},
    {"a plugin that nobody knows",
     {EXITED(1), 99, STOP_NONE, OWN, {0, 0}},
     OUTCOME_FAILED,
     "worker 2 exited with code 1 while it ran the job"},
    {"a timeout",
     {SIGKILL, 1, STOP_TIMEOUT, OWN, {0, 0}},
     OUTCOME_FAILED,
     "timed out after 30s in plugin thumbnail"},
    {"a wish",
     {SIGKILL, 1, STOP_CANCEL, OWN, {0, 0}},
     OUTCOME_CANCELLED,
     "killed by SIGKILL in plugin thumbnail"},
    {"one that a signal had stopped",
     {SIGKILL, 0, STOP_FROZEN, OWN, {0, 0}},
     OUTCOME_FAILED,
     "worker 2 was killed after a signal had stopped it while it ran the job"},
    {"one of several jobs of such a one",
     {SIGKILL, 0, STOP_FROZEN, OTHER, {0, 0}},
     OUTCOME_FAILED,
     "worker 2 was killed after a signal had stopped it while it ran the job"},
    {"a lost lease", {SIGKILL, 1, STOP_LOST_LEASE, OWN, {0, 0}}, OUTCOME_RELEASED, NULL},
    {"a pool that stops", {SIGKILL, 1, STOP_DRAIN, OWN, {0, 0}}, OUTCOME_RELEASED, NULL},
    {"a kill for the job before",
     {SIGKILL, 1, STOP_TIMEOUT, OTHER, {0, 0}},
     OUTCOME_RELEASED,
     NULL},
};

START_TEST(the_end_of_a_worker_is_told_to_its_job)
{
    const struct crash_facts facts = {
        .config = &config,
        .worker = 2,
        .end = &ends[_i].end,
        .hold = OWN,
        .timeout = 30 * USEC_PER_SEC,
    };
    struct crash_outcome crash;

    crash_outcome_find(&facts, &crash);
    ck_assert_msg(crash.kind == ends[_i].kind, "%s", ends[_i].rule);
    if (ends[_i].error)
        ck_assert_str_eq(crash.error, ends[_i].error);
}
END_TEST

START_TEST(a_code_and_a_signal_exclude_each_other)
{
    struct worker_end end = {.status = EXITED(3)};
    const struct crash_facts facts = {.config = &config, .end = &end, .hold = OWN};
    struct crash_outcome crash;

    crash_outcome_find(&facts, &crash);
    ck_assert_int_eq(crash.exit_code, 3);
    ck_assert_int_eq(crash.signal, 0);
    end.status = SIGABRT;
    crash_outcome_find(&facts, &crash);
    ck_assert_int_eq(crash.exit_code, JOB_NO_EXIT_CODE);
    ck_assert_int_eq(crash.signal, SIGABRT);
}
END_TEST

Suite *crash_outcome_suite(void)
{
    Suite *suite = suite_create("dispatcher/crash_outcome");
    TCase *cases = tcase_create("crash_outcome");

    tcase_add_loop_test(cases, the_end_of_a_worker_is_told_to_its_job, 0, COUNT_OF(ends));
    tcase_add_test(cases, a_code_and_a_signal_exclude_each_other);
    suite_add_tcase(suite, cases);
    return suite;
}

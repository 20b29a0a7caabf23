/*
 * test_command.c - what the end of a command means for its job.
 */
#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/gist.h"
#include "base/text.h"
#include "process/account.h"
#include "process/loop.h"
#include "process/nobody.h"
#include "suites.h"
#include "worker/command.h"
#include "worker/execution.h"
#include "worker/output.h"
#include "worker/tail.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG_TIME (600 * USEC_PER_SEC)

static struct loop *loop;
static struct execution *execution;
static struct arena arena;
static struct account account;
static struct error err;
static struct command command;
static struct handler_job job;
static struct handler_listener listener;
static struct handler_report report;
static struct buffer heard = BUFFER(100000);

static void hear_line(void *context, bool is_error, struct bytes line, uint64_t dropped)
{
    (void)context;
    buffer_printf(&heard, "%s%.*s", is_error ? "2:" : "1:", (int)line.length,
                  (const char *)line.data);
    if (dropped > 0)
        buffer_text(&heard, "...");
    buffer_char(&heard, '|');
}

static void hear_progress(void *context, int percent, const char *text)
{
    (void)context;
    buffer_printf(&heard, "%d %s|", percent, text);
}

static void hear_garbage(void *context, const char *problem)
{
    (void)context;
    buffer_printf(&heard, "%s|", problem);
}

static void begin(void)
{
    ck_assert_msg(loop_open(&loop, &err), "%s", err.text);
    ck_assert_msg(execution_open(loop, &execution, &err), "%s", err.text);
    ck_assert_msg(account_find(NULL, &arena, &account, &err), "%s", err.text);
    command =
        (struct command){.account = &account, .umask = SPAWN_KEEP, .base_delay = 10 * USEC_PER_SEC};
    job = (struct handler_job){
        .id = "0193f0a2-7c1d-7abc-8def-0123456789ab",
        .type = "email:send",
        .queue = "mail",
        .pool_id = "web-1.x7",
        .attempt = 1,
        .max_attempts = 4,
        .execution = 1,
        .payload = {(const unsigned char *)"{}", 2},
        .timeout = LONG_TIME,
        .output_size = TAIL_SIZE,
        .kill_grace = LONG_TIME,
        .started_at = 5,
        .worker = 3,
    };
    listener = (struct handler_listener){
        .line = hear_line, .progress = hear_progress, .garbage = hear_garbage};
}

static void finish(void)
{
    handler_report_done(&report);
    buffer_done(&heard);
    arena_done(&arena);
    execution_close(&execution);
    loop_close(&loop);
}

static const struct outcome *run(void)
{
    ck_assert_msg(command_run(&command, &job, execution, &listener, &report, &err), "%s", err.text);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
    return &report.outcome;
}

/* As argv, so that no exit code of the shell is taken for a failure to start. */
static const struct outcome *run_script(const char *script)
{
    const char *const argv[] = {"sh", "-c", script, NULL};

    command.argv = argv;
    return run();
}

static const struct outcome *run_shell(const char *script)
{
    command.shell = script;
    return run();
}

static const int dead_codes[] = {3, 127};

/* clang-format off */
static const struct {
    const char *rule;
    const char *script;
    enum outcome_kind kind;
    const char *error;
    usec_t snooze_for; /* seconds */
    int exit_code, signal;
} ends[] = {
    {"0 is done", "exit 0", OUTCOME_DONE, NULL, 0, 0, 0},
    {"also with something on stderr", "echo x >&2", OUTCOME_DONE, NULL, 0, 0, 0},
    {"1 may get better", "exit 1", OUTCOME_FAILED, "exit code 1", 0, 1, 0},
    {"stderr says why", "echo a >&2; echo b >&2; exit 2", OUTCOME_FAILED, "exit code 2: a\nb", 0, 2, 0},
    {"65 is dead", "exit 65", OUTCOME_PERMANENT, "exit code 65", 0, 65, 0},
    {"and so is a code that is listed", "exit 3", OUTCOME_PERMANENT, "exit code 3", 0, 3, 0},
    {"75 is later", "exit 75", OUTCOME_SNOOZED, NULL, 10, 75, 0},
    {"126 of a program is its own", "exit 126", OUTCOME_FAILED, "exit code 126", 0, 126, 0},
    {"255 may get better", "exit 255", OUTCOME_FAILED, "exit code 255", 0, 255, 0},
    {"a signal may get better", "kill -SEGV $$", OUTCOME_FAILED, "killed by SIGSEGV", 0, -1, SIGSEGV},
    {"one without a name, too", "kill -40 $$", OUTCOME_FAILED, "killed by signal 40", 0, -1, 40},
    {"dead beats 0", "echo dead gone >&3", OUTCOME_PERMANENT, "gone", 0, 0, 0},
    {"dead needs no reason", "echo dead >&3", OUTCOME_PERMANENT, "said to be dead", 0, 0, 0},
    {"dead beats 75", "echo dead gone >&3; exit 75", OUTCOME_PERMANENT, "gone", 0, 75, 0},
    {"snooze beats 0", "echo snooze 30s >&3", OUTCOME_SNOOZED, NULL, 30, 0, 0},
    {"snooze beats 65", "echo snooze 30s >&3; exit 65", OUTCOME_SNOOZED, NULL, 30, 65, 0},
    {"snooze beats 75's own delay", "echo snooze 30s >&3; exit 75", OUTCOME_SNOOZED, NULL, 30, 75, 0},
    {"the last one counts", "echo dead x >&3; echo snooze 2s >&3", OUTCOME_SNOOZED, NULL, 2, 0, 0},
    {"the last one counts, still", "echo snooze 2s >&3; echo dead x >&3", OUTCOME_PERMANENT, "x", 0, 0, 0},
    {"a signal beats dead", "echo dead x >&3; kill -KILL $$", OUTCOME_FAILED, "killed by SIGKILL", 0, -1, SIGKILL},
    {"a signal beats snooze", "echo snooze 2s >&3; kill -HUP $$", OUTCOME_FAILED, "killed by SIGHUP", 0, -1, SIGHUP},
    {"garbage changes nothing", "echo hello >&3", OUTCOME_DONE, NULL, 0, 0, 0},
};
/* clang-format on */

START_TEST(every_end_has_its_outcome)
{
    command.dead_exit_codes = dead_codes;
    command.dead_exit_code_count = 1;
    const struct outcome *outcome = run_script(ends[_i].script);

    ck_assert_msg(outcome->kind == ends[_i].kind, "%s, not %d", ends[_i].rule, outcome->kind);
    ck_assert_msg(text_equal(outcome->error, ends[_i].error), "%s, not '%s'", ends[_i].rule,
                  outcome->error ? outcome->error : "");
    ck_assert_int_eq(outcome->snooze_for, ends[_i].snooze_for * USEC_PER_SEC);
    ck_assert_int_eq(outcome->run.exit_code, ends[_i].exit_code);
    ck_assert_int_eq(outcome->run.signal, ends[_i].signal);
    ck_assert(!report.could_not_start);
    ck_assert_int_eq(outcome->run.started_at, 5);
}
END_TEST

static const char *const missing[] = {"/nowhere/x", NULL};
static const char *const not_executable[] = {"/etc/passwd", NULL};
static const char *const not_in_path[] = {"no-such-program", NULL};
static const char *const fine[] = {"true", NULL};

static const struct {
    const char *rule;
    const char *const *argv;
    const char *shell;
    const char *cwd;
    const char *error; /* what it starts with */
} unstarted[] = {
    {"a program that is not there", missing, NULL, NULL, "exec /nowhere/x: No such file"},
    {"one that cannot be run", not_executable, NULL, NULL, "exec /etc/passwd: Permission denied"},
    {"one that is in no folder", not_in_path, NULL, NULL, "exec no-such-program: No such file"},
    {"a folder that is not there", fine, NULL, "/nowhere", "change to folder /nowhere: No such"},
    {"a shell finds nothing", NULL, "no-such-program", NULL, "exit code 127: "},
    {"a shell may not run it", NULL, "/etc/passwd", NULL, "exit code 126: "},
};

START_TEST(what_could_not_start_is_not_the_jobs_fault)
{
    command.argv = unstarted[_i].argv;
    command.shell = unstarted[_i].shell;
    command.cwd = unstarted[_i].cwd;
    const struct outcome *outcome = run();

    ck_assert_msg(report.could_not_start, "%s", unstarted[_i].rule);
    ck_assert_int_eq(outcome->kind, OUTCOME_RELEASED);
    ck_assert_msg(text_starts_with(outcome->error, unstarted[_i].error), "%s, not %s",
                  unstarted[_i].rule, outcome->error);
    ck_assert_msg(outcome->run.started_at == 0, "nothing is counted");
}
END_TEST

static const struct {
    const char *rule;
    const char *shell;
    size_t listed;
    enum outcome_kind kind;
} late[] = {
    {"a second later it is the job's", "sleep 1; exit 127", 0, OUTCOME_FAILED},
    {"what is listed is meant", "exit 127", 2, OUTCOME_PERMANENT},
    {"what was said is meant", "echo snooze 1s >&3; exit 127", 0, OUTCOME_SNOOZED},
    {"another code is the job's", "exit 125", 0, OUTCOME_FAILED},
};

START_TEST(not_every_127_of_a_shell_is_a_failure_to_start)
{
    command.dead_exit_codes = dead_codes;
    command.dead_exit_code_count = late[_i].listed;
    const struct outcome *outcome = run_shell(late[_i].shell);

    ck_assert_msg(outcome->kind == late[_i].kind, "%s", late[_i].rule);
    ck_assert(!report.could_not_start);
}
END_TEST

START_TEST(a_timeout_beats_whatever_was_said)
{
    job.timeout = 250 * USEC_PER_MSEC;
    const struct outcome *outcome = run_script(
        "trap 'exit 0' TERM; echo dead x >&3; echo slow >&2; while :; do sleep 0.01; done");

    ck_assert_int_eq(outcome->kind, OUTCOME_FAILED);
    ck_assert_msg(text_starts_with(outcome->error, "timed out after 250ms"), "%s", outcome->error);
    ck_assert_int_ge(outcome->run.wall, job.timeout);
}
END_TEST

static enum stop_reason reason;

static void stop_at_line(void *context, bool is_error, struct bytes line, uint64_t dropped)
{
    hear_line(context, is_error, line, dropped);
    execution_stop(execution, reason, LONG_TIME);
}

static const struct {
    const char *rule;
    enum stop_reason stop;
    enum outcome_kind kind;
    const char *error;
} stops[] = {
    {"a cancelled job is cancelled", STOP_CANCEL, OUTCOME_CANCELLED, "stopped on request"},
    {"a lost one is let go", STOP_LOST_LEASE, OUTCOME_RELEASED, "stopped after its lease was lost"},
    {"a drain gives it back", STOP_DRAIN, OUTCOME_RELEASED, "stopped with its pool"},
};

START_TEST(a_stop_beats_a_good_end)
{
    listener.line = stop_at_line;
    reason = stops[_i].stop;
    const struct outcome *outcome =
        run_script("trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done");

    ck_assert_msg(outcome->kind == stops[_i].kind, "%s", stops[_i].rule);
    ck_assert_ptr_null(outcome->error);
    ck_assert_msg(text_starts_with(outcome->run.error, stops[_i].error), "%s", outcome->run.error);
    ck_assert(!report.could_not_start);
    ck_assert_int_eq(outcome->run.started_at, 5);
}
END_TEST

static const struct {
    const char *rule;
    const char *script;
    bool from_stdout;
    const char *result; /* NULL: none */
} results[] = {
    {"stdout is no result unless asked for", "echo 1", false, NULL},
    {"stdout as it is", "printf ' a b\\n'", true, " a b\n"},
    {"nothing printed is no result", "true", true, NULL},
    {"a result on descriptor 3", "echo 'result {\"a\":1}' >&3", false, "{\"a\":1}"},
    {"which beats stdout", "echo 1; echo 'result 2' >&3", true, "2"},
    {"stdout of what failed is none", "echo 1; exit 1", true, NULL},
};

START_TEST(a_result_comes_from_where_the_handler_says)
{
    command.result_is_stdout = results[_i].from_stdout;
    const struct bytes result = run_script(results[_i].script)->result;

    if (!results[_i].result) {
        ck_assert_msg(!result.data, "%s", results[_i].rule);
        return;
    }
    ck_assert_msg(result.length == strlen(results[_i].result), "%s", results[_i].rule);
    ck_assert_mem_eq(result.data, results[_i].result, result.length);
}
END_TEST

START_TEST(the_last_4_kib_are_kept_and_all_is_counted)
{
    command.result_is_stdout = true;
    const struct outcome *outcome = run_script("head -c 100000 /dev/zero | tr '\\0' x; echo end");

    ck_assert_uint_eq(outcome->result.length, TAIL_SIZE);
    ck_assert_uint_eq(outcome->output.length, TAIL_SIZE);
    ck_assert_mem_eq(outcome->output.data + TAIL_SIZE - 5, "xend\n", 5);
    ck_assert_uint_eq(report.output_bytes, 100004);
}
END_TEST

START_TEST(the_error_has_the_first_kib_of_stderr_and_the_last_three)
{
    const struct outcome *outcome =
        run_script("head -c 100000 /dev/zero | tr '\\0' x >&2; echo end >&2; exit 1");

    const char *left_out = "\n[... 95908 bytes left out ...]\n";

    ck_assert_uint_eq(strlen(outcome->error),
                      strlen("exit code 1: ") + strlen(left_out) + GIST_HEAD + GIST_TAIL - 1);
    ck_assert_ptr_eq(strstr(outcome->error, left_out),
                     outcome->error + strlen("exit code 1: ") + GIST_HEAD);
    ck_assert_str_eq(outcome->error + strlen(outcome->error) - 4, "xend");
}
END_TEST

START_TEST(what_is_wrong_on_descriptor_3_is_seen_in_the_output)
{
    const struct outcome *outcome = run_script("printf hello; sleep 0.1; echo 'result {bad' >&3");
    const char *expected = "hello\nthd: the result on descriptor 3 is not JSON: {bad\n";

    ck_assert_int_eq(outcome->kind, OUTCOME_DONE);
    ck_assert_uint_eq(outcome->output.length, strlen(expected));
    ck_assert_mem_eq(outcome->output.data, expected, strlen(expected));
}
END_TEST

START_TEST(lines_progress_and_garbage_are_told_as_they_come)
{
    run_script("echo one; printf two >&2; echo progress 40 half >&3;"
               "echo what >&3; echo is >&3");
    ck_assert_ptr_nonnull(strstr(buffer_str(&heard), "1:one|"));
    ck_assert_ptr_nonnull(strstr(buffer_str(&heard), "2:two|"));
    ck_assert_ptr_nonnull(strstr(buffer_str(&heard), "40 half|"));
    ck_assert_ptr_nonnull(strstr(buffer_str(&heard), "not understood on descriptor 3: what ("));
    ck_assert_ptr_nonnull(strstr(buffer_str(&heard), "not understood on descriptor 3: is ("));
    ck_assert_int_eq(report.progress_percent, 40);
    ck_assert_str_eq(report.progress_text, "half");
}
END_TEST

START_TEST(nobody_needs_to_listen)
{
    listener = (struct handler_listener){0};
    run_script("echo one; echo two >&2; echo progress 40 half >&3; echo what >&3");
    ck_assert_int_eq(report.progress_percent, 40);
}
END_TEST

START_TEST(the_payload_is_on_stdin_and_nowhere_else)
{
    job.payload = (struct bytes){(const unsigned char *)"$(touch /tmp/x) secret", 22};
    run_script("cat; tr '\\0' '\\n' </proc/$$/cmdline | grep -c '[$](touch'; env | grep -c secret");
    ck_assert_str_eq(buffer_str(&heard), "1:$(touch /tmp/x) secret0|1:0|");
}
END_TEST

START_TEST(a_run_is_recorded)
{
    const struct job_run record = run_script("dd if=/dev/zero of=/dev/null bs=8M count=8")->run;

    ck_assert_int_eq(record.worker, 3);
    ck_assert_int_eq(record.execution, 1);
    ck_assert_str_eq(record.pool, "web-1.x7");
    ck_assert_int_gt(record.wall, 0);
    ck_assert_int_ge(record.max_rss_kb, 8 * 1024);
}
END_TEST

START_TEST(a_limit_ends_in_its_signal)
{
    command.limits.cpu = 1;
    const struct outcome *outcome = run_script("while :; do :; done");

    ck_assert_str_eq(outcome->error, "killed by SIGXCPU");
    ck_assert_int_ge(outcome->run.user + outcome->run.system, USEC_PER_SEC / 2);
}
END_TEST

START_TEST(a_memory_limit_holds)
{
    command.limits.memory = 64 << 20;
    ck_assert_int_eq(run_script("dd if=/dev/zero of=/dev/null bs=100M count=1 2>/dev/null")->kind,
                     OUTCOME_FAILED);
}
END_TEST

START_TEST(another_user_runs_it)
{
    if (geteuid() != 0)
        return;
    ck_assert(account_find("nobody", &arena, &account, &err));
    run_script("id -un; echo $USER; echo $HOME");
    ck_assert_str_eq(buffer_str(&heard), "1:nobody|1:nobody|1:/nonexistent|");
}
END_TEST

START_TEST(a_user_that_we_may_not_become_is_no_failure_of_the_job)
{
    nobody_become();
    ck_assert(account_find("root", &arena, &account, &err));
    run_script("exit 0");
    ck_assert(report.could_not_start);
    ck_assert_str_eq(report.outcome.error, "change to user root: Operation not permitted");
}
END_TEST

Suite *command_suite(void)
{
    Suite *suite = suite_create("worker/command");
    TCase *outcomes = tcase_create("outcomes");
    TCase *runs = tcase_create("runs");

    tcase_set_timeout(outcomes, 60);
    tcase_add_checked_fixture(outcomes, begin, finish);
    tcase_add_loop_test(outcomes, every_end_has_its_outcome, 0, COUNT_OF(ends));
    tcase_add_loop_test(outcomes, what_could_not_start_is_not_the_jobs_fault, 0,
                        COUNT_OF(unstarted));
    tcase_add_loop_test(outcomes, not_every_127_of_a_shell_is_a_failure_to_start, 0,
                        COUNT_OF(late));
    tcase_add_test(outcomes, a_timeout_beats_whatever_was_said);
    tcase_add_loop_test(outcomes, a_stop_beats_a_good_end, 0, COUNT_OF(stops));
    suite_add_tcase(suite, outcomes);

    tcase_set_timeout(runs, 60);
    tcase_add_checked_fixture(runs, begin, finish);
    tcase_add_loop_test(runs, a_result_comes_from_where_the_handler_says, 0, COUNT_OF(results));
    tcase_add_test(runs, the_last_4_kib_are_kept_and_all_is_counted);
    tcase_add_test(runs, the_error_has_the_first_kib_of_stderr_and_the_last_three);
    tcase_add_test(runs, lines_progress_and_garbage_are_told_as_they_come);
    tcase_add_test(runs, what_is_wrong_on_descriptor_3_is_seen_in_the_output);
    tcase_add_test(runs, nobody_needs_to_listen);
    tcase_add_test(runs, the_payload_is_on_stdin_and_nowhere_else);
    tcase_add_test(runs, a_run_is_recorded);
    tcase_add_test(runs, a_limit_ends_in_its_signal);
    tcase_add_test(runs, a_memory_limit_holds);
    tcase_add_test(runs, another_user_runs_it);
    tcase_add_test(runs, a_user_that_we_may_not_become_is_no_failure_of_the_job);
    suite_add_tcase(suite, runs);
    return suite;
}

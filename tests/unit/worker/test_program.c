/*
 * test_program.c - programs that stay, beside those that come and go.
 */
#include "base/buffer.h"
#include "base/error.h"
#include "process/loop.h"
#include "suites.h"
#include "worker/execution.h"
#include "worker/program.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG_TIME (600 * USEC_PER_SEC)

static struct loop *loop;
static struct execution *execution;
static struct program program;
static struct error err;
static struct buffer heard = BUFFER(4096);
static const char *const environment[] = {"PATH=/usr/bin:/bin", NULL};

static void receive(void *context, enum program_stream stream, struct bytes data)
{
    ck_assert_ptr_eq(context, &program);
    ck_assert_int_eq(stream, STREAM_OUTPUT);
    buffer_add(&heard, data.data, data.length);
}

static void note_closed(void *context, enum program_stream stream)
{
    (void)context;
    if (stream == STREAM_INPUT)
        buffer_text(&heard, "[deaf]");
}

static struct spawn spawn_of(const char *const *argv)
{
    return (struct spawn){.argv = argv, .environment = environment, .umask = SPAWN_KEEP};
}

static void start(const char *script, const char *input)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    struct spawn spawn = spawn_of(argv);
    const struct bytes bytes = {(const unsigned char *)input, strlen(input)};

    ck_assert_msg(program_start(&program, &spawn, bytes, &err), "%s", err.text);
}

static void begin(void)
{
    ck_assert_msg(loop_open(&loop, &err), "%s", err.text);
    ck_assert_msg(execution_open(loop, &execution, &err), "%s", err.text);
    program = (struct program){
        .programs = execution_programs(execution),
        .stays = true,
        .stream_count = STREAM_ERROR + 1,
        .received = receive,
        .closed = note_closed,
        .context = &program,
    };
}

static void step(void)
{
    ck_assert_msg(loop_step(loop, &err), "%s", err.text);
}

static void finish(void)
{
    program_stop(&program, 0);
    while (program.phase == PROGRAM_RUNNING || program.phase == PROGRAM_CLEARING)
        step();
    program_finish(&program);
    ck_assert_msg(waitpid(-1, NULL, WNOHANG) == -1, "a process was left behind");
    buffer_done(&heard);
    execution_close(&execution);
    loop_close(&loop);
}

static void wait_for_word(const char *word)
{
    while (!strstr(buffer_str(&heard), word))
        step();
}

static void ignore(void *context, enum program_stream stream, struct bytes data)
{
    (void)context;
    (void)stream;
    (void)data;
}

static int run_beside(const char *script)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    const struct execution_plan plan = {
        .spawn = spawn_of(argv), .kill_grace = LONG_TIME, .received = ignore};
    struct execution_end end;

    ck_assert_msg(execution_run(execution, &plan, &end, &err), "%s", err.text);
    return end.exit_code;
}

START_TEST(what_stays_is_spared_when_a_run_is_cleared_up_after)
{
    start("read -r a; echo \"$a\"; read -r b; echo \"$b\"", "one\n");
    wait_for_word("one");
    ck_assert_int_eq(run_beside("setsid sleep 1000 & exit 3"), 3);
    ck_assert_int_eq(program.phase, PROGRAM_RUNNING);
    ck_assert(program_send(&program, (struct bytes){(const unsigned char *)"two\n", 4}, &err));
    wait_for_word("two");
}
END_TEST

START_TEST(what_one_that_stayed_left_behind_is_killed_with_it)
{
    start("setsid sleep 1000 & sleep 1000 & echo up", "");
    while (program.phase != PROGRAM_ENDED)
        step();
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(program.end.exit_code, 0);
}
END_TEST

/* The orphan of the run is our child by then, and tells the run that it lives. */
START_TEST(one_that_stayed_and_ends_takes_nothing_from_a_run)
{
    char script[256];

    start("read -r a", "");
    snprintf(script, sizeof script,
             "d=$(mktemp -d) && mkfifo $d/f && (setsid sh -c \"sleep 0.2; echo fine >$d/f\" &) && "
             "kill %d && read -r said <$d/f; rm -r $d; [ \"$said\" = fine ]",
             (int)program.child.pid);
    ck_assert_int_eq(run_beside(script), 0);
    ck_assert_int_eq(program.phase, PROGRAM_ENDED);
    ck_assert_int_eq(program.end.signal, SIGTERM);
}
END_TEST

START_TEST(what_was_not_read_is_known_after_the_end)
{
    start("exit 0", "hello\n");
    while (program.phase != PROGRAM_ENDED)
        step();
    ck_assert_uint_eq(program_unread(&program), 6);
}
END_TEST

START_TEST(input_that_nobody_will_read_is_noticed)
{
    start("exec <&-; echo up; exec sleep 1000", "");
    wait_for_word("up");
    ck_assert(program_send(&program, (struct bytes){(const unsigned char *)"x\n", 2}, &err));
    ck_assert(strstr(buffer_str(&heard), "[deaf]"));
    ck_assert_uint_eq(program.unsent.length, 2);
}
END_TEST

Suite *program_suite(void)
{
    Suite *suite = suite_create("worker/program");
    TCase *stays = tcase_create("stays");

    tcase_add_checked_fixture(stays, begin, finish);
    tcase_set_timeout(stays, 60);
    tcase_add_test(stays, what_stays_is_spared_when_a_run_is_cleared_up_after);
    tcase_add_test(stays, what_one_that_stayed_left_behind_is_killed_with_it);
    tcase_add_test(stays, one_that_stayed_and_ends_takes_nothing_from_a_run);
    tcase_add_test(stays, what_was_not_read_is_known_after_the_end);
    tcase_add_test(stays, input_that_nobody_will_read_is_noticed);
    suite_add_tcase(suite, stays);
    return suite;
}

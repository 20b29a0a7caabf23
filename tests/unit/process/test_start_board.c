#include "base/error.h"
#include "process/start_board.h"
#include "suites.h"

#include <check.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct start_board *open_board(void)
{
    struct start_board *board = NULL;
    struct error err;

    ck_assert_msg(start_board_open(2, &board, &err), "%s", err.text);
    return board;
}

static const struct start_failure broken = {.since = 5, .next_try = 9, .error = "no such program"};

START_TEST(what_one_process_writes_another_reads)
{
    struct start_board *board = open_board();
    struct start_failure read;
    int status;

    const pid_t pid = fork();
    if (pid == 0) {
        start_board_set(board, 1, &broken);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(!start_board_get(board, 0, &read));
    ck_assert(start_board_get(board, 1, &read));
    ck_assert_int_eq(read.since, 5);
    ck_assert_int_eq(read.next_try, 9);
    ck_assert_str_eq(read.error, "no such program");
    start_board_close(&board);
}
END_TEST

START_TEST(a_handler_that_can_be_started_is_not_on_it)
{
    struct start_board *board = open_board();
    struct start_failure read;

    start_board_set(board, 0, &broken);
    start_board_set(board, 0, NULL);
    ck_assert(!start_board_get(board, 0, &read));
    start_board_set(board, 1, &broken);
    start_board_clear(board);
    ck_assert(!start_board_get(board, 1, &read));
    start_board_close(&board);
}
END_TEST

START_TEST(a_worker_cannot_write_it)
{
    struct start_board *board = open_board();
    struct error err;
    int status;

    const pid_t pid = fork();
    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL);
        if (start_board_restrict(board, &err))
            start_board_set(board, 0, &broken);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    start_board_close(&board);
}
END_TEST

Suite *start_board_suite(void)
{
    Suite *suite = suite_create("process/start_board");
    TCase *cases = tcase_create("start_board");

    tcase_add_test(cases, what_one_process_writes_another_reads);
    tcase_add_test(cases, a_handler_that_can_be_started_is_not_on_it);
    tcase_add_test(cases, a_worker_cannot_write_it);
    suite_add_tcase(suite, cases);
    return suite;
}

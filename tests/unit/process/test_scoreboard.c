/*
 * test_scoreboard.c - what owners write and readers see, also when an owner is killed at it.
 */
#include "base/clock.h"
#include "base/error.h"
#include "process/scoreboard.h"
#include "suites.h"

#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLOTS  3
#define OWN    1
#define PLACES 2
#define PLACE  1

static struct scoreboard *board;
static struct slot slot;
static struct slot_job job;
static struct error err;

static void setup(void)
{
    ck_assert_msg(scoreboard_open(SLOTS, PLACES, &board, &err), "%s", err.text);
    scoreboard_enter(board, OWN, "worker 3", 3, 4000000000u, 4711);
}

static void teardown(void)
{
    scoreboard_close(&board);
    scoreboard_close(&board);
}

static void read_own(void)
{
    ck_assert(scoreboard_read(board, OWN, &slot));
}

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const unsigned char *)text, strlen(text)};
}

static void start_job(void)
{
    const struct uuid id = {{1, 2, 3}};

    scoreboard_show_jobs(board, OWN, 1, PLACE + 1, PLACE);
    scoreboard_set_job(board, OWN, PLACE, (struct hold){7, 8}, &id, "email:send");
}

static void expect_no_job(void)
{
    read_own();
    ck_assert_uint_eq(slot.hold.entry, 0);
    ck_assert_uint_eq(slot.hold.generation, 0);
    ck_assert(uuid_is_nil(&slot.job));
    ck_assert_str_eq(slot.type, "");
    ck_assert_int_eq(slot.progress_percent, -1);
    ck_assert_str_eq(slot.progress_text, "");
    ck_assert_uint_eq(slot.jobs_running, 0);
    ck_assert_uint_eq(slot.place_extent, 0);
}

static void read_job(void)
{
    ck_assert(scoreboard_read_job(board, OWN, PLACE, &job));
}

START_TEST(slots_that_nobody_uses_are_not_counted)
{
    scoreboard_use(board, 1);
    ck_assert_uint_eq(scoreboard_slots(board), 1);
    scoreboard_use(board, SLOTS);
    ck_assert_uint_eq(scoreboard_slots(board), SLOTS);
}
END_TEST

START_TEST(who_retires_does_so_until_its_end)
{
    read_own();
    ck_assert(!slot.is_retiring);
    scoreboard_retire(board, OWN);
    start_job();
    read_own();
    ck_assert(slot.is_retiring);
    scoreboard_enter(board, OWN, "worker 3", 3, 2, 2);
    read_own();
    ck_assert(!slot.is_retiring);
}
END_TEST

START_TEST(a_slot_is_empty_before_its_owner_enters_and_after_it_has_left)
{
    ck_assert_uint_eq(scoreboard_slots(board), SLOTS);
    ck_assert(!scoreboard_read(board, 0, &slot));
    ck_assert(!scoreboard_read(board, 2, &slot));
    read_own();
    scoreboard_leave(board, OWN);
    ck_assert(!scoreboard_read(board, OWN, &slot));
    scoreboard_leave(board, OWN);
    ck_assert(!scoreboard_read(board, OWN, &slot));
}
END_TEST

START_TEST(who_enters_is_shown_as_starting)
{
    expect_no_job();
    ck_assert_str_eq(slot.name, "worker 3");
    ck_assert_int_eq(slot.number, 3);
    ck_assert_uint_eq(slot.serial, 4000000000u);
    ck_assert_int_eq(slot.pid, 4711);
    ck_assert_int_eq(slot.state, SLOT_STARTING);
    ck_assert_int_gt(slot.since, 0);
    ck_assert_int_le(slot.since, clock_wall());
    ck_assert_int_eq(slot.jobs_done, 0);
}
END_TEST

START_TEST(the_time_of_a_state_is_that_of_its_beginning)
{
    scoreboard_set_state(board, OWN, SLOT_IDLE);
    read_own();
    const usec_t since = slot.since;
    ck_assert_int_eq(slot.state, SLOT_IDLE);

    while (clock_wall() == since) {
    }
    scoreboard_set_state(board, OWN, SLOT_IDLE);
    read_own();
    ck_assert_int_eq(slot.since, since);
    scoreboard_set_state(board, OWN, SLOT_WAITING);
    read_own();
    ck_assert_int_eq(slot.state, SLOT_WAITING);
    ck_assert_int_gt(slot.since, since);
}
END_TEST

START_TEST(a_running_job_is_shown_until_another_state_begins)
{
    start_job();
    scoreboard_set_progress(board, OWN, PLACE, 40, "resizing");
    scoreboard_add_output(board, OWN, PLACE, bytes_of("hello"));
    scoreboard_count(board, OWN, 12);
    read_own();
    ck_assert_int_eq(slot.state, SLOT_RUNNING);
    ck_assert_uint_eq(slot.hold.entry, 7);
    ck_assert_uint_eq(slot.hold.generation, 8);
    ck_assert_uint_eq(slot.job.bytes[2], 3);
    ck_assert_str_eq(slot.type, "email:send");
    ck_assert_int_eq(slot.progress_percent, 40);
    ck_assert_str_eq(slot.progress_text, "resizing");
    ck_assert_uint_eq(slot.jobs_running, 1);
    ck_assert_int_eq(slot.jobs_done, 12);
    read_job();
    ck_assert_uint_eq(job.output_total, 5);
    ck_assert_mem_eq(job.output, "hello", 5);

    scoreboard_end_job(board, OWN, PLACE);
    ck_assert(!scoreboard_read_job(board, OWN, PLACE, &job));
    scoreboard_set_state(board, OWN, SLOT_IDLE);
    expect_no_job();
    ck_assert_int_eq(slot.jobs_done, 12);
    ck_assert_str_eq(slot.name, "worker 3");
}
END_TEST

START_TEST(a_job_begins_without_the_progress_of_the_last_one)
{
    start_job();
    scoreboard_set_progress(board, OWN, PLACE, 40, "resizing");
    scoreboard_add_output(board, OWN, PLACE, bytes_of("hello"));
    start_job();
    read_own();
    ck_assert_int_eq(slot.progress_percent, -1);
    ck_assert_str_eq(slot.progress_text, "");
    read_job();
    ck_assert_uint_eq(job.output_length, 0);
    ck_assert_uint_eq(job.output_total, 0);
    scoreboard_set_progress(board, OWN, PLACE, 5, NULL);
    read_own();
    ck_assert_str_eq(slot.progress_text, "");
}
END_TEST

START_TEST(a_text_that_is_too_long_is_cut_between_two_characters)
{
    char text[SCOREBOARD_TEXT_SIZE * 2];

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 2 == 0 ? '\xc3' : '\xa4';
    text[sizeof text - 2] = '\0';
    start_job();
    scoreboard_set_progress(board, OWN, PLACE, 1, text);
    read_own();
    ck_assert_uint_eq(strlen(slot.progress_text), SCOREBOARD_TEXT_SIZE - 2);

    memset(text, 'x', SCOREBOARD_TEXT_SIZE);
    text[SCOREBOARD_TEXT_SIZE] = '\0';
    scoreboard_set_progress(board, OWN, PLACE, 1, text);
    read_own();
    ck_assert_uint_eq(strlen(slot.progress_text), SCOREBOARD_TEXT_SIZE - 1);
    scoreboard_enter(board, OWN, text, 0, 1, 1);
    read_own();
    ck_assert_uint_eq(strlen(slot.name), SCOREBOARD_NAME_SIZE - 1);
}
END_TEST

static const size_t pieces[] = {0, 1, 100, 1000, 4095, 4096, 4097, 10000};

START_TEST(the_last_of_the_output_is_kept_in_order)
{
    static unsigned char all[50000];
    size_t total = 0;

    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (unsigned char)(i % 251);
    start_job();
    while (total + pieces[_i] <= sizeof all && total < 20000) {
        scoreboard_add_output(board, OWN, PLACE, (struct bytes){all + total, pieces[_i]});
        total += pieces[_i];
        scoreboard_add_output(board, OWN, PLACE, (struct bytes){all + total, 7});
        total += 7;
        read_job();
        const size_t kept = total < SCOREBOARD_TAIL_SIZE ? total : SCOREBOARD_TAIL_SIZE;
        ck_assert_uint_eq(job.output_total, total);
        ck_assert_uint_eq(job.output_length, kept);
        ck_assert_mem_eq(job.output, all + total - kept, kept);
    }
    scoreboard_add_output(board, OWN, PLACE, (struct bytes){0});
    read_job();
    ck_assert_uint_eq(job.output_total, total);
}
END_TEST

static const struct {
    enum slot_state state;
    const char *name;
} states[] = {
    {SLOT_EMPTY, "empty"},     {SLOT_STARTING, "starting"}, {SLOT_IDLE, "idle"},
    {SLOT_RUNNING, "running"}, {SLOT_WAITING, "waiting"},   {SLOT_STOPPING, "stopping"},
};

START_TEST(a_worker_is_inside_a_plugin_from_its_mark_on_until_it_is_cleared)
{
    const struct plugin_mark mark = {5, {7, 8}, 9 * USEC_PER_SEC};

    ck_assert_uint_eq(scoreboard_plugin(board, OWN).plugin, 0);
    scoreboard_set_plugin(board, OWN, &mark);
    const struct plugin_mark seen = scoreboard_plugin(board, OWN);
    ck_assert_uint_eq(seen.plugin, mark.plugin);
    ck_assert(hold_equal(seen.hold, mark.hold));
    ck_assert_int_eq(seen.until, mark.until);
    scoreboard_clear_plugin(board, OWN);
    ck_assert_uint_eq(scoreboard_plugin(board, OWN).plugin, 0);
}
END_TEST

START_TEST(the_mark_of_a_dead_worker_is_not_the_next_ones)
{
    scoreboard_set_plugin(board, OWN, &(struct plugin_mark){.plugin = 5});
    scoreboard_leave(board, OWN);
    ck_assert_uint_eq(scoreboard_plugin(board, OWN).plugin, 0);
}
END_TEST

START_TEST(every_state_has_a_name)
{
    ck_assert_str_eq(slot_state_name(states[_i].state), states[_i].name);
}
END_TEST

START_TEST(a_board_without_slots_is_refused)
{
    struct scoreboard *none = NULL;

    ck_assert(!scoreboard_open(0, PLACES, &none, &err));
    ck_assert_int_eq(err.code, TH_E_INVALID);
    ck_assert(!scoreboard_open(SIZE_MAX, PLACES, &none, &err));
    ck_assert(!scoreboard_open(SLOTS, 0, &none, &err));
    ck_assert(!scoreboard_open(SLOTS, SIZE_MAX, &none, &err));
    ck_assert_ptr_null(none);
}
END_TEST

/* ---- a worker gone wrong ---- */

/* A text, as it lies in shared memory. */
static char *find_text(const char *text)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], rights[5];
    uintptr_t from, to;
    void *found = NULL;

    ck_assert_ptr_nonnull(maps);
    while (!found && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &from, &to, rights) == 3 &&
            strcmp(rights, "rw-s") == 0)
            found = memmem((void *)from, to - from, text, strlen(text));
    }
    fclose(maps);
    ck_assert_ptr_nonnull(found);
    return found;
}

START_TEST(what_is_read_is_safe_to_print_whatever_was_written)
{
    start_job();
    struct slot *raw = (void *)find_text("worker 3");
    struct slot_job *raw_job = (void *)(find_text("email:send") - offsetof(struct slot_job, type));

    memset(raw->name, 'x', sizeof raw->name);
    memset(raw_job->type, 'x', sizeof raw_job->type);
    memset(raw_job->progress_text, 'x', sizeof raw_job->progress_text);
    raw_job->output_length = SIZE_MAX;
    raw->place_extent = SIZE_MAX;
    read_own();
    ck_assert_uint_eq(strlen(slot.name), SCOREBOARD_NAME_SIZE - 1);
    ck_assert_uint_eq(strlen(slot.type), JOB_NAME_MAX);
    ck_assert_uint_eq(strlen(slot.progress_text), SCOREBOARD_TEXT_SIZE - 1);
    ck_assert_uint_eq(slot.place_extent, PLACES);
    read_job();
    ck_assert_uint_eq(job.output_length, SCOREBOARD_TAIL_SIZE);
    raw->shown = SIZE_MAX;
    read_own();
    ck_assert_str_eq(slot.type, "");
    raw->state = (enum slot_state)(SLOT_STOPPING + 1);
    ck_assert(!scoreboard_read(board, OWN, &slot));
    raw->state = (enum slot_state) - 1;
    ck_assert(!scoreboard_read(board, OWN, &slot));
}
END_TEST

/* ---- other processes ---- */

static pid_t fork_child(void)
{
    const pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    return pid;
}

static int wait_for(pid_t pid)
{
    int status;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return status;
}

START_TEST(what_one_process_writes_another_reads)
{
    const pid_t pid = fork_child();

    if (pid == 0) {
        scoreboard_enter(board, 2, "reaper", 0, 5, getpid());
        _exit(0);
    }
    ck_assert_int_eq(wait_for(pid), 0);
    ck_assert(scoreboard_read(board, 2, &slot));
    ck_assert_str_eq(slot.name, "reaper");
    ck_assert_int_eq(slot.pid, pid);
}
END_TEST

START_TEST(a_restricted_process_can_write_its_own_slot_and_read_the_others)
{
    const pid_t pid = fork_child();

    if (pid == 0) {
        const bool worked = scoreboard_restrict(board, 2, &err) &&
                            scoreboard_read(board, OWN, &slot) && !scoreboard_read(board, 0, &slot);

        scoreboard_enter(board, 2, "reaper", 0, 5, getpid());
        _exit(!worked);
    }
    ck_assert_int_eq(wait_for(pid), 0);
    ck_assert(scoreboard_read(board, 2, &slot));
}
END_TEST

START_TEST(a_restricted_process_that_writes_the_slot_of_another_ends)
{
    const pid_t pid = fork_child();

    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL); /* without a report of the sanitizer */
        if (scoreboard_restrict(board, 1, &err))
            scoreboard_enter(board, (size_t)_i, "reaper", 0, 5, getpid());
        _exit(0);
    }
    const int status = wait_for(pid);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), SIGSEGV);
}
END_TEST

/* Until it is killed: after each change all of the job and all of the output tell one number. */
static void write_forever(void)
{
    static unsigned char output[SCOREBOARD_TAIL_SIZE];

    for (uint32_t number = 0;; number++) {
        const struct hold hold = {number, number};
        struct uuid id;

        memset(&id, (int)number, sizeof id);
        scoreboard_show_jobs(board, OWN, 1, PLACE + 1, PLACE);
        scoreboard_set_job(board, OWN, PLACE, hold, &id, number % 2 == 0 ? "even" : "odd");
        memset(output, (int)number, sizeof output);
        scoreboard_add_output(board, OWN, PLACE, (struct bytes){output, sizeof output});
    }
}

static void expect_whole(void)
{
    const uint32_t number = job.hold.entry;

    ck_assert_uint_eq(job.hold.generation, number);
    for (size_t i = 0; i < sizeof job.job.bytes; i++)
        ck_assert_uint_eq(job.job.bytes[i], (unsigned char)number);
    ck_assert_str_eq(job.type, number % 2 == 0 ? "even" : "odd");
    for (size_t i = 0; i < job.output_length; i++) {
        if (job.output[i] != (unsigned char)number)
            ck_abort_msg("byte %zu of the output is of another job", i);
    }
}

static pid_t start_writer(void)
{
    const pid_t pid = fork_child();

    if (pid == 0)
        write_forever();
    return pid;
}

static void kill_writer(pid_t pid)
{
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(WTERMSIG(wait_for(pid)), SIGKILL);
}

static bool has_job(void)
{
    return scoreboard_read_job(board, OWN, PLACE, &job);
}

/* On a busy machine the writer may share our core: it gets on only if we let it. */
static void wait_for_job(void)
{
    while (!has_job())
        sched_yield();
}

START_TEST(a_reader_sees_whole_jobs_only)
{
    const pid_t pid = start_writer();

    for (int seen = 0; seen < 2000; seen++) {
        wait_for_job();
        expect_whole();
    }
    kill_writer(pid);
}
END_TEST

/* The number before it, which a killed owner leaves odd. */
static void leave_a_job_half_written(void)
{
    start_job();
    char *raw_job = find_text("email:send") - offsetof(struct slot_job, type);
    uint32_t *sequence = (void *)(raw_job - sizeof(usec_t));

    *sequence |= 1;
}

START_TEST(a_job_whose_owner_was_killed_at_writing_is_unreadable_until_the_next_one_begins)
{
    leave_a_job_half_written();
    ck_assert(!has_job());
    scoreboard_leave(board, OWN);
    ck_assert(!has_job());
    scoreboard_enter(board, OWN, "worker 3", 3, 2, 2);
    expect_no_job();
    ck_assert_uint_eq(slot.serial, 2);
    start_job();
    read_own();
    ck_assert_str_eq(slot.type, "email:send");
}
END_TEST

/* The number that a killed owner leaves odd. */
static void leave_a_slot_half_written(void)
{
    uint32_t *sequence = (void *)(find_text("worker 3") - sizeof(usec_t));

    *sequence |= 1;
    ck_assert(!scoreboard_read(board, OWN, &slot));
}

START_TEST(a_slot_whose_owner_was_killed_at_writing_is_unreadable_until_the_next_one_enters)
{
    leave_a_slot_half_written();
    scoreboard_enter(board, OWN, "worker 3", 3, 2, 2);
    expect_no_job();
    ck_assert_uint_eq(slot.serial, 2);
    scoreboard_set_state(board, OWN, SLOT_IDLE);
    read_own();
    ck_assert_int_eq(slot.state, SLOT_IDLE);
}
END_TEST

/* One of several, with none at the places before it. */
START_TEST(what_a_dead_worker_ran_is_not_the_next_ones)
{
    start_job();
    scoreboard_leave(board, OWN);
    scoreboard_enter(board, OWN, "worker 3", 3, 2, 2);
    scoreboard_show_jobs(board, OWN, 1, PLACES, 0);
    ck_assert(!scoreboard_read_job(board, OWN, 0, &job));
    ck_assert(!scoreboard_read_job(board, OWN, PLACE, &job));
}
END_TEST

START_TEST(the_job_that_is_shown_is_one_of_several)
{
    const struct uuid id = {{9}};

    start_job();
    scoreboard_show_jobs(board, OWN, 2, PLACES, PLACE);
    scoreboard_set_job(board, OWN, 0, (struct hold){3, 4}, &id, "younger");
    read_own();
    ck_assert_uint_eq(slot.jobs_running, 2);
    ck_assert_str_eq(slot.type, "email:send");
    const usec_t since = slot.since;

    scoreboard_end_job(board, OWN, PLACE);
    read_own();
    ck_assert_msg(slot.type[0] == '\0', "it has ended, and nobody else is shown yet");
    scoreboard_show_jobs(board, OWN, 1, 1, 0);
    read_own();
    ck_assert_str_eq(slot.type, "younger");
    ck_assert_int_eq(slot.since, since);
    ck_assert(scoreboard_read_job(board, OWN, 0, &job));
    ck_assert(hold_equal(job.hold, (struct hold){3, 4}));
}
END_TEST

START_TEST(a_slot_whose_owner_was_killed_at_writing_can_be_left)
{
    leave_a_slot_half_written();
    scoreboard_leave(board, OWN);
    ck_assert(!scoreboard_read(board, OWN, &slot));
    scoreboard_enter(board, OWN, "worker 3", 3, 2, 2);
    expect_no_job();
}
END_TEST

Suite *scoreboard_suite(void)
{
    Suite *suite = suite_create("process/scoreboard");
    TCase *writing = tcase_create("writing");
    TCase *sharing = tcase_create("sharing");

    tcase_add_checked_fixture(writing, setup, teardown);
    tcase_add_test(writing, slots_that_nobody_uses_are_not_counted);
    tcase_add_test(writing, who_retires_does_so_until_its_end);
    tcase_add_test(writing, a_slot_is_empty_before_its_owner_enters_and_after_it_has_left);
    tcase_add_test(writing, who_enters_is_shown_as_starting);
    tcase_add_test(writing, the_time_of_a_state_is_that_of_its_beginning);
    tcase_add_test(writing, a_running_job_is_shown_until_another_state_begins);
    tcase_add_test(writing, a_job_begins_without_the_progress_of_the_last_one);
    tcase_add_test(writing, a_text_that_is_too_long_is_cut_between_two_characters);
    tcase_add_loop_test(writing, the_last_of_the_output_is_kept_in_order, 0, COUNT_OF(pieces));
    tcase_add_loop_test(writing, every_state_has_a_name, 0, COUNT_OF(states));
    tcase_add_test(writing, a_worker_is_inside_a_plugin_from_its_mark_on_until_it_is_cleared);
    tcase_add_test(writing, the_mark_of_a_dead_worker_is_not_the_next_ones);
    tcase_add_test(writing, a_board_without_slots_is_refused);
    tcase_add_test(writing, what_is_read_is_safe_to_print_whatever_was_written);
    suite_add_tcase(suite, writing);

    tcase_add_checked_fixture(sharing, setup, teardown);
    tcase_set_timeout(sharing, 60);
    tcase_add_test(sharing, what_one_process_writes_another_reads);
    tcase_add_test(sharing, a_restricted_process_can_write_its_own_slot_and_read_the_others);
    tcase_add_loop_test(sharing, a_restricted_process_that_writes_the_slot_of_another_ends, 0, 1);
    tcase_add_loop_test(sharing, a_restricted_process_that_writes_the_slot_of_another_ends, 2, 3);
    tcase_add_test(writing, the_job_that_is_shown_is_one_of_several);
    tcase_add_test(writing, what_a_dead_worker_ran_is_not_the_next_ones);
    tcase_add_test(sharing, a_reader_sees_whole_jobs_only);
    tcase_add_test(sharing,
                   a_job_whose_owner_was_killed_at_writing_is_unreadable_until_the_next_one_begins);
    tcase_add_test(
        sharing, a_slot_whose_owner_was_killed_at_writing_is_unreadable_until_the_next_one_enters);
    tcase_add_test(sharing, a_slot_whose_owner_was_killed_at_writing_can_be_left);
    suite_add_tcase(suite, sharing);
    return suite;
}

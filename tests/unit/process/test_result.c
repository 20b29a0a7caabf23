/*
 * test_result.c - results: looked at, left behind by the dying, taken off, and forged.
 */
#include "base/arena.h"
#include "base/text.h"
#include "post.h"
#include "process/memory_file.h"
#include "suites.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define BYTES(text)                                                                                \
    {                                                                                              \
        (const unsigned char *)(text), sizeof(text) - 1                                            \
    }

static struct post post; /* near: the worker, far: the dispatcher */
static struct arena arena;
static struct result got;

static void setup(void)
{
    post = post_open();
    ck_assert(result_rewind(post.far, &post.err));
}

static void teardown(void)
{
    arena_done(&arena);
    post_close(&post);
}

static enum delivery look(void)
{
    return result_look(post.far, &arena, &got, &post.err);
}

static void leave(const struct result *result)
{
    ck_assert_msg(result_send(post.near, result, &post.err) == DELIVERY_DONE, "%s", post.err.text);
}

static void leave_number(uint32_t number)
{
    leave(&(struct result){.hold = {number, number}});
}

static void expect_number(uint32_t number)
{
    ck_assert_msg(look() == DELIVERY_DONE, "%s", post.err.text);
    ck_assert_uint_eq(got.hold.entry, number);
}

static const char same[] = "exit code 1";

static const struct {
    const char *rule;
    struct result result;
} results[] = {
    {"what is absent stays absent", {.could_not_start = false}},
    {"every field arrives",
     {
         .hold = {4095, 4000000000u},
         .outcome =
             {
                 .kind = OUTCOME_SNOOZED,
                 .error = "later",
                 .snooze_for = USEC_PER_DAY,
                 .result = BYTES("{\"pages\":3}"),
                 .output = BYTES("one\ntwo\0three"),
                 .run =
                     {
                         .execution = (int64_t)1 << 40,
                         .worker = 3,
                         .started_at = (usec_t)1 << 50,
                         .wall = 1,
                         .user = 2,
                         .system = 3,
                         .max_rss_kb = 123456,
                         .outcome = RUN_SNOOZED,
                         .exit_code = 75,
                         .signal = 9,
                         .error = "another one",
                     },
             },
         .could_not_start = true,
     }},
    {"what is empty stays empty",
     {
         .outcome = {.error = "",
                     .result = BYTES(""),
                     .output = BYTES(""),
                     .run = {.error = "x", .exit_code = JOB_NO_EXIT_CODE}},
     }},
    {"progress with a word",
     {.outcome = {.has_progress = true, .progress_percent = 40, .progress_text = "half"}}},
    {"and without", {.outcome = {.has_progress = true, .progress_percent = 0}}},
    {"an error is sent once", {.outcome = {.error = same, .run = {.error = same}}}},
    {"an error of the run alone", {.outcome = {.run = {.error = same}}}},
    {"an error of the outcome alone",
     {.outcome = {.kind = OUTCOME_UNSTARTABLE, .error = same, .run = {.outcome = RUN_STALLED}}}},
};

static void expect_bytes(struct bytes a, struct bytes b, const char *rule)
{
    ck_assert_msg(!a.data == !b.data && a.length == b.length, "%s", rule);
    ck_assert_msg(a.length == 0 || memcmp(a.data, b.data, a.length) == 0, "%s", rule);
}

static void expect_run(const struct job_run *a, const struct job_run *b, const char *rule)
{
    ck_assert_int_eq(a->execution, b->execution);
    ck_assert_ptr_null(a->pool);
    ck_assert_int_eq(a->worker, b->worker);
    ck_assert_int_eq(a->started_at, b->started_at);
    ck_assert_int_eq(a->wall, b->wall);
    ck_assert_int_eq(a->user, b->user);
    ck_assert_int_eq(a->system, b->system);
    ck_assert_int_eq(a->max_rss_kb, b->max_rss_kb);
    ck_assert_int_eq(a->outcome, b->outcome);
    ck_assert_int_eq(a->exit_code, b->exit_code);
    ck_assert_int_eq(a->signal, b->signal);
    ck_assert_msg(text_equal(a->error, b->error), "%s", rule);
}

static void expect_result(const struct result *a, const struct result *b, const char *rule)
{
    ck_assert_uint_eq(a->hold.entry, b->hold.entry);
    ck_assert_uint_eq(a->hold.generation, b->hold.generation);
    ck_assert_int_eq(a->outcome.kind, b->outcome.kind);
    ck_assert_msg(text_equal(a->outcome.error, b->outcome.error), "%s", rule);
    ck_assert_int_eq(a->outcome.snooze_for, b->outcome.snooze_for);
    expect_bytes(a->outcome.result, b->outcome.result, rule);
    expect_bytes(a->outcome.output, b->outcome.output, rule);
    ck_assert_msg(a->outcome.has_progress == b->outcome.has_progress, "%s", rule);
    ck_assert_int_eq(a->outcome.progress_percent, b->outcome.progress_percent);
    ck_assert_msg(text_equal(a->outcome.progress_text, b->outcome.progress_text), "%s", rule);
    expect_run(&a->outcome.run, &b->outcome.run, rule);
    ck_assert_int_eq(a->could_not_start, b->could_not_start);
}

START_TEST(a_result_arrives_as_it_was_sent)
{
    leave(&results[_i].result);
    ck_assert_msg(look() == DELIVERY_DONE, "%s: %s", results[_i].rule, post.err.text);
    expect_result(&got, &results[_i].result, results[_i].rule);
}
END_TEST

static char *text_of(size_t length, char letter)
{
    char *text = arena_alloc(&arena, length + 1);

    ck_assert_ptr_nonnull(text);
    memset(text, letter, length);
    return text;
}

START_TEST(four_of_the_largest_results_fit_the_socket)
{
    const struct bytes all = {(unsigned char *)text_of(JOB_RESULT_MAX, 'r'), JOB_RESULT_MAX};
    const struct result largest = {
        .outcome = {.error = text_of(6 * 1024, 'e'),
                    .result = all,
                    .output = {all.data, 4096},
                    .run = {.error = text_of(6 * 1024, 'f')}},
    };

    for (int i = 0; i < 4; i++)
        leave(&largest);
    while (result_send(post.near, &largest, &post.err) == DELIVERY_DONE) {
    }
    ck_assert_int_eq(result_send(post.near, &largest, &post.err), DELIVERY_NONE);
    for (int i = 0; i < 4; i++) {
        ck_assert_msg(look() == DELIVERY_DONE, "%s", post.err.text);
        expect_result(&got, &largest, "the largest");
    }
    ck_assert(result_take(post.far, 4, &post.err));
    leave(&largest);
}
END_TEST

/* Looked at twice: by the dispatcher that dies, and by the next one. */
START_TEST(a_mebibyte_of_output_arrives_and_stays_until_it_is_taken_off)
{
    const struct bytes output = {(unsigned char *)text_of(JOB_OUTPUT_MAX, 'o'), JOB_OUTPUT_MAX};
    const struct result result = {.hold = {7, 7}, .outcome.output = output};

    leave(&result);
    leave_number(8);
    for (int i = 0; i < 2; i++) {
        ck_assert_msg(look() == DELIVERY_DONE, "%s", post.err.text);
        expect_result(&got, &result, "a mebibyte");
        ck_assert(result_rewind(post.far, &post.err));
    }
    expect_number(7);
    ck_assert(result_take(post.far, 1, &post.err));
    expect_number(8);
}
END_TEST

START_TEST(more_output_than_any_job_may_leave_is_refused)
{
    const size_t length = JOB_OUTPUT_MAX + 1;
    const struct result result = {
        .outcome.output = {(unsigned char *)text_of(length, 'o'), length}};

    leave(&result);
    leave_number(8);
    ck_assert_int_eq(look(), DELIVERY_FAILED);
    ck_assert_str_eq(post.err.text, "a result with 1048577 bytes of output");
    expect_number(8);
}
END_TEST

/* It is all that the dispatcher has of whether reading it ends. */
START_TEST(a_file_that_is_not_sealed_is_refused)
{
    const int fd = memfd_create("output", MFD_CLOEXEC);
    struct arena other = {0};
    struct bytes text;

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, "text", 4), 4);
    ck_assert(!memory_file_read("output", fd, 4, &other, &text, &post.err));
    ck_assert_str_eq(post.err.text, "output: its file is not a sealed one in memory");
    close(fd);
    arena_done(&other);
}
END_TEST

START_TEST(where_no_file_can_be_had_the_end_of_the_output_arrives)
{
    char *text = text_of(JOB_OUTPUT_MAX, 'o');
    const struct result result = {.hold = {7, 7},
                                  .outcome.output = {(unsigned char *)text, JOB_OUTPUT_MAX}};
    struct rlimit before;

    text[JOB_OUTPUT_MAX - 1] = '!';
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, before.rlim_max}), 0);
    leave(&result);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    expect_number(7);
    ck_assert_uint_eq(got.outcome.output.length, MEMORY_FILE_FROM);
    ck_assert_int_eq(got.outcome.output.data[MEMORY_FILE_FROM - 1], '!');
}
END_TEST

START_TEST(a_result_that_is_too_large_is_not_sent)
{
    const struct result result = {
        .outcome.result = {(unsigned char *)text_of(POST_MAX + 1, 'r'), POST_MAX + 1}};

    ck_assert_int_eq(result_send(post.near, &result, &post.err), DELIVERY_FAILED);
    ck_assert_int_eq(post.err.code, TH_E_INTERNAL);
    ck_assert_int_eq(look(), DELIVERY_NONE);
}
END_TEST

/* ---- looking and taking ---- */

START_TEST(looking_goes_from_the_oldest_to_the_newest_once)
{
    for (uint32_t i = 1; i <= 3; i++)
        leave_number(i);
    for (uint32_t i = 1; i <= 3; i++)
        expect_number(i);
    ck_assert_int_eq(look(), DELIVERY_NONE);
    leave_number(4);
    expect_number(4);
    ck_assert_int_eq(look(), DELIVERY_NONE);
}
END_TEST

START_TEST(taking_off_leaves_what_was_not_looked_at)
{
    for (uint32_t i = 1; i <= 5; i++)
        leave_number(i);
    for (uint32_t i = 1; i <= 3; i++)
        expect_number(i);
    ck_assert(result_take(post.far, 2, &post.err));
    expect_number(4);
    leave_number(6);
    ck_assert(result_take(post.far, 2, &post.err));
    expect_number(5);
    expect_number(6);
    ck_assert_int_eq(look(), DELIVERY_NONE);
    ck_assert(result_take(post.far, 2, &post.err));
    ck_assert_int_eq(look(), DELIVERY_NONE);
}
END_TEST

START_TEST(rewinding_shows_all_that_was_not_taken_off)
{
    for (uint32_t i = 1; i <= 3; i++)
        leave_number(i);
    for (uint32_t i = 1; i <= 3; i++)
        expect_number(i);
    ck_assert(result_take(post.far, 1, &post.err));
    ck_assert(result_rewind(post.far, &post.err));
    expect_number(2);
    expect_number(3);
    ck_assert_int_eq(look(), DELIVERY_NONE);
}
END_TEST

START_TEST(taking_off_more_than_there_is_fails)
{
    leave_number(1);
    ck_assert(result_take(post.far, 0, &post.err));
    ck_assert(!result_take(post.far, 2, &post.err));
    ck_assert_int_eq(post.err.code, TH_E_INTERNAL);
    close(post.near);
    post.near = -1;
    ck_assert(!result_take(post.far, 1, &post.err));
    ck_assert_int_eq(post.err.code, TH_E_INTERNAL);
}
END_TEST

START_TEST(a_result_survives_the_death_of_the_one_who_looked_at_it)
{
    leave_number(1);
    leave_number(2);
    leave_number(3);
    const pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        const bool worked = look() == DELIVERY_DONE && result_take(post.far, 1, &post.err) &&
                            look() == DELIVERY_DONE && look() == DELIVERY_DONE;

        _exit(!worked);
    }
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(look(), DELIVERY_NONE);
    ck_assert(result_rewind(post.far, &post.err));
    expect_number(2);
    expect_number(3);
    ck_assert_int_eq(look(), DELIVERY_NONE);
}
END_TEST

START_TEST(the_results_of_a_dead_worker_come_before_its_end)
{
    const struct halt halt = {{1, 1}, STOP_CANCEL};

    ck_assert_int_eq(halt_send(post.far, &halt, &post.err), DELIVERY_DONE); /* never read */
    leave_number(1);
    leave_number(2);
    close(post.near);
    post.near = -1;
    expect_number(1);
    ck_assert(result_take(post.far, 1, &post.err));
    expect_number(2);
    ck_assert_int_eq(look(), DELIVERY_CLOSED);
    ck_assert(result_take(post.far, 1, &post.err));
    ck_assert_int_eq(look(), DELIVERY_CLOSED);
}
END_TEST

START_TEST(taking_off_works_when_the_worker_has_just_died)
{
    const struct halt halt = {{1, 1}, STOP_CANCEL};

    leave_number(1);
    leave_number(2);
    expect_number(1);
    ck_assert_int_eq(halt_send(post.far, &halt, &post.err), DELIVERY_DONE); /* never read */
    close(post.near);
    post.near = -1;
    ck_assert(result_take(post.far, 1, &post.err));
    expect_number(2);
    ck_assert_int_eq(halt_send(post.far, &halt, &post.err), DELIVERY_CLOSED);
    ck_assert_int_eq(look(), DELIVERY_CLOSED);
}
END_TEST

/* ---- what is refused ---- */

static struct datagram datagram;

static void expect_refusal(const char *what)
{
    const enum delivery delivery = look();

    ck_assert_msg(delivery == DELIVERY_FAILED, "%s: delivery %d", what, delivery);
    ck_assert_int_eq(post.err.code, TH_E_INTERNAL);
}

static void catch_datagram(const struct result *result)
{
    leave(result);
    post_take_raw(post.far, &datagram);
}

/* It is looked at and taken off like any other, and the one after it is whole. */
static void expect_only_the_first_to_be_refused(const char *what)
{
    leave_number(1);
    expect_refusal(what);
    expect_number(1);
    ck_assert(result_take(post.far, 1, &post.err));
    ck_assert_int_eq(look(), DELIVERY_NONE);
    ck_assert(result_take(post.far, 1, &post.err));
    leave_number(2);
    expect_number(2);
    ck_assert(result_take(post.far, 1, &post.err));
}

START_TEST(a_result_of_another_length_is_refused)
{
    catch_datagram(&results[1].result);
    for (size_t length = 1; length <= datagram.length + 1; length++) {
        if (length == datagram.length)
            continue;
        post_send_raw(post.near, datagram.bytes, length);
        expect_only_the_first_to_be_refused("length");
    }
}
END_TEST

START_TEST(a_message_longer_than_any_result_hides_none)
{
    static unsigned char bytes[200 * 1024];

    post_send_raw(post.near, bytes, sizeof bytes);
    expect_only_the_first_to_be_refused("too long");
}
END_TEST

START_TEST(a_result_with_descriptors_is_refused_and_they_are_closed)
{
    const int before = post_count_files();

    catch_datagram(&results[1].result);
    post_send_files(post.near, &datagram, 3);
    expect_only_the_first_to_be_refused("descriptors");
    ck_assert_int_eq(post_count_files(), before);
}
END_TEST

static const struct {
    const char *rule;
    struct outcome outcome;
} unknown[] = {
    {"an outcome beyond the last", {.kind = OUTCOME_UNSTARTABLE + 1}},
    {"a negative outcome", {.kind = (enum outcome_kind) - 1}},
    {"a run's outcome beyond the last", {.run.outcome = RUN_STALLED + 1}},
};

START_TEST(an_outcome_that_we_do_not_know_is_refused)
{
    leave(&(struct result){.outcome = unknown[_i].outcome});
    expect_only_the_first_to_be_refused(unknown[_i].rule);
}
END_TEST

START_TEST(a_result_with_any_byte_changed_does_no_harm)
{
    catch_datagram(&results[1].result);
    for (size_t i = 0; i < datagram.length; i++) {
        datagram.bytes[i] ^= 0xff;
        post_send_raw(post.near, datagram.bytes, datagram.length);
        datagram.bytes[i] ^= 0xff;
        const enum delivery delivery = look();
        ck_assert(delivery == DELIVERY_DONE || delivery == DELIVERY_FAILED);
        ck_assert(result_take(post.far, 1, &post.err));
    }
    ck_assert_int_eq(look(), DELIVERY_NONE);
}
END_TEST

Suite *result_suite(void)
{
    Suite *suite = suite_create("process/result");
    TCase *passing = tcase_create("passing");
    TCase *looking = tcase_create("looking");
    TCase *refusing = tcase_create("refusing");

    tcase_add_checked_fixture(passing, setup, teardown);
    tcase_add_loop_test(passing, a_result_arrives_as_it_was_sent, 0, COUNT_OF(results));
    tcase_add_test(passing, four_of_the_largest_results_fit_the_socket);
    tcase_add_test(passing, a_mebibyte_of_output_arrives_and_stays_until_it_is_taken_off);
    tcase_add_test(passing, more_output_than_any_job_may_leave_is_refused);
    tcase_add_test(passing, a_file_that_is_not_sealed_is_refused);
    tcase_add_test(passing, where_no_file_can_be_had_the_end_of_the_output_arrives);
    tcase_add_test(passing, a_result_that_is_too_large_is_not_sent);
    suite_add_tcase(suite, passing);

    tcase_add_checked_fixture(looking, setup, teardown);
    tcase_add_test(looking, looking_goes_from_the_oldest_to_the_newest_once);
    tcase_add_test(looking, taking_off_leaves_what_was_not_looked_at);
    tcase_add_test(looking, rewinding_shows_all_that_was_not_taken_off);
    tcase_add_test(looking, taking_off_more_than_there_is_fails);
    tcase_add_test(looking, a_result_survives_the_death_of_the_one_who_looked_at_it);
    tcase_add_test(looking, the_results_of_a_dead_worker_come_before_its_end);
    tcase_add_test(looking, taking_off_works_when_the_worker_has_just_died);
    suite_add_tcase(suite, looking);

    tcase_add_checked_fixture(refusing, setup, teardown);
    tcase_add_test(refusing, a_result_of_another_length_is_refused);
    tcase_add_test(refusing, a_message_longer_than_any_result_hides_none);
    tcase_add_test(refusing, a_result_with_descriptors_is_refused_and_they_are_closed);
    tcase_add_loop_test(refusing, an_outcome_that_we_do_not_know_is_refused, 0, COUNT_OF(unknown));
    tcase_add_test(refusing, a_result_with_any_byte_changed_does_no_harm);
    suite_add_tcase(suite, refusing);
    return suite;
}

#include "base/error.h"
#include "config/config.h"
#include "dispatcher/held_jobs.h"
#include "suites.h"

#include <check.h>
#include <signal.h>
#include <string.h>

/* ---- states ---- */

static const struct {
    enum held_state from, to;
} changes[] = {
    {HELD_RESERVED, HELD_BEHIND},   {HELD_RESERVED, HELD_UNSENT},    {HELD_RESERVED, HELD_IN_RING},
    {HELD_RESERVED, HELD_SENT},     {HELD_RESERVED, HELD_CONCLUDED}, {HELD_BEHIND, HELD_UNSENT},
    {HELD_BEHIND, HELD_IN_RING},    {HELD_BEHIND, HELD_SENT},        {HELD_BEHIND, HELD_CONCLUDED},
    {HELD_UNSENT, HELD_IN_RING},    {HELD_UNSENT, HELD_SENT},        {HELD_UNSENT, HELD_CONCLUDED},
    {HELD_IN_RING, HELD_CONCLUDED}, {HELD_SENT, HELD_CONCLUDED},     {HELD_CONCLUDED, HELD_KEPT},
};

#define HELD_PAIRS (HELD_STATES * HELD_STATES)

static bool is_legal(enum held_state from, enum held_state to)
{
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        if (changes[i].from == from && changes[i].to == to)
            return true;
    }
    return false;
}

START_TEST(only_the_changes_of_the_drawing_are_legal)
{
    const enum held_state from = (enum held_state)(_i / HELD_STATES);
    const enum held_state to = (enum held_state)(_i % HELD_STATES);

    ck_assert_msg(held_state_may_change(from, to) == is_legal(from, to), "from %d to %d", from, to);
    if (!is_legal(from, to))
        return;
    struct held_job held = {.state = from};
    held_job_move(&held, to);
    ck_assert_int_eq(held.state, to);
}
END_TEST

/* The others by their number. */
static void find_illegal(int number, enum held_state *from_out, enum held_state *to_out)
{
    for (int pair = 0; pair < HELD_PAIRS; pair++) {
        *from_out = (enum held_state)(pair / HELD_STATES);
        *to_out = (enum held_state)(pair % HELD_STATES);
        if (!is_legal(*from_out, *to_out) && number-- == 0)
            return;
    }
    ck_abort_msg("there are no more");
}

START_TEST(any_other_change_ends_the_process)
{
    enum held_state from, to;

    find_illegal(_i, &from, &to);
    struct held_job held = {.state = from};
    held_job_move(&held, to);
}
END_TEST

START_TEST(a_job_is_concluded_once_its_settlement_is_in_the_outbox)
{
    const struct held_job held = {.state = (enum held_state)_i};

    ck_assert(held_job_is_concluded(&held) == (_i == HELD_CONCLUDED || _i == HELD_KEPT));
}
END_TEST

/* ---- the table ---- */

static struct held_jobs jobs;
static const struct config config = {0};

static void set_up(void)
{
    struct error err;

    ck_assert(held_jobs_init(&jobs, 4, &err));
}

static void tear_down(void)
{
    held_jobs_done(&jobs);
}

static struct held_job *put(uint32_t entry, uint32_t generation)
{
    const struct job job = {.type = "a.type", .queue = "a.queue"};
    struct held_job *held = held_job_new(&jobs, &config, &job);

    ck_assert_ptr_nonnull(held);
    ck_assert(!held_job_has_hold(held));
    held_jobs_put(&jobs, held, (struct hold){entry, generation});
    return held;
}

START_TEST(a_job_is_found_by_its_hold_as_long_as_it_has_it)
{
    struct held_job *held = put(2, 7);

    ck_assert(held_job_has_hold(held));
    ck_assert_ptr_eq(held_jobs_find(&jobs, (struct hold){2, 7}), held);
    ck_assert_ptr_null(held_jobs_find(&jobs, (struct hold){2, 8}));
    ck_assert_ptr_null(held_jobs_find(&jobs, (struct hold){9, 7}));
    held_jobs_remove(&jobs, held);
    ck_assert(!held_job_has_hold(held));
    ck_assert_ptr_null(held_jobs_find(&jobs, (struct hold){2, 7}));
    held_job_free(held);
}
END_TEST

START_TEST(a_held_job_has_its_own_copy_of_names)
{
    const struct held_job *held = put(0, 1);

    ck_assert_str_eq(held->job.type, "a.type");
    ck_assert_str_eq(held->job.queue, "a.queue");
    ck_assert_int_eq(held->state, HELD_RESERVED);
}
END_TEST

static const struct handler_config *handler_for(const struct config *with, const char *type)
{
    const struct job job = {.type = type, .queue = "a.queue"};
    struct held_job *held = held_job_new(&jobs, with, &job);

    ck_assert_ptr_nonnull(held);
    const struct handler_config *handler = held->handler;

    held_jobs_give_back(&jobs, held);
    return handler;
}

/* Its handler may have failed long before. */
START_TEST(a_job_that_cannot_be_started_waits_from_when_it_was_due)
{
    const struct job job = {.type = "a.type", .queue = "a.queue", .due = 17};
    struct held_job *held = held_job_new(&jobs, &config, &job);

    ck_assert_int_eq(held->job.due, 17);
    held_jobs_give_back(&jobs, held);
}
END_TEST

START_TEST(a_job_has_the_handler_of_its_type_whatever_came_before_it)
{
    struct handler_config handlers[] = {{.pattern = "mail"}, {.pattern = "mail.*"}};
    const struct config with = {.handlers = handlers, .handler_count = COUNT_OF(handlers)};
    char long_type[2 * JOB_NAME_MAX] = "mail.";

    memset(long_type + 5, 'x', sizeof long_type - 6);
    for (int round = 0; round < 2; round++) {
        ck_assert_ptr_eq(handler_for(&with, "mail"), &handlers[0]);
        ck_assert_ptr_eq(handler_for(&with, "mail"), &handlers[0]);
        ck_assert_ptr_eq(handler_for(&with, "mail.sent"), &handlers[1]);
        ck_assert_ptr_eq(handler_for(&with, long_type), &handlers[1]);
        ck_assert_ptr_null(handler_for(&with, "post"));
        ck_assert_ptr_null(handler_for(&with, "post"));
        ck_assert_ptr_null(handler_for(&with, ""));
    }
}
END_TEST

START_TEST(a_name_that_is_too_long_is_kept_as_it_is)
{
    char name[2 * JOB_NAME_MAX];

    memset(name, 'a', sizeof name);
    name[sizeof name - 1] = '\0';
    const struct job job = {.type = name, .queue = name};
    struct held_job *held = held_job_new(&jobs, &config, &job);

    ck_assert_ptr_nonnull(held);
    ck_assert_str_eq(held->job.type, name);
    ck_assert_str_eq(held->job.queue, name);
    held_jobs_give_back(&jobs, held);
}
END_TEST

START_TEST(all_are_gone_through_in_the_order_of_their_entries)
{
    struct held_job *last = put(3, 1), *first = put(0, 1);
    size_t position = 0;

    ck_assert_ptr_eq(held_jobs_next(&jobs, &position), first);
    ck_assert_ptr_eq(held_jobs_next(&jobs, &position), last);
    ck_assert_ptr_null(held_jobs_next(&jobs, &position));
}
END_TEST

START_TEST(what_is_given_back_is_used_again_and_blank)
{
    struct held_job *held = put(1, 1);

    held_jobs_remove(&jobs, held);
    held->is_probe = true;
    held_job_move(held, HELD_CONCLUDED);
    held_jobs_give_back(&jobs, held);
    ck_assert_ptr_eq(put(2, 1), held);
    ck_assert(!held->is_probe);
    ck_assert_int_eq(held->state, HELD_RESERVED);
}
END_TEST

START_TEST(what_is_given_back_need_not_be_kept)
{
    struct held_job *kept = put(0, 1), *held = put(1, 1);

    held_jobs_remove(&jobs, held);
    held_jobs_give_back(&jobs, held);
    held_jobs_trim(&jobs);
    ck_assert_ptr_null(jobs.spare);
    ck_assert_ptr_eq(held_jobs_find(&jobs, (struct hold){0, 1}), kept);
    put(2, 1);
}
END_TEST

START_TEST(those_that_wait_for_a_worker_are_counted)
{
    const struct held_lease lease = {0};
    struct lease_table *leases;
    struct hold holds[3];
    struct error err;

    ck_assert(lease_table_open(4, &leases, &err));
    for (size_t i = 0; i < COUNT_OF(holds); i++) {
        ck_assert(lease_table_hand(leases, &lease, USEC_PER_SEC, &holds[i]));
        put(holds[i].entry, holds[i].generation);
    }
    ck_assert(held_jobs_have_waiting(&jobs, leases, 3));
    ck_assert(!held_jobs_have_waiting(&jobs, leases, 4));
    ck_assert(lease_table_start(leases, holds[1], 7));
    ck_assert(held_jobs_have_waiting(&jobs, leases, 2));
    ck_assert(!held_jobs_have_waiting(&jobs, leases, 3));
    const struct held_jobs_census census = held_jobs_count(&jobs, leases);
    ck_assert_uint_eq(census.waiting, 2);
    ck_assert_uint_eq(census.running, 1);
    lease_table_close(&leases);
}
END_TEST

Suite *held_jobs_suite(void)
{
    Suite *suite = suite_create("dispatcher/held_jobs");
    TCase *states = tcase_create("states");
    TCase *table = tcase_create("table");

    tcase_add_loop_test(states, only_the_changes_of_the_drawing_are_legal, 0, HELD_PAIRS);
    tcase_add_loop_test_raise_signal(states, any_other_change_ends_the_process, SIGABRT, 0,
                                     HELD_PAIRS - (int)COUNT_OF(changes));
    tcase_add_loop_test(states, a_job_is_concluded_once_its_settlement_is_in_the_outbox, 0,
                        HELD_STATES);
    suite_add_tcase(suite, states);

    tcase_add_checked_fixture(table, set_up, tear_down);
    tcase_add_test(table, a_job_is_found_by_its_hold_as_long_as_it_has_it);
    tcase_add_test(table, a_held_job_has_its_own_copy_of_names);
    tcase_add_test(table, a_job_that_cannot_be_started_waits_from_when_it_was_due);
    tcase_add_test(table, a_job_has_the_handler_of_its_type_whatever_came_before_it);
    tcase_add_test(table, a_name_that_is_too_long_is_kept_as_it_is);
    tcase_add_test(table, all_are_gone_through_in_the_order_of_their_entries);
    tcase_add_test(table, what_is_given_back_is_used_again_and_blank);
    tcase_add_test(table, what_is_given_back_need_not_be_kept);
    tcase_add_test(table, those_that_wait_for_a_worker_are_counted);
    suite_add_tcase(suite, table);
    return suite;
}

/*
 * test_rack.c - tasks that wait: their order, those that somebody has, large ones, real races, and
 * what a worker can reach.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "process/lease_table.h"
#include "process/rack.h"
#include "suites.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CAPACITY 8
#define WORKER   ((uint32_t)3)
#define LONG     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct lease_table *leases;
static struct rack *rack;
static struct arena arena;
static struct error err;

static void setup(void)
{
    ck_assert_msg(lease_table_open(CAPACITY, &leases, &err), "%s", err.text);
    ck_assert_msg(rack_open(CAPACITY, &rack, &err), "%s", err.text);
}

static void teardown(void)
{
    arena_done(&arena);
    rack_close(&rack);
    rack_close(&rack);
    lease_table_close(&leases);
}

static struct hold hand(void)
{
    const struct held_lease lease = {.ref = 1};
    struct hold hold;

    ck_assert(lease_table_hand(leases, &lease, clock_boot() + USEC_PER_HOUR, &hold));
    return hold;
}

static struct hold put(const char *payload)
{
    const struct task task = {
        .hold = hand(),
        .type = "some:type",
        .queue = "default",
        .payload = {(const unsigned char *)payload, strlen(payload)},
    };

    ck_assert(rack_put(rack, &task));
    return task.hold;
}

/* The next one that nobody had, claimed and read. */
static const char *take(struct rack *from, uint32_t worker)
{
    struct rack_head head;
    struct task task;

    if (!rack_look(from, leases, &head))
        return "nothing";
    rack_pass(from);
    if (head.is_in_socket)
        return "in the socket";
    ck_assert(lease_table_start(leases, head.hold, worker));
    ck_assert_msg(rack_read(from, head.hold, &arena, &task, &err), "%s", err.text);
    ck_assert(hold_equal(task.hold, head.hold));
    return (const char *)task.payload.data;
}

START_TEST(tasks_are_taken_in_the_order_in_which_they_were_put)
{
    put("one");
    put("two");
    ck_assert(rack_has_more(rack));
    ck_assert_str_eq(take(rack, WORKER), "one");
    ck_assert_str_eq(take(rack, WORKER), "two");
    ck_assert_str_eq(take(rack, WORKER), "nothing");
    ck_assert(!rack_has_more(rack));
}
END_TEST

START_TEST(what_somebody_has_started_or_taken_back_is_passed_over)
{
    const struct hold started = put("started"), revoked = put("revoked"), freed = put("freed");

    ck_assert(lease_table_start(leases, started, WORKER + 1));
    ck_assert(lease_table_revoke(leases, revoked));
    lease_table_free(leases, freed);
    put("waiting");
    ck_assert_str_eq(take(rack, WORKER), "waiting");
}
END_TEST

START_TEST(an_entry_that_was_used_again_is_shown_with_its_new_task)
{
    lease_table_free(leases, put("old"));
    const struct hold hold = put("new"); /* the same entry */

    ck_assert_uint_eq(hold.entry, 0);
    ck_assert_str_eq(take(rack, WORKER), "new");
    ck_assert_str_eq(take(rack, WORKER), "nothing");
}
END_TEST

START_TEST(a_worker_that_was_busy_for_long_finds_what_waits_now)
{
    for (int i = 0; i < 5 * CAPACITY; i++)
        lease_table_free(leases, put("gone"));
    put("waiting");
    ck_assert_str_eq(take(rack, WORKER), "waiting");
    ck_assert_str_eq(take(rack, WORKER), "nothing");
}
END_TEST

START_TEST(a_task_that_is_too_large_is_refused_and_keeps_its_turn_by_a_note)
{
    char payload[2048];
    struct task task = {.hold = hand(), .type = "t", .queue = "q"};
    struct rack_head head;

    memset(payload, 'x', sizeof payload);
    task.payload = (struct bytes){(const unsigned char *)payload, sizeof payload};
    ck_assert(!rack_put(rack, &task));
    ck_assert(!rack_has_more(rack));
    task.handler = 7;
    rack_note(rack, &task);
    put("next");
    ck_assert(rack_look(rack, leases, &head));
    ck_assert_uint_eq(head.handler, 7);
    ck_assert_str_eq(take(rack, WORKER), "in the socket");
    ck_assert_str_eq(take(rack, WORKER), "next");
}
END_TEST

START_TEST(a_task_is_shown_until_it_is_passed_or_somebody_has_it)
{
    const struct task task = {.hold = hand(), .type = "t", .queue = "q", .handler = 3};
    struct rack_head head;

    ck_assert(rack_put(rack, &task));
    const struct hold next = put("next");
    for (int i = 0; i < 2; i++) {
        ck_assert(rack_look(rack, leases, &head));
        ck_assert(hold_equal(head.hold, task.hold));
        ck_assert_uint_eq(head.handler, 3);
        ck_assert(rack_has_more(rack));
    }
    ck_assert(lease_table_start(leases, task.hold, WORKER));
    ck_assert(rack_look(rack, leases, &head));
    ck_assert(hold_equal(head.hold, next));
    ck_assert_uint_eq(head.handler, 0);
    rack_pass(rack);
    ck_assert(!rack_look(rack, leases, &head));
}
END_TEST

START_TEST(one_count_of_the_bell_is_for_one_sleeper)
{
    struct pollfd bell = {.fd = rack_bell(rack), .events = POLLIN};

    ck_assert(rack_ring(rack, 0, &err));
    ck_assert_int_eq(poll(&bell, 1, 0), 0);
    ck_assert(rack_ring(rack, 2, &err));
    rack_hear(rack);
    ck_assert_int_eq(poll(&bell, 1, 0), 1);
    rack_hear(rack);
    ck_assert_int_eq(poll(&bell, 1, 0), 0);
    rack_hear(rack); /* by somebody who was woken for nothing */
}
END_TEST

START_TEST(a_worker_cannot_write_to_it)
{
    signal(SIGSEGV, SIG_DFL); /* the sanitizer would tell a story */
    ck_assert_msg(rack_restrict(rack, &err), "%s", err.text);
    put("a worker that hands out tasks dies here");
}
END_TEST

/* ---- real processes ---- */

#define RACERS 4
#define TASKS  20000

struct count {
    _Atomic int taken[TASKS];
};

static void eat(struct count *count, uint32_t worker)
{
    for (;;) {
        struct rack_head head;
        struct task task;

        if (!rack_look(rack, leases, &head) || !lease_table_start(leases, head.hold, worker)) {
            sched_yield(); /* on a busy machine the others have to get on */
            continue;
        }
        rack_pass(rack);
        ck_assert(rack_read(rack, head.hold, &arena, &task, &err));
        if (task.execution == TASKS)
            _exit(0);
        atomic_fetch_add(&count->taken[task.execution], 1);
        arena_done(&arena);
        arena = (struct arena){0};
        lease_table_finish(leases, head.hold, worker);
    }
}

/* Frees what was finished, so that entries are used again while others look at them. */
static struct hold hand_soon(void)
{
    const struct held_lease lease = {.ref = 1};
    struct hold_view view;
    struct hold hold;

    while (!lease_table_hand(leases, &lease, clock_boot() + USEC_PER_HOUR, &hold)) {
        for (size_t i = 0; lease_table_next(leases, &i, &view);) {
            if (view.state == HOLD_FINISHED)
                lease_table_free(leases, view.hold);
        }
        sched_yield();
    }
    return hold;
}

START_TEST(each_task_is_taken_once_by_one_of_many)
{
    struct count *count =
        mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    ck_assert(count != MAP_FAILED);
    for (uint32_t i = 1; i <= RACERS; i++) {
        if (fork() == 0)
            eat(count, i);
    }
    for (int i = 0; i < TASKS + RACERS; i++) {
        const struct task task = {
            .hold = hand_soon(),
            .type = "t",
            .queue = "q",
            .execution = i < TASKS ? i : TASKS,
            .payload = {(const unsigned char *)LONG, (size_t)i % sizeof LONG}};

        ck_assert(rack_put(rack, &task));
    }
    for (int i = 0; i < RACERS; i++) {
        int status;

        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
    for (int i = 0; i < TASKS; i++)
        ck_assert_msg(count->taken[i] == 1, "task %d was taken %d times", i, count->taken[i]);
    munmap(count, sizeof *count);
}
END_TEST

Suite *rack_suite(void)
{
    Suite *suite = suite_create("process/rack");
    TCase *order = tcase_create("order");
    TCase *others = tcase_create("others");

    tcase_add_checked_fixture(order, setup, teardown);
    tcase_add_test(order, tasks_are_taken_in_the_order_in_which_they_were_put);
    tcase_add_test(order, what_somebody_has_started_or_taken_back_is_passed_over);
    tcase_add_test(order, an_entry_that_was_used_again_is_shown_with_its_new_task);
    tcase_add_test(order, a_worker_that_was_busy_for_long_finds_what_waits_now);
    tcase_add_test(order, a_task_that_is_too_large_is_refused_and_keeps_its_turn_by_a_note);
    suite_add_tcase(suite, order);

    tcase_add_checked_fixture(others, setup, teardown);
    tcase_add_test(others, a_task_is_shown_until_it_is_passed_or_somebody_has_it);
    tcase_add_test(others, one_count_of_the_bell_is_for_one_sleeper);
    tcase_add_test_raise_signal(others, a_worker_cannot_write_to_it, SIGSEGV);
    tcase_add_test(others, each_task_is_taken_once_by_one_of_many);
    suite_add_tcase(suite, others);
    return suite;
}

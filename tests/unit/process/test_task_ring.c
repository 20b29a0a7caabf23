/*
 * test_task_ring.c - tasks that wait: their order, those that somebody has, large ones, real races,
 * and what a worker can reach.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "process/lease_table.h"
#include "process/task_ring.h"
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
static struct task_ring *ring;
static struct arena arena;
static struct error err;

static void setup(void)
{
    ck_assert_msg(lease_table_open(CAPACITY, &leases, &err), "%s", err.text);
    ck_assert_msg(task_ring_open(CAPACITY, &ring, &err), "%s", err.text);
}

static void teardown(void)
{
    arena_done(&arena);
    task_ring_close(&ring);
    task_ring_close(&ring);
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

    ck_assert(task_ring_put(ring, &task));
    return task.hold;
}

/* The next one that nobody had, claimed and read. */
static const char *take(struct task_ring *from, uint32_t worker)
{
    struct task_head head;
    struct task task;

    if (!task_ring_look(from, leases, &head))
        return "nothing";
    task_ring_pass(from);
    if (head.is_in_socket)
        return "in the socket";
    ck_assert(lease_table_start(leases, head.hold, worker));
    ck_assert_msg(task_ring_read(from, head.hold, &arena, &task, &err), "%s", err.text);
    ck_assert(hold_equal(task.hold, head.hold));
    return (const char *)task.payload.data;
}

START_TEST(tasks_are_taken_in_the_order_in_which_they_were_put)
{
    put("one");
    put("two");
    ck_assert(task_ring_has_more(ring));
    ck_assert_str_eq(take(ring, WORKER), "one");
    ck_assert_str_eq(take(ring, WORKER), "two");
    ck_assert_str_eq(take(ring, WORKER), "nothing");
    ck_assert(!task_ring_has_more(ring));
}
END_TEST

START_TEST(what_somebody_has_started_or_taken_back_is_passed_over)
{
    const struct hold started = put("started"), revoked = put("revoked"), freed = put("freed");

    ck_assert(lease_table_start(leases, started, WORKER + 1));
    ck_assert(lease_table_revoke(leases, revoked));
    lease_table_free(leases, freed);
    put("waiting");
    ck_assert_str_eq(take(ring, WORKER), "waiting");
}
END_TEST

START_TEST(an_entry_that_was_used_again_is_shown_with_its_new_task)
{
    lease_table_free(leases, put("old"));
    const struct hold hold = put("new"); /* the same entry */

    ck_assert_uint_eq(hold.entry, 0);
    ck_assert_str_eq(take(ring, WORKER), "new");
    ck_assert_str_eq(take(ring, WORKER), "nothing");
}
END_TEST

START_TEST(a_worker_that_was_busy_for_long_finds_what_waits_now)
{
    for (int i = 0; i < 5 * CAPACITY; i++)
        lease_table_free(leases, put("gone"));
    put("waiting");
    ck_assert_str_eq(take(ring, WORKER), "waiting");
    ck_assert_str_eq(take(ring, WORKER), "nothing");
}
END_TEST

START_TEST(a_task_that_is_too_large_is_refused_and_keeps_its_turn_by_a_note)
{
    char payload[2048];
    struct task task = {.hold = hand(), .type = "t", .queue = "q"};
    struct task_head head;

    memset(payload, 'x', sizeof payload);
    task.payload = (struct bytes){(const unsigned char *)payload, sizeof payload};
    ck_assert(!task_ring_put(ring, &task));
    ck_assert(!task_ring_has_more(ring));
    task.handler = 7;
    task_ring_note(ring, &task);
    put("next");
    ck_assert(task_ring_look(ring, leases, &head));
    ck_assert_uint_eq(head.handler, 7);
    ck_assert_str_eq(take(ring, WORKER), "in the socket");
    ck_assert_str_eq(take(ring, WORKER), "next");
}
END_TEST

START_TEST(a_task_is_shown_until_it_is_passed_or_somebody_has_it)
{
    const struct task task = {.hold = hand(), .type = "t", .queue = "q", .handler = 3};
    struct task_head head;

    ck_assert(task_ring_put(ring, &task));
    const struct hold next = put("next");
    for (int i = 0; i < 2; i++) {
        ck_assert(task_ring_look(ring, leases, &head));
        ck_assert(hold_equal(head.hold, task.hold));
        ck_assert_uint_eq(head.handler, 3);
        ck_assert(task_ring_has_more(ring));
    }
    ck_assert(lease_table_start(leases, task.hold, WORKER));
    ck_assert(task_ring_look(ring, leases, &head));
    ck_assert(hold_equal(head.hold, next));
    ck_assert_uint_eq(head.handler, 0);
    task_ring_pass(ring);
    ck_assert(!task_ring_look(ring, leases, &head));
}
END_TEST

START_TEST(one_count_of_the_bell_is_for_one_sleeper)
{
    struct pollfd bell = {.fd = task_ring_bell(ring), .events = POLLIN};

    ck_assert(task_ring_wake(ring, 0, &err));
    ck_assert_int_eq(poll(&bell, 1, 0), 0);
    ck_assert(task_ring_wake(ring, 2, &err));
    task_ring_hear(ring);
    ck_assert_int_eq(poll(&bell, 1, 0), 1);
    task_ring_hear(ring);
    ck_assert_int_eq(poll(&bell, 1, 0), 0);
    task_ring_hear(ring); /* by somebody who was woken for nothing */
}
END_TEST

START_TEST(a_worker_cannot_write_to_it)
{
    signal(SIGSEGV, SIG_DFL); /* without a report of the sanitizer */
    ck_assert_msg(task_ring_restrict(ring, &err), "%s", err.text);
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
        struct task_head head;
        struct task task;

        if (!task_ring_look(ring, leases, &head) || !lease_table_start(leases, head.hold, worker)) {
            sched_yield(); /* on a busy machine the others have to get on */
            continue;
        }
        task_ring_pass(ring);
        ck_assert(task_ring_read(ring, head.hold, &arena, &task, &err));
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

        ck_assert(task_ring_put(ring, &task));
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

Suite *task_ring_suite(void)
{
    Suite *suite = suite_create("process/task_ring");
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

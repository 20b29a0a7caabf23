/*
 * test_lease_table.c - every change of an entry, late comers, real races, and what a worker can
 * reach.
 */
#include "../../fixtures/scribble.h"
#include "base/error.h"
#include "process/lease_table.h"
#include "suites.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CAPACITY   4
#define WORKER     ((uint32_t)17)
#define SECONDS(n) ((n)*USEC_PER_SEC)

static struct lease_table *table;
static struct error err;

static void open_table(size_t capacity)
{
    lease_table_close(&table);
    ck_assert_msg(lease_table_open(capacity, &table, &err), "%s", err.text);
}

static void setup(void)
{
    open_table(CAPACITY);
}

static void teardown(void)
{
    lease_table_close(&table);
    lease_table_close(&table);
}

/* Every byte of it tells the number. */
static struct held_lease lease_of(unsigned char number)
{
    struct held_lease lease;

    memset(&lease, number, sizeof lease);
    lease.queue[JOB_NAME_MAX] = '\0';
    return lease;
}

static bool is_whole(const struct held_lease *lease)
{
    const struct held_lease whole = lease_of(lease->job.bytes[0]);

    return uuid_compare(&lease->job, &whole.job) == 0 &&
           lease_token_equal(&lease->token, &whole.token) && lease->ref == whole.ref &&
           memcmp(lease->queue, whole.queue, sizeof whole.queue) == 0;
}

static struct hold hand(unsigned char number)
{
    const struct held_lease lease = lease_of(number);
    struct hold hold;

    ck_assert(lease_table_hand(table, &lease, SECONDS(10), &hold));
    return hold;
}

static enum hold_state state(struct hold hold)
{
    return lease_table_state(table, hold, NULL);
}

/* ---- changes ---- */

static struct hold hold_in(enum hold_state wanted)
{
    const struct hold hold = hand(1);

    switch (wanted) {
    case HOLD_FREE:
        lease_table_free(table, hold);
        break;
    case HOLD_HANDED:
        break;
    case HOLD_STARTED:
        ck_assert(lease_table_start(table, hold, WORKER));
        break;
    case HOLD_FINISHED:
        ck_assert(lease_table_start(table, hold, WORKER));
        lease_table_finish(table, hold, WORKER);
        break;
    case HOLD_REVOKED:
        ck_assert(lease_table_revoke(table, hold));
        break;
    case HOLD_UNKNOWN:
        ck_abort_msg("nobody of ours leaves one so");
    }
    ck_assert_int_eq(state(hold), wanted);
    return hold;
}

static bool try_start(struct hold hold)
{
    return lease_table_start(table, hold, WORKER);
}

static bool try_revoke(struct hold hold)
{
    return lease_table_revoke(table, hold);
}

static bool try_finish(struct hold hold)
{
    lease_table_finish(table, hold, WORKER);
    return true;
}

static bool try_finish_by_another(struct hold hold)
{
    lease_table_finish(table, hold, WORKER + 1);
    return true;
}

static bool try_free(struct hold hold)
{
    lease_table_free(table, hold);
    return true;
}

static const struct {
    const char *name;
    bool (*change)(struct hold hold);
    enum hold_state from, to;
    bool answer;
} changes[] = {
    {"start", try_start, HOLD_FREE, HOLD_FREE, false},
    {"start", try_start, HOLD_HANDED, HOLD_STARTED, true},
    {"start", try_start, HOLD_STARTED, HOLD_STARTED, false},
    {"start", try_start, HOLD_FINISHED, HOLD_FINISHED, false},
    {"start", try_start, HOLD_REVOKED, HOLD_REVOKED, false},
    {"revoke", try_revoke, HOLD_FREE, HOLD_FREE, false},
    {"revoke", try_revoke, HOLD_HANDED, HOLD_REVOKED, true},
    {"revoke", try_revoke, HOLD_STARTED, HOLD_STARTED, false},
    {"revoke", try_revoke, HOLD_FINISHED, HOLD_FINISHED, false},
    {"revoke", try_revoke, HOLD_REVOKED, HOLD_REVOKED, false},
    {"finish", try_finish, HOLD_FREE, HOLD_FREE, true},
    {"finish", try_finish, HOLD_HANDED, HOLD_HANDED, true},
    {"finish", try_finish, HOLD_STARTED, HOLD_FINISHED, true},
    {"finish", try_finish, HOLD_FINISHED, HOLD_FINISHED, true},
    {"finish", try_finish, HOLD_REVOKED, HOLD_REVOKED, true},
    {"finish by another", try_finish_by_another, HOLD_STARTED, HOLD_STARTED, true},
    {"free", try_free, HOLD_FREE, HOLD_FREE, true},
    {"free", try_free, HOLD_HANDED, HOLD_FREE, true},
    {"free", try_free, HOLD_STARTED, HOLD_FREE, true},
    {"free", try_free, HOLD_FINISHED, HOLD_FREE, true},
    {"free", try_free, HOLD_REVOKED, HOLD_FREE, true},
};

START_TEST(every_change_goes_where_the_table_says)
{
    const struct hold hold = hold_in(changes[_i].from);
    const bool answer = changes[_i].change(hold);

    ck_assert_msg(answer == changes[_i].answer && state(hold) == changes[_i].to,
                  "%s from %d: answer %d, state %d", changes[_i].name, changes[_i].from, answer,
                  state(hold));
}
END_TEST

START_TEST(a_started_job_tells_its_worker)
{
    const struct hold hold = hand(1);
    uint32_t worker = 1;

    ck_assert_int_eq(lease_table_state(table, hold, &worker), HOLD_HANDED);
    ck_assert_uint_eq(worker, 0);
    ck_assert(!lease_table_is_running(table, WORKER));
    ck_assert(lease_table_start(table, hold, WORKER));
    ck_assert_int_eq(lease_table_state(table, hold, &worker), HOLD_STARTED);
    ck_assert_uint_eq(worker, WORKER);
    ck_assert(lease_table_is_running(table, WORKER));
    ck_assert(!lease_table_is_running(table, WORKER + 1));
    lease_table_finish(table, hold, WORKER);
    ck_assert_int_eq(lease_table_state(table, hold, &worker), HOLD_FINISHED);
    ck_assert_uint_eq(worker, WORKER);
    ck_assert(!lease_table_is_running(table, WORKER));
}
END_TEST

/* What a late comer could change, and must not. */
struct picture {
    enum hold_state state;
    uint32_t worker;
    usec_t stop_at;
    unsigned flags;
};

static struct picture picture_of(struct hold hold)
{
    struct picture picture = {.stop_at = lease_table_stop_at(table, hold),
                              .flags = lease_table_flags(table, hold)};

    picture.state = lease_table_state(table, hold, &picture.worker);
    return picture;
}

static void expect_picture(struct picture a, struct picture b)
{
    ck_assert_int_eq(a.state, b.state);
    ck_assert_uint_eq(a.worker, b.worker);
    ck_assert_int_eq(a.stop_at, b.stop_at);
    ck_assert_uint_eq(a.flags, b.flags);
}

static void expect_nothing_to_happen(struct hold late, struct hold bystander)
{
    const struct picture before = picture_of(bystander);
    const struct picture nothing = {.state = HOLD_FREE};

    ck_assert(!lease_table_start(table, late, WORKER));
    ck_assert(!lease_table_revoke(table, late));
    lease_table_finish(table, late, WORKER);
    lease_table_free(table, late);
    lease_table_confirm(table, late, SECONDS(1000));
    ck_assert(!lease_table_flag(table, late, LEASE_LOST | LEASE_CANCELED));
    expect_picture(picture_of(late), nothing);
    expect_picture(picture_of(bystander), before);
}

START_TEST(a_late_comer_changes_nothing)
{
    open_table(1);
    const struct hold late = hold_in((enum hold_state)_i);
    lease_table_free(table, late);
    const struct hold next = hand(2);

    ck_assert_uint_eq(late.entry, next.entry);
    ck_assert_uint_ne(late.generation, next.generation);
    expect_nothing_to_happen(late, next);
    ck_assert(lease_table_start(table, next, WORKER));
    expect_nothing_to_happen(late, next);
    lease_table_free(table, next);
    expect_nothing_to_happen(next, next);
}
END_TEST

START_TEST(an_entry_that_does_not_exist_changes_nothing)
{
    const struct hold hold = hand(1);

    expect_nothing_to_happen((struct hold){CAPACITY, hold.generation}, hold);
    expect_nothing_to_happen((struct hold){UINT32_MAX, hold.generation}, hold);
}
END_TEST

/* ---- handing out ---- */

START_TEST(a_full_table_has_room_when_something_is_freed)
{
    const struct held_lease lease = lease_of(9);
    struct hold holds[CAPACITY], more;

    ck_assert_uint_eq(lease_table_capacity(table), CAPACITY);
    for (unsigned char i = 0; i < CAPACITY; i++)
        holds[i] = hand(i);
    ck_assert(!lease_table_hand(table, &lease, 0, &more));
    for (size_t i = 0; i < CAPACITY; i++) {
        lease_table_free(table, holds[i]);
        ck_assert(lease_table_hand(table, &lease, 0, &more));
        ck_assert_uint_eq(more.entry, holds[i].entry);
        ck_assert(!lease_table_hand(table, &lease, 0, &more));
    }
}
END_TEST

START_TEST(every_use_of_an_entry_has_a_generation_of_its_own)
{
    open_table(1);
    uint32_t last = 0;

    for (int i = 0; i < 1000; i++) {
        const struct hold hold = hand(1);

        ck_assert_uint_eq(hold.generation, last + 1);
        last = hold.generation;
        lease_table_free(table, hold);
    }
}
END_TEST

START_TEST(looking_shows_every_entry_that_is_not_free)
{
    const enum hold_state states[CAPACITY] = {HOLD_HANDED, HOLD_FREE, HOLD_STARTED, HOLD_REVOKED};
    struct hold holds[CAPACITY];
    struct hold_view view;
    size_t position = 0;

    for (unsigned char i = 0; i < CAPACITY; i++)
        holds[i] = hand(i);
    lease_table_free(table, holds[1]);
    ck_assert(lease_table_start(table, holds[2], WORKER));
    ck_assert(lease_table_revoke(table, holds[3]));
    for (unsigned char i = 0; i < CAPACITY; i++) {
        if (states[i] == HOLD_FREE)
            continue;
        ck_assert(lease_table_next(table, &position, &view));
        ck_assert_uint_eq(view.hold.entry, holds[i].entry);
        ck_assert_uint_eq(view.hold.generation, holds[i].generation);
        ck_assert_int_eq(view.state, states[i]);
        ck_assert_uint_eq(view.worker, states[i] == HOLD_STARTED ? WORKER : 0);
        ck_assert_uint_eq(view.lease.job.bytes[0], i);
        ck_assert(is_whole(&view.lease));
    }
    ck_assert(!lease_table_next(table, &position, &view));
    ck_assert(!lease_table_next(table, &position, &view));
}
END_TEST

START_TEST(a_table_without_entries_is_refused)
{
    struct lease_table *none = NULL;

    ck_assert(!lease_table_open(0, &none, &err));
    ck_assert_int_eq(err.code, TH_E_INVALID);
    ck_assert(!lease_table_open(SIZE_MAX, &none, &err));
    ck_assert_ptr_null(none);
}
END_TEST

/* ---- the heartbeater ---- */

static const struct {
    const char *rule;
    usec_t handed, confirmed, expected;
} stops[] = {
    {"a moment is kept", SECONDS(10), 0, SECONDS(10)},
    {"rounded down to a millisecond", 1234567, 0, 1234000},
    {"a later one takes its place", SECONDS(10), SECONDS(20), SECONDS(20)},
    {"an earlier one does not", SECONDS(10), SECONDS(9), SECONDS(10)},
    {"nor does one in the same millisecond", 1234567, 1234999, 1234000},
    {"at once is a moment too", 0, 0, 0},
    {"a moment before the boot is at once", -5, -1, 0},
    {"never is in 557 years", USEC_MAX, 0, (((usec_t)1 << 44) - 1) * 1000},
    {"never can be confirmed", SECONDS(1), USEC_MAX, (((usec_t)1 << 44) - 1) * 1000},
};

START_TEST(the_moment_to_stop_never_moves_back)
{
    const struct held_lease lease = lease_of(1);
    struct hold hold;

    ck_assert(lease_table_hand(table, &lease, stops[_i].handed, &hold));
    lease_table_confirm(table, hold, stops[_i].confirmed);
    const usec_t at = lease_table_stop_at(table, hold);
    ck_assert_msg(at == stops[_i].expected, "%s, not %lld", stops[_i].rule, (long long)at);
}
END_TEST

START_TEST(a_new_use_of_an_entry_does_not_keep_the_old_moment_to_stop)
{
    open_table(1);
    const struct hold old = hand(1);
    lease_table_confirm(table, old, SECONDS(5000));
    lease_table_free(table, old);
    ck_assert_int_eq(lease_table_stop_at(table, old), 0);
    ck_assert_int_eq(lease_table_stop_at(table, hand(2)), SECONDS(10));
}
END_TEST

START_TEST(flags_are_new_once_and_end_with_the_use_of_their_entry)
{
    open_table(1);
    const struct hold hold = hand(1);

    ck_assert_uint_eq(lease_table_flags(table, hold), 0);
    ck_assert(!lease_table_flag(table, hold, 0));
    ck_assert(lease_table_flag(table, hold, LEASE_CANCELED));
    ck_assert(!lease_table_flag(table, hold, LEASE_CANCELED));
    ck_assert_uint_eq(lease_table_flags(table, hold), LEASE_CANCELED);
    ck_assert(lease_table_flag(table, hold, LEASE_LOST | LEASE_CANCELED));
    ck_assert_uint_eq(lease_table_flags(table, hold), LEASE_LOST | LEASE_CANCELED);
    lease_table_free(table, hold);
    ck_assert_uint_eq(lease_table_flags(table, hold), 0);
    ck_assert_uint_eq(lease_table_flags(table, hand(2)), 0);
}
END_TEST

/* ---- workers ---- */

/* Bytes of shared memory that this process can reach with these rights: "rw-s", "r--s". */
static size_t mapped(const char *rights)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], found[5];
    size_t total = 0, from, to;

    ck_assert_ptr_nonnull(maps);
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%zx-%zx %4s", &from, &to, found) == 3 && strcmp(found, rights) == 0)
            total += to - from;
    }
    fclose(maps);
    return total;
}

START_TEST(a_worker_can_write_words_and_read_stops_and_reach_nothing_else)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    lease_table_close(&table);
    const size_t written = mapped("rw-s"), read = mapped("r--s");

    open_table(page / sizeof(uint64_t)); /* words and stops have a page each */
    ck_assert_uint_gt(mapped("rw-s"), written + 2 * page);
    ck_assert(lease_table_restrict(table, &err));
    ck_assert_uint_eq(mapped("rw-s"), written + page);
    ck_assert_uint_eq(mapped("r--s"), read + page);
    lease_table_close(&table);
    ck_assert_uint_eq(mapped("rw-s"), written);
    ck_assert_uint_eq(mapped("r--s"), read);
}
END_TEST

START_TEST(a_worker_does_its_work_in_a_restricted_table)
{
    const struct hold hold = hand(1), other = hand(2);
    uint32_t worker;

    ck_assert(lease_table_revoke(table, other));
    ck_assert(lease_table_restrict(table, &err));
    ck_assert(!lease_table_start(table, other, WORKER));
    ck_assert(lease_table_start(table, hold, WORKER));
    ck_assert_int_eq(lease_table_stop_at(table, hold), SECONDS(10));
    ck_assert_int_eq(lease_table_state(table, hold, &worker), HOLD_STARTED);
    ck_assert(lease_table_is_running(table, WORKER));
    lease_table_finish(table, hold, WORKER);
    ck_assert_int_eq(state(hold), HOLD_FINISHED);
}
END_TEST

static void look_at_leases(struct hold hold)
{
    struct hold_view view;
    size_t position = 0;

    (void)hold;
    ck_assert(lease_table_next(table, &position, &view));
}

static void hand_out(struct hold hold)
{
    (void)hold;
    hand(2);
}

static void read_flags(struct hold hold)
{
    ck_assert_uint_eq(lease_table_flags(table, hold), 0);
}

static void set_flags(struct hold hold)
{
    ck_assert(lease_table_flag(table, hold, LEASE_LOST));
}

static void (*const forbidden[])(struct hold hold) = {look_at_leases, hand_out, read_flags,
                                                      set_flags};

START_TEST(a_worker_that_reaches_for_leases_ends)
{
    const struct hold hold = hand(1);

    ck_assert(lease_table_restrict(table, &err));
    forbidden[_i](hold);
}
END_TEST

/* ---- races ---- */

/* What two processes tell each other. */
struct meeting {
    _Atomic unsigned arrived[2];
    _Atomic unsigned wins[2];
};

static struct meeting *meet(void)
{
    struct meeting *meeting =
        mmap(NULL, sizeof *meeting, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(meeting, MAP_FAILED);
    return meeting;
}

/* Both go on at the same moment. */
static void wait_for_the_other(struct meeting *meeting, int me, unsigned round)
{
    atomic_store(&meeting->arrived[me], round);
    while (atomic_load(&meeting->arrived[!me]) < round)
        sched_yield();
}

static pid_t fork_child(void)
{
    const pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    return pid;
}

START_TEST(start_and_revoke_exclude_each_other)
{
    enum { ROUNDS = 10000 };

    open_table(ROUNDS);
    struct meeting *meeting = meet();
    struct hold *holds = calloc(ROUNDS, sizeof *holds);
    ck_assert_ptr_nonnull(holds);
    for (int i = 0; i < ROUNDS; i++)
        holds[i] = hand(1);

    const pid_t pid = fork_child();
    for (unsigned i = 0; i < ROUNDS; i++) {
        wait_for_the_other(meeting, pid == 0, i + 1);
        if (pid == 0 ? lease_table_start(table, holds[i], WORKER)
                     : lease_table_revoke(table, holds[i]))
            atomic_fetch_add(&meeting->wins[pid == 0], 1);
    }
    if (pid == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    ck_assert_uint_eq(meeting->wins[0] + meeting->wins[1], ROUNDS);

    unsigned started = 0;
    for (int i = 0; i < ROUNDS; i++)
        started += state(holds[i]) == HOLD_STARTED;
    ck_assert_uint_eq(meeting->wins[1], started);
    free(holds);
    munmap(meeting, sizeof *meeting);
}
END_TEST

/* A dispatcher in a hurry, until it is killed. */
static void hand_and_free_forever(void)
{
    const struct held_lease leases[] = {lease_of(1), lease_of(2)};
    struct hold hold;

    for (unsigned i = 0;; i = !i) {
        if (!lease_table_hand(table, &leases[i], SECONDS(10), &hold))
            _exit(1);
        lease_table_free(table, hold);
    }
}

static void kill_child(pid_t pid)
{
    int status;

    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status));
}

static unsigned count_whole_leases(void)
{
    struct hold_view view;
    unsigned count = 0;

    for (size_t position = 0; lease_table_next(table, &position, &view); count++)
        ck_assert_msg(is_whole(&view.lease), "a lease of two halves");
    return count;
}

START_TEST(a_lease_is_whole_while_a_dispatcher_is_at_work)
{
    open_table(1);
    const pid_t pid = fork_child();

    if (pid == 0)
        hand_and_free_forever();
    for (unsigned seen = 0; seen < 100000;)
        seen += count_whole_leases();
    kill_child(pid);
}
END_TEST

START_TEST(a_dispatcher_killed_at_any_moment_leaves_whole_leases_or_none)
{
    for (int round = 0; round < 50; round++) {
        open_table(2);
        const pid_t pid = fork_child();

        if (pid == 0)
            hand_and_free_forever();
        while (count_whole_leases() == 0) {
        }
        kill_child(pid);
        const unsigned left = count_whole_leases();
        ck_assert_uint_le(left, 1);
        for (unsigned i = left; i < 2; i++)
            hand(1);
        ck_assert_uint_eq(count_whole_leases(), 2);
    }
}
END_TEST

/* ---- wild writes ---- */

START_TEST(what_was_handed_is_told_from_what_never_was)
{
    const struct hold first = hold_in(HOLD_FREE);
    const struct hold next = hand(1);

    ck_assert_uint_eq(next.entry, first.entry);
    ck_assert(lease_table_was_handed(table, first));
    ck_assert(lease_table_was_handed(table, next));
    ck_assert(!lease_table_was_handed(table, (struct hold){next.entry, next.generation + 1}));
    ck_assert(!lease_table_was_handed(table, (struct hold){next.entry, 0}));
    ck_assert(!lease_table_was_handed(table, (struct hold){CAPACITY, 1}));
    ck_assert(!lease_table_was_handed(table, HOLD_NONE));
}
END_TEST

static const int wild[] = {0xff, 0x7f, 0x21, 0x00};

static void overwrite(int byte)
{
    if (fork() == 0) {
        if (lease_table_restrict(table, &err))
            scribble(byte);
        _exit(0);
    }
    ck_assert_int_gt(wait(NULL), 0);
}

START_TEST(words_that_were_overwritten_hide_who_runs_what_and_nothing_else)
{
    const struct hold freed = hold_in(HOLD_FREE);
    const struct hold started = hold_in(HOLD_STARTED);
    const struct hold handed = hand(2);
    struct hold_view view;
    size_t position = 0;
    uint32_t worker;

    ck_assert(lease_table_flag(table, started, LEASE_CANCELED));
    overwrite(wild[_i]);
    ck_assert_int_eq(state(freed), HOLD_FREE);
    ck_assert_int_eq(state(started), HOLD_UNKNOWN);
    ck_assert_int_eq(state(handed), HOLD_UNKNOWN);
    ck_assert_uint_eq(lease_table_flags(table, started), LEASE_CANCELED);
    ck_assert_int_eq(lease_table_stop_at(table, started), SECONDS(10));
    ck_assert(lease_table_next(table, &position, &view) && is_whole(&view.lease));
    ck_assert(lease_table_next(table, &position, &view) && is_whole(&view.lease));
    ck_assert(!lease_table_next(table, &position, &view));

    lease_table_mend(table, started, WORKER);
    ck_assert_int_eq(lease_table_state(table, started, &worker), HOLD_STARTED);
    ck_assert_uint_eq(worker, WORKER);
    ck_assert(!lease_table_revoke(table, handed));
    lease_table_free(table, handed);
    lease_table_free(table, started);
    for (unsigned char i = 0; i < CAPACITY; i++)
        ck_assert_int_eq(state(hand(i)), HOLD_HANDED);
}
END_TEST

Suite *lease_table_suite(void)
{
    Suite *suite = suite_create("process/lease_table");
    TCase *changing = tcase_create("changing");
    TCase *handing = tcase_create("handing");
    TCase *beating = tcase_create("beating");
    TCase *restricting = tcase_create("restricting");
    TCase *racing = tcase_create("racing");

    tcase_add_checked_fixture(changing, setup, teardown);
    tcase_add_loop_test(changing, every_change_goes_where_the_table_says, 0, COUNT_OF(changes));
    tcase_add_test(changing, a_started_job_tells_its_worker);
    tcase_add_loop_test(changing, a_late_comer_changes_nothing, HOLD_FREE, HOLD_REVOKED + 1);
    tcase_add_test(changing, an_entry_that_does_not_exist_changes_nothing);
    suite_add_tcase(suite, changing);

    tcase_add_checked_fixture(handing, setup, teardown);
    tcase_add_test(handing, a_full_table_has_room_when_something_is_freed);
    tcase_add_test(handing, every_use_of_an_entry_has_a_generation_of_its_own);
    tcase_add_test(handing, looking_shows_every_entry_that_is_not_free);
    tcase_add_test(handing, a_table_without_entries_is_refused);
    suite_add_tcase(suite, handing);

    tcase_add_checked_fixture(beating, setup, teardown);
    tcase_add_loop_test(beating, the_moment_to_stop_never_moves_back, 0, COUNT_OF(stops));
    tcase_add_test(beating, a_new_use_of_an_entry_does_not_keep_the_old_moment_to_stop);
    tcase_add_test(beating, flags_are_new_once_and_end_with_the_use_of_their_entry);
    suite_add_tcase(suite, beating);

    tcase_add_checked_fixture(restricting, setup, teardown);
    tcase_add_test(restricting, a_worker_can_write_words_and_read_stops_and_reach_nothing_else);
    tcase_add_test(restricting, a_worker_does_its_work_in_a_restricted_table);
    tcase_add_test(restricting, what_was_handed_is_told_from_what_never_was);
    tcase_add_loop_test(restricting,
                        words_that_were_overwritten_hide_who_runs_what_and_nothing_else, 0,
                        COUNT_OF(wild));
    tcase_add_loop_test_raise_signal(restricting, a_worker_that_reaches_for_leases_ends, SIGABRT, 0,
                                     COUNT_OF(forbidden));
    suite_add_tcase(suite, restricting);

    tcase_add_checked_fixture(racing, setup, teardown);
    tcase_set_timeout(racing, 60);
    tcase_add_test(racing, start_and_revoke_exclude_each_other);
    tcase_add_test(racing, a_lease_is_whole_while_a_dispatcher_is_at_work);
    tcase_add_test(racing, a_dispatcher_killed_at_any_moment_leaves_whole_leases_or_none);
    suite_add_tcase(suite, racing);
    return suite;
}

/*
 * test_keyed.c - every combination of flags, and the flags as they are stored.
 *
 * Stores that cannot call C follow the same rules.
 */
#include "job/keyed.h"
#include "suites.h"

#include <check.h>
#include <signal.h>

/* No value occurs twice, so that a field taken from the wrong place is seen. */
static const struct keyed_fields waiting = {
    .priority = 1,
    .run_at = 5000,
    .due = 5001,
    .timeout = 11,
    .max_attempts = 12,
    .max_stalls = 13,
    .attempts = 14,
    .stalls = 15,
};

static const struct keyed_fields newcomer = {
    .priority = 2,
    .run_at = 6000,
    .timeout = 21,
    .max_attempts = 22,
    .max_stalls = 23,
    .attempts = 24,
    .stalls = 25,
};

static const struct {
    const char *name;
    enum update_run_at when;
    bool earlier, equal, later; /* whether a newcomer with such a due moves the waiting job */
} policies[] = {
    {"always", UPDATE_RUN_AT_ALWAYS, true, true, true},
    {"never", UPDATE_RUN_AT_NEVER, false, false, false},
    {"if_earlier", UPDATE_RUN_AT_IF_EARLIER, true, false, false},
    {"if_later", UPDATE_RUN_AT_IF_LATER, false, false, true},
};

struct merge_case {
    struct keyed_flags flags;
    struct keyed_fields newcomer;
    bool moves;
};

#define MERGE_CASES (2 * 4 * 2 * 2 * 3)

static struct merge_case merge_case_of(int number)
{
    const int policy = number / 8 % 4;
    const int when = number / 32; /* earlier, equal, later */
    struct merge_case merge_case = {
        .flags = {.payload = (number & 1) != 0,
                  .retry = (number & 2) != 0,
                  .reset_counts = (number & 4) != 0,
                  .run_at = policies[policy].when},
        .newcomer = newcomer,
    };
    const bool moves[] = {policies[policy].earlier, policies[policy].equal, policies[policy].later};

    merge_case.newcomer.due = waiting.due + when - 1;
    merge_case.moves = moves[when];
    return merge_case;
}

START_TEST(a_waiting_job_takes_what_the_flags_say_and_keeps_the_rest)
{
    const struct merge_case c = merge_case_of(_i);
    const struct keyed_merge merge = keyed_merge(&waiting, &c.newcomer, c.flags);
    const struct keyed_fields *taken = c.flags.payload ? &c.newcomer : &waiting;
    const struct keyed_fields *due = c.moves ? &c.newcomer : &waiting;
    const struct keyed_fields *limits = c.flags.retry ? &c.newcomer : &waiting;

    ck_assert_msg(merge.take_payload == c.flags.payload, "update_payload: the payload");
    ck_assert_msg(merge.fields.priority == taken->priority, "update_payload: the priority, too");
    ck_assert_msg(merge.moved == c.moves, "update_run_at: whether it moves");
    ck_assert_msg(merge.fields.run_at == due->run_at, "update_run_at: run_at");
    ck_assert_msg(merge.fields.due == due->due, "update_run_at: its place with it");
    ck_assert_msg(merge.fields.timeout == limits->timeout, "update_retry: timeout");
    ck_assert_msg(merge.fields.max_attempts == limits->max_attempts, "update_retry: max_attempts");
    ck_assert_msg(merge.fields.max_stalls == limits->max_stalls, "update_retry: max_stalls");
    ck_assert_msg(merge.fields.attempts == (c.flags.reset_counts ? 0 : waiting.attempts),
                  "reset_counts: attempts are kept or reset, but never taken");
    ck_assert_msg(merge.fields.stalls == (c.flags.reset_counts ? 0 : waiting.stalls),
                  "reset_counts: stalls are kept or reset, but never taken");
}
END_TEST

START_TEST(limits_that_the_newcomer_leaves_out_become_absent)
{
    const struct keyed_fields bare = {.priority = 5, .due = 7000};
    const struct keyed_merge merge = keyed_merge(&waiting, &bare, keyed_flags_default);

    ck_assert_int_eq(merge.fields.timeout, 0);
    ck_assert_int_eq(merge.fields.max_attempts, 0);
    ck_assert_int_eq(merge.fields.max_stalls, 0);
}
END_TEST

START_TEST(a_run_at_that_the_newcomer_leaves_out_becomes_absent)
{
    const struct keyed_fields bare = {.priority = 5, .due = 4000};
    const struct keyed_merge merge = keyed_merge(&waiting, &bare, keyed_flags_default);

    ck_assert_int_eq(merge.fields.run_at, 0);
    ck_assert_int_eq(merge.fields.due, 4000);
}
END_TEST

START_TEST(due_decides_what_is_earlier_where_run_at_is_absent)
{
    const struct keyed_fields now_due = {.run_at = 0, .due = waiting.due + 10};
    struct keyed_flags flags = keyed_flags_default;

    flags.run_at = UPDATE_RUN_AT_IF_EARLIER;
    ck_assert(!keyed_merge(&waiting, &now_due, flags).moved);
    flags.run_at = UPDATE_RUN_AT_IF_LATER;
    ck_assert(keyed_merge(&waiting, &now_due, flags).moved);
}
END_TEST

START_TEST(without_flags_all_but_the_counts_is_updated)
{
    ck_assert(keyed_flags_default.payload);
    ck_assert_int_eq((int)keyed_flags_default.run_at, UPDATE_RUN_AT_ALWAYS);
    ck_assert(keyed_flags_default.retry);
    ck_assert(!keyed_flags_default.reset_counts);
}
END_TEST

START_TEST(packed_flags_unpack_to_themselves)
{
    for (int i = 0; i < MERGE_CASES; i++) {
        const struct keyed_flags flags = merge_case_of(i).flags;
        const int packed = keyed_flags_pack(flags);
        const struct keyed_flags unpacked = keyed_flags_unpack(packed);

        ck_assert_int_ge(packed, 0);
        ck_assert_int_lt(packed, 32);
        ck_assert_int_eq(unpacked.payload, flags.payload);
        ck_assert_int_eq((int)unpacked.run_at, (int)flags.run_at);
        ck_assert_int_eq(unpacked.retry, flags.retry);
        ck_assert_int_eq(unpacked.reset_counts, flags.reset_counts);
    }
}
END_TEST

static const struct {
    struct keyed_flags flags;
    int packed;
} stored[] = {
    {{false, UPDATE_RUN_AT_ALWAYS, false, false}, 0},
    {{true, UPDATE_RUN_AT_ALWAYS, false, false}, 1},
    {{false, UPDATE_RUN_AT_ALWAYS, true, false}, 2},
    {{false, UPDATE_RUN_AT_ALWAYS, false, true}, 4},
    {{false, UPDATE_RUN_AT_NEVER, false, false}, 8},
    {{false, UPDATE_RUN_AT_IF_EARLIER, false, false}, 16},
    {{false, UPDATE_RUN_AT_IF_LATER, false, false}, 24},
    {{true, UPDATE_RUN_AT_ALWAYS, true, false}, 3},
    {{true, UPDATE_RUN_AT_IF_LATER, true, true}, 31},
};

START_TEST(a_stored_bit_keeps_its_meaning)
{
    ck_assert_int_eq(keyed_flags_pack(stored[_i].flags), stored[_i].packed);
}
END_TEST

START_TEST(bits_that_mean_nothing_are_ignored)
{
    const struct keyed_flags flags = keyed_flags_unpack(-1);

    ck_assert_int_eq((int)flags.run_at, UPDATE_RUN_AT_IF_LATER);
    ck_assert_int_eq((int)keyed_flags_unpack(32).run_at, UPDATE_RUN_AT_ALWAYS);
}
END_TEST

/* clang-format off */
static const struct {
    const char *rule;
    struct keyed_flags first, second, joined;
} joins[] = {
    {"what the first asked for stays", {true, UPDATE_RUN_AT_ALWAYS, true, true},
     {false, UPDATE_RUN_AT_NEVER, false, false}, {true, UPDATE_RUN_AT_ALWAYS, true, true}},
    {"what the second asks for is added", {false, UPDATE_RUN_AT_NEVER, false, false},
     {true, UPDATE_RUN_AT_IF_LATER, true, true}, {true, UPDATE_RUN_AT_IF_LATER, true, true}},
    {"always is not narrowed", {false, UPDATE_RUN_AT_ALWAYS, false, false},
     {false, UPDATE_RUN_AT_IF_EARLIER, false, false}, {false, UPDATE_RUN_AT_ALWAYS, false, false}},
    {"the second beats a condition", {false, UPDATE_RUN_AT_IF_LATER, false, false},
     {false, UPDATE_RUN_AT_IF_EARLIER, false, false},
     {false, UPDATE_RUN_AT_IF_EARLIER, false, false}},
};
/* clang-format on */

START_TEST(joined_flags_ask_for_what_either_asked_for)
{
    struct keyed_flags joined = keyed_flags_join(joins[_i].first, joins[_i].second);

    ck_assert_msg(keyed_flags_pack(joined) == keyed_flags_pack(joins[_i].joined), "%s",
                  joins[_i].rule);
}
END_TEST

START_TEST(update_run_at_has_four_words)
{
    enum update_run_at when = (enum update_run_at) - 1;

    ck_assert_str_eq(update_run_at_name(policies[_i].when), policies[_i].name);
    ck_assert(update_run_at_parse(policies[_i].name, &when));
    ck_assert_int_eq((int)when, (int)policies[_i].when);
}
END_TEST

static const char *const no_words[] = {NULL, "", "Always", "if-later", "true", "never "};

START_TEST(any_other_word_is_refused)
{
    enum update_run_at when = UPDATE_RUN_AT_IF_LATER;

    ck_assert(!update_run_at_parse(no_words[_i], &when));
    ck_assert_int_eq((int)when, UPDATE_RUN_AT_IF_LATER);
}
END_TEST

START_TEST(a_flag_of_no_known_kind_ends_the_process)
{
    struct keyed_flags flags = keyed_flags_default;

    flags.run_at = (enum update_run_at)4;
    keyed_merge(&waiting, &newcomer, flags);
}
END_TEST

Suite *keyed_suite(void)
{
    Suite *suite = suite_create("job/keyed");
    TCase *merge = pure_case("merge");
    TCase *flags = pure_case("flags");
    TCase *bugs = tcase_create("bugs");

    tcase_add_loop_test(merge, a_waiting_job_takes_what_the_flags_say_and_keeps_the_rest, 0,
                        MERGE_CASES);
    tcase_add_test(merge, limits_that_the_newcomer_leaves_out_become_absent);
    tcase_add_test(merge, a_run_at_that_the_newcomer_leaves_out_becomes_absent);
    tcase_add_test(merge, due_decides_what_is_earlier_where_run_at_is_absent);
    tcase_add_test_raise_signal(bugs, a_flag_of_no_known_kind_ends_the_process, SIGABRT);
    suite_add_tcase(suite, merge);

    tcase_add_test(flags, without_flags_all_but_the_counts_is_updated);
    tcase_add_test(flags, packed_flags_unpack_to_themselves);
    tcase_add_loop_test(flags, a_stored_bit_keeps_its_meaning, 0, COUNT_OF(stored));
    tcase_add_test(flags, bits_that_mean_nothing_are_ignored);
    tcase_add_loop_test(flags, joined_flags_ask_for_what_either_asked_for, 0, COUNT_OF(joins));
    tcase_add_loop_test(flags, update_run_at_has_four_words, 0, COUNT_OF(policies));
    tcase_add_loop_test(flags, any_other_word_is_refused, 0, COUNT_OF(no_words));
    suite_add_tcase(suite, flags);
    suite_add_tcase(suite, bugs);
    return suite;
}

/*
 * test_keyed.c - every combination of flags, and the flags as they are stored.
 */
#include "job/keyed.h"

#include "../../vectors/merge.h"
#include "suites.h"

#include <check.h>
#include <signal.h>

#define NOW ((usec_t)1893553445123456)

START_TEST(a_waiting_job_takes_what_the_flags_say_and_keeps_the_rest)
{
    const struct merge_vector *vector = &merge_vectors[_i];
    const struct keyed_fields old = merge_fields(&merge_waiting, vector->waiting, NOW, NOW);
    const struct keyed_fields new = merge_fields(&merge_newcomer, vector->newcomer, NOW, NOW + 1);

    for (int number = 0; number < MERGE_FLAGS; number++) {
        const struct keyed_flags flags = merge_flags(vector, number);
        const struct keyed_merge merge = keyed_merge(&old, &new, flags);
        const struct keyed_fields expected = merge_expected(vector, &old, &new, flags);

        ck_assert_msg(merge.moved == vector->moves, "%s", vector->rule);
        ck_assert_msg(merge.fields.run_at == expected.run_at, "%s: run_at", vector->rule);
        ck_assert_msg(merge.fields.due == expected.due, "%s: its place with it", vector->rule);
        ck_assert_msg(merge.take_payload == flags.payload, "update_payload: the payload");
        ck_assert_msg(merge.fields.priority == expected.priority, "update_payload: the priority");
        ck_assert_msg(merge.fields.timeout == expected.timeout, "update_retry: timeout");
        ck_assert_msg(merge.fields.max_attempts == expected.max_attempts &&
                          merge.fields.max_stalls == expected.max_stalls,
                      "update_retry: max_attempts and max_stalls");
        ck_assert_msg(merge.fields.attempts == expected.attempts &&
                          merge.fields.stalls == expected.stalls,
                      "reset_counts: they are kept or reset, but never taken");
    }
}
END_TEST

static const struct keyed_fields waiting = {
    .priority = 1,
    .run_at = 5000,
    .due = 5001,
    .timeout = 11,
    .max_attempts = 12,
    .max_stalls = 13,
};

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
    for (size_t i = 0; i < COUNT_OF(merge_vectors) * MERGE_FLAGS; i++) {
        const struct keyed_flags flags =
            merge_flags(&merge_vectors[i / MERGE_FLAGS], (int)(i % MERGE_FLAGS));
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

static const struct {
    const char *name;
    enum update_run_at when;
} policies[] = {
    {"always", UPDATE_RUN_AT_ALWAYS},
    {"never", UPDATE_RUN_AT_NEVER},
    {"if_earlier", UPDATE_RUN_AT_IF_EARLIER},
    {"if_later", UPDATE_RUN_AT_IF_LATER},
};

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
    keyed_merge(&merge_waiting, &merge_newcomer, flags);
}
END_TEST

Suite *keyed_suite(void)
{
    Suite *suite = suite_create("job/keyed");
    TCase *merge = pure_case("merge");
    TCase *flags = pure_case("flags");
    TCase *bugs = tcase_create("bugs");

    tcase_add_loop_test(merge, a_waiting_job_takes_what_the_flags_say_and_keeps_the_rest, 0,
                        COUNT_OF(merge_vectors));
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

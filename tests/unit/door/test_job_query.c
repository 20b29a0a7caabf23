/*
 * test_job_query.c - which jobs somebody asks for: as it was written, and as nobody wrote it.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "door/job_query.h"
#include "door/pack.h"
#include "job/state.h"
#include "suites.h"

#include <check.h>

static bool carry(const struct job_query *query, struct buffer *pack, struct job_query *query_out)
{
    struct error err;

    job_query_pack(pack, query);
    struct unpack unpack =
        unpack_begin((struct bytes){(const unsigned char *)pack->data, pack->length});
    *query_out = job_query_unpack(&unpack);
    return unpack_end(&unpack, "a query", &err);
}

START_TEST(a_query_arrives_as_it_was_written)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(4096);
    struct job_query got;
    const struct job_query query = {
        .state = JOB_DEAD,
        .queue = "q",
        .tag = "t",
        .error = "e",
        .since = 1,
        .until = TIMESTAMP_MAX,
        .order = JOB_QUERY_OLDEST_FIRST,
        .limit = 7,
        .after = "abc",
        .full = true,
        .form = JOB_QUERY_CSV,
    };

    ck_assert(carry(&query, &pack, &got));
    ck_assert_int_eq(got.state, JOB_DEAD);
    ck_assert_str_eq(got.queue, "q");
    ck_assert_ptr_null(got.type);
    ck_assert_str_eq(got.tag, "t");
    ck_assert_ptr_null(got.key);
    ck_assert_str_eq(got.error, "e");
    ck_assert_int_eq(got.since, 1);
    ck_assert_int_eq(got.until, TIMESTAMP_MAX);
    ck_assert_int_eq(got.order, JOB_QUERY_OLDEST_FIRST);
    ck_assert_int_eq(got.limit, 7);
    ck_assert_str_eq(got.after, "abc");
    ck_assert(got.full);
    ck_assert_int_eq(got.form, JOB_QUERY_CSV);
}
END_TEST

static const struct job_query wrong[] = {
    {.state = JOB_STATES, .limit = 1},
    {.state = -2, .limit = 1},
    {.limit = 0},
    {.limit = JOB_QUERY_LIMIT_MAX + 1},
    {.limit = 1, .since = -1},
    {.limit = 1, .until = TIMESTAMP_MAX + 1},
    {.limit = 1, .order = 2},
    {.limit = 1, .form = JOB_QUERY_FORMS},
};

START_TEST(what_no_door_of_ours_sends_is_refused)
{
    CLEANUP(buffer_done) struct buffer pack = BUFFER(4096);
    struct job_query got;

    ck_assert(!carry(&wrong[_i], &pack, &got));
}
END_TEST

START_TEST(a_position_has_its_length_and_its_digits)
{
    char after[JOB_QUERY_AFTER_LENGTH + 2] = "";

    for (size_t i = 0; i < JOB_QUERY_AFTER_LENGTH; i++) {
        ck_assert(!job_query_after_is_fine(after));
        after[i] = 'a';
    }
    ck_assert(job_query_after_is_fine(after));
    after[3] = 'A';
    ck_assert(!job_query_after_is_fine(after));
    after[3] = '0';
    after[JOB_QUERY_AFTER_LENGTH] = '0';
    ck_assert(!job_query_after_is_fine(after));
}
END_TEST

Suite *job_query_suite(void)
{
    Suite *suite = suite_create("door/job_query");
    TCase *queries = pure_case("queries");

    tcase_add_test(queries, a_query_arrives_as_it_was_written);
    tcase_add_loop_test(queries, what_no_door_of_ours_sends_is_refused, 0, COUNT_OF(wrong));
    tcase_add_test(queries, a_position_has_its_length_and_its_digits);
    suite_add_tcase(suite, queries);
    return suite;
}

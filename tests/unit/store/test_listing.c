#include "store/listing.h"

#include "suites.h"

#include <string.h>

#define AT ((usec_t)1893553445123456)

static struct job job_in(enum job_state state, int64_t executions)
{
    return (struct job){
        .state = state,
        .executions = executions,
        .due = AT + 1,
        .started_at = AT + 2,
        .ended_at = AT + 3,
        .ref = 7,
    };
}

static struct job_filter filter_by(enum job_state state)
{
    return (struct job_filter){.by_state = true, .state = state};
}

static const struct {
    enum job_state state;
    usec_t time;
} times[] = {
    {JOB_SCHEDULED, AT + 1}, {JOB_READY, AT + 1}, {JOB_BLOCKED, AT + 1}, {JOB_RETRY, AT + 1},
    {JOB_RUNNING, AT + 2},   {JOB_DONE, AT + 3},  {JOB_DEAD, AT + 3},    {JOB_CANCELLED, AT + 3},
};

START_TEST(a_list_goes_by_the_time_of_its_state)
{
    struct job_filter filter = filter_by(times[_i].state);
    struct job job = job_in(times[_i].state, 1);
    struct job_cursor cursor = listing_cursor(&filter, &job);

    ck_assert_int_eq(listing_time(&filter, &job), times[_i].time);
    ck_assert_int_eq(cursor.at, times[_i].time);
    ck_assert_int_eq(cursor.ref, 7);
    ck_assert(cursor.is_set);
}
END_TEST

START_TEST(without_a_state_or_with_a_tag_the_time_is_that_of_the_id)
{
    struct job_filter filter = _i == 0 ? (struct job_filter){0} : filter_by(JOB_DEAD);
    struct uuid_maker maker = {0};
    struct job job = {.id = uuid_make(&maker, AT), .ref = 7};

    filter.tag = _i == 0 ? NULL : "mail";
    struct job_cursor cursor = listing_cursor(&filter, &job);
    ck_assert_int_eq(listing_time(&filter, &job), AT / 1000 * 1000);
    ck_assert_int_eq(cursor.at, 0);
    ck_assert_int_eq(cursor.ref, 0);
    ck_assert_mem_eq(&cursor.id, &job.id, sizeof job.id);
}
END_TEST

START_TEST(a_tag_is_one_of_the_jobs_and_beside_it_no_index_serves_the_state)
{
    struct job job = job_in(JOB_DEAD, 1);
    struct job_filter filter = {.tag = "mail"};

    job.tags = (struct tags){(const char *const[]){"urgent", "mail"}, 2};
    ck_assert(listing_matches(&filter, &job));
    ck_assert(!listing_is_picky(&filter));
    filter.by_state = true;
    filter.state = JOB_READY;
    ck_assert(listing_is_picky(&filter));
    ck_assert(!listing_matches(&filter, &job));
    filter.state = JOB_DEAD;
    ck_assert(listing_matches(&filter, &job));
    filter.tag = "mails";
    ck_assert(!listing_matches(&filter, &job));
}
END_TEST

START_TEST(since_is_in_and_until_is_not)
{
    struct job_filter filter = filter_by(JOB_DONE);
    struct job job = job_in(JOB_DONE, 1);

    job.queue = job.type = "x";
    filter.since = AT + 3;
    ck_assert(listing_matches(&filter, &job));
    filter.since = AT + 4;
    ck_assert(!listing_matches(&filter, &job));
    filter.since = 0;
    filter.until = AT + 3;
    ck_assert(!listing_matches(&filter, &job));
    filter.until = AT + 4;
    ck_assert(listing_matches(&filter, &job));
}
END_TEST

START_TEST(a_range_ends_at_what_has_been_seen)
{
    struct job_filter filter = filter_by(JOB_DONE);

    filter.since = AT;
    filter.until = AT + 10;
    filter.after = (struct job_cursor){.is_set = true, .at = AT + 4, .ref = 9};
    filter.oldest_first = true;
    struct listing_range range = listing_range_of(&filter);
    ck_assert_int_eq(range.low_at, AT + 4);
    ck_assert_int_eq(range.low_ref, 9);
    ck_assert_int_eq(range.high_at, AT + 10);
    ck_assert_int_eq(range.high_ref, 0);
    filter.oldest_first = false;
    range = listing_range_of(&filter);
    ck_assert_int_eq(range.low_at, AT);
    ck_assert_int_eq(range.low_ref, 0);
    ck_assert_int_eq(range.high_at, AT + 4);
    ck_assert_int_eq(range.high_ref, 9);
}
END_TEST

START_TEST(a_cursor_from_outside_the_bounds_does_not_widen_them)
{
    struct job_filter filter = filter_by(JOB_DONE);

    filter.since = AT;
    filter.until = AT + 10;
    filter.after = (struct job_cursor){.is_set = true, .at = AT - 4, .ref = 9};
    filter.oldest_first = true;
    ck_assert_int_eq(listing_range_of(&filter).low_at, AT);
    filter.oldest_first = false;
    filter.after.at = AT + 40;
    ck_assert_int_eq(listing_range_of(&filter).high_at, AT + 10);
}
END_TEST

static const struct {
    const char *rule;
    enum job_state listed, found;
    int64_t executions;
    bool known;
} places[] = {
    {"still there", JOB_READY, JOB_READY, 3, true},
    {"promoted, its due is the same", JOB_SCHEDULED, JOB_READY, 0, true},
    {"reserved", JOB_READY, JOB_RUNNING, 1, true},
    {"ended", JOB_READY, JOB_DONE, 1, true},
    {"it waits for another try, at another time", JOB_READY, JOB_RETRY, 1, false},
    {"it ran again, and may have waited for it", JOB_READY, JOB_DONE, 2, false},
    {"running, still", JOB_RUNNING, JOB_RUNNING, 2, true},
    {"running, and now it has ended", JOB_RUNNING, JOB_DONE, 2, false},
    {"dead, and now it waits again", JOB_DEAD, JOB_READY, 2, false},
    {"dead, still", JOB_DEAD, JOB_DEAD, 2, true},
};

START_TEST(the_place_of_a_job_that_moved_is_known_or_not)
{
    struct job_filter filter = filter_by(places[_i].listed);
    struct job job = job_in(places[_i].found, places[_i].executions);
    struct job_cursor cursor;

    ck_assert_msg(listing_find(&filter, &job, &cursor) == places[_i].known, "%s", places[_i].rule);
}
END_TEST

START_TEST(a_cursor_survives_as_text)
{
    struct job_cursor cursor = {.is_set = true, .at = AT, .ref = -1}, read = {0};
    char text[LISTING_CURSOR_SIZE];

    memset(&cursor.id, 0xab, sizeof cursor.id);
    ck_assert(listing_parse_cursor(listing_format_cursor(&cursor, text), &read));
    ck_assert(read.is_set);
    ck_assert_int_eq(read.at, AT);
    ck_assert_int_eq(read.ref, -1);
    ck_assert_mem_eq(&read.id, &cursor.id, sizeof read.id);
}
END_TEST

static const char *const no_cursors[] = {
    "x",
    "0193f0a2-7c1d-7abc-8def-0123456789ab",
    "00000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000g00",
};

START_TEST(what_is_no_cursor_is_refused)
{
    struct job_cursor read;

    ck_assert(!listing_parse_cursor(no_cursors[_i], &read));
}
END_TEST

Suite *listing_suite(void)
{
    Suite *suite = suite_create("store/listing");
    TCase *order = tcase_create("order");
    TCase *cursors = tcase_create("cursors");

    tcase_add_loop_test(order, a_list_goes_by_the_time_of_its_state, 0, (int)COUNT_OF(times));
    tcase_add_loop_test(order, without_a_state_or_with_a_tag_the_time_is_that_of_the_id, 0, 2);
    tcase_add_test(order, a_tag_is_one_of_the_jobs_and_beside_it_no_index_serves_the_state);
    tcase_add_test(order, since_is_in_and_until_is_not);
    tcase_add_test(order, a_range_ends_at_what_has_been_seen);
    tcase_add_test(order, a_cursor_from_outside_the_bounds_does_not_widen_them);
    suite_add_tcase(suite, order);

    tcase_add_loop_test(cursors, the_place_of_a_job_that_moved_is_known_or_not, 0,
                        (int)COUNT_OF(places));
    tcase_add_test(cursors, a_cursor_survives_as_text);
    tcase_add_loop_test(cursors, what_is_no_cursor_is_refused, 0, (int)COUNT_OF(no_cursors));
    suite_add_tcase(suite, cursors);
    return suite;
}

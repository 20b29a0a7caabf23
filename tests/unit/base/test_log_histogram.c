/*
 * test_log_histogram.c - durations in buckets that can be added.
 */
#include "base/log_histogram.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json_writer.h"
#include "suites.h"

#include <string.h>

static const struct {
    const char *rule;
    usec_t duration;
    size_t bucket;
} places[] = {
    {"what took no time is the first", 0, 0},
    {"and so is what cannot be", -5, 0},
    {"short ones have a bucket each", 15, 15},
    {"then two share one", 16, 16},
    {"up to the next", 17, 16},
    {"which is another", 18, 17},
    {"each doubling has eight", 32, 24},
    {"a second", USEC_PER_SEC, 143},
    {"the last that is told apart", ((usec_t)1 << 40) - 1, LOG_HISTOGRAM_BUCKETS - 1},
    {"and all above", USEC_MAX, LOG_HISTOGRAM_BUCKETS - 1},
};

START_TEST(a_duration_belongs_to_a_bucket)
{
    const size_t bucket = log_histogram_bucket(places[_i].duration);

    ck_assert_msg(bucket == places[_i].bucket, "%s, not %zu", places[_i].rule, bucket);
}
END_TEST

START_TEST(buckets_follow_the_durations_and_none_is_left_out)
{
    size_t before = 0;

    for (usec_t duration = 1; duration < (usec_t)1 << 40; duration += duration / 64 + 1) {
        const size_t bucket = log_histogram_bucket(duration);

        ck_assert_msg(bucket == before || bucket == before + 1, "at %lld", (long long)duration);
        before = bucket;
    }
}
END_TEST

START_TEST(what_is_read_is_wrong_by_a_sixteenth_at_most)
{
    for (usec_t duration = 1; duration < (usec_t)1 << 40; duration += duration / 64 + 1) {
        struct log_histogram one = {{0}};

        log_histogram_add(&one, duration);
        const usec_t read = log_histogram_percentile(&one, 0.5);
        const usec_t error = read > duration ? read - duration : duration - read;

        ck_assert_msg(error <= duration / 16 + 1, "%lld for %lld", (long long)read,
                      (long long)duration);
    }
}
END_TEST

static const struct {
    const char *rule;
    double share;
    usec_t expected;
} shares[] = {
    {"half of them took no longer than the fifth", 0.5, 5},
    {"a share between two goes up", 0.55, 6},
    {"none is the shortest", 0, 1},
    {"all is the longest", 1, 10},
};

START_TEST(a_percentile_is_the_duration_that_so_many_do_not_exceed)
{
    struct log_histogram ten = {{0}};

    for (usec_t i = 1; i <= 10; i++)
        log_histogram_add(&ten, i);
    const usec_t read = log_histogram_percentile(&ten, shares[_i].share);

    ck_assert_msg(read == shares[_i].expected, "%s, not %lld", shares[_i].rule, (long long)read);
}
END_TEST

START_TEST(nothing_has_no_percentile)
{
    const struct log_histogram none = {{0}};

    ck_assert_int_eq(log_histogram_percentile(&none, 0.5), -1);
}
END_TEST

START_TEST(those_of_two_are_added_not_averaged)
{
    struct log_histogram fast = {{0}}, slow = {{0}};

    for (int i = 0; i < 98; i++)
        log_histogram_add(&fast, 10);
    for (int i = 0; i < 2; i++)
        log_histogram_add(&slow, 15);
    log_histogram_merge(&fast, &slow);
    ck_assert_uint_eq(log_histogram_count(&fast), 100);
    ck_assert_int_eq(log_histogram_percentile(&fast, 0.98), 10);
    ck_assert_int_eq(log_histogram_percentile(&fast, 0.99), 15);
}
END_TEST

static void expect_text(const struct log_histogram *histogram, const char *expected)
{
    CLEANUP(buffer_done) struct buffer out = BUFFER(4096);
    struct json_writer json = {.out = &out};

    log_histogram_write(histogram, NULL, &json);
    ck_assert_str_eq(buffer_str(&out), expected);
}

static struct log_histogram read_text(const char *text)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct log_histogram read;

    log_histogram_read((struct bytes){(const unsigned char *)text, strlen(text)}, &arena, &read);
    return read;
}

static const struct {
    const char *rule, *text, *kept;
} texts[] = {
    {"what was written is read", "[41,3,0,7]", "[41,3,0,7]"},
    {"also at both ends", "[0,1,302,2]", "[0,1,302,2]"},
    {"nothing is nothing", "[]", "[]"},
    {"there is no bucket behind the last", "[0,1,303,2]", "[0,1]"},
    {"a number is not missing", "[5,1,2]", "[5,1]"},
    {"none goes back", "[5,1,-2,3,0,4]", "[5,1]"},
    {"none is negative", "[5,1,0,-3]", "[5,1]"},
    {"none is so high that sums overflow", "[5,9223372036854775807]", "[]"},
    {"none is a text", "[5,\"1\"]", "[]"},
    {"another version may have something else there", "{\"buckets\":[]}", "[]"},
};

START_TEST(a_list_is_read_as_far_as_it_makes_sense)
{
    const struct log_histogram read = read_text(texts[_i].text);

    expect_text(&read, texts[_i].kept);
}
END_TEST

Suite *log_histogram_suite(void)
{
    Suite *suite = suite_create("base/log_histogram");
    TCase *buckets = pure_case("buckets");
    TCase *json = pure_case("json");

    tcase_add_loop_test(buckets, a_duration_belongs_to_a_bucket, 0, COUNT_OF(places));
    tcase_add_test(buckets, buckets_follow_the_durations_and_none_is_left_out);
    tcase_add_test(buckets, what_is_read_is_wrong_by_a_sixteenth_at_most);
    tcase_add_loop_test(buckets, a_percentile_is_the_duration_that_so_many_do_not_exceed, 0,
                        COUNT_OF(shares));
    tcase_add_test(buckets, nothing_has_no_percentile);
    tcase_add_test(buckets, those_of_two_are_added_not_averaged);
    tcase_add_loop_test(json, a_list_is_read_as_far_as_it_makes_sense, 0, COUNT_OF(texts));
    suite_add_tcase(suite, buckets);
    suite_add_tcase(suite, json);
    return suite;
}

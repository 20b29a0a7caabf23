#include "thctl/top_room.h"

#include "suites.h"

#define PARTS 4

static const struct {
    const char *rule;
    size_t lines;
    size_t wanted[PARTS], given[PARTS];
} shares[] = {
    {"enough is enough", 20, {1, 2, 3, 4}, {1, 2, 3, 4}},
    {"exactly enough too", 10, {1, 2, 3, 4}, {1, 2, 3, 4}},
    {"nothing to share is nothing for all", 0, {1, 2, 3, 4}, {0, 0, 0, 0}},
    {"who wants little gets it", 17, {2, 100, 4, 100}, {2, 6, 4, 5}},
    {"who wants nothing gets nothing", 9, {0, 100, 0, 0}, {0, 9, 0, 0}},
    {"the first ones get the odd lines", 6, {9, 9, 9, 9}, {2, 2, 1, 1}},
    {"the last one goes without where there is too little", 3, {1, 1, 1, 1}, {1, 1, 1, 0}},
};

START_TEST(lines_are_shared_fairly)
{
    size_t given[PARTS];

    top_room_share(shares[_i].lines, shares[_i].wanted, given, PARTS);
    for (int i = 0; i < PARTS; i++)
        ck_assert_msg(given[i] == shares[_i].given[i], "%s: part %d has %zu", shares[_i].rule, i,
                      given[i]);
}
END_TEST

/* As the header says it, for all wishes of up to six lines. */
START_TEST(nobody_goes_short_while_another_has_two_more)
{
    for (size_t wish = 0; wish < 7 * 7 * 7; wish++) {
        const size_t wanted[] = {wish % 7, wish / 7 % 7, wish / 49};
        size_t given[3];

        top_room_share((size_t)_i, wanted, given, 3);
        ck_assert_uint_le(given[0] + given[1] + given[2], (size_t)_i);
        for (int i = 0; i < 3; i++) {
            ck_assert_uint_le(given[i], wanted[i]);
            for (int j = 0; j < 3 && given[i] < wanted[i]; j++)
                ck_assert_uint_le(given[j], given[i] + 1);
        }
    }
}
END_TEST

static const struct {
    const char *rule;
    size_t asked, rows, lines, first;
} firsts[] = {
    {"the row asked for", 3, 20, 5, 3},
    {"but no empty lines at the end", 18, 20, 5, 15},
    {"the end is as far as it goes", SIZE_MAX / 2, 20, 5, 15},
    {"what fits starts at the start", 3, 5, 5, 0},
    {"also what became less", 3, 2, 5, 0},
    {"nothing has no rows", 7, 0, 5, 0},
    {"without lines it is the place that is kept", 3, 5, 0, 3},
};

START_TEST(scrolling_ends_at_the_last_row)
{
    size_t first = top_room_first(firsts[_i].asked, firsts[_i].rows, firsts[_i].lines);

    ck_assert_msg(first == firsts[_i].first, "%s: %zu", firsts[_i].rule, first);
}
END_TEST

Suite *top_room_suite(void)
{
    Suite *suite = suite_create("thctl/top_room");
    TCase *room = pure_case("room");

    tcase_add_loop_test(room, lines_are_shared_fairly, 0, COUNT_OF(shares));
    tcase_add_loop_test(room, nobody_goes_short_while_another_has_two_more, 0, 20);
    tcase_add_loop_test(room, scrolling_ends_at_the_last_row, 0, COUNT_OF(firsts));
    suite_add_tcase(suite, room);
    return suite;
}

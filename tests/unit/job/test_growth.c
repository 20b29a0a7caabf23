#include "job/growth.h"

#include "suites.h"

#include <string.h>

#define LINE "0123456789abcdef" /* as long as an overlap has to be */

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const unsigned char *)text, text ? strlen(text) : 0};
}

static const struct {
    const char *rule;
    const char *before, *after; /* NULL: absent */
    const char *news;
    bool lost;
} growths[] = {
    {"nothing is no news", NULL, NULL, "", false},
    {"the first look has all", NULL, "abc", "abc", false},
    {"also when what was there was empty", "", "abc", "abc", false},
    {"the same is no news", "abc", "abc", "", false},
    {"what was added is", "abc", "abcdef", "def", false},
    {"a tail that moved on goes on where it was", "x" LINE, LINE "new", "new", false},
    {"also if the old one is the longer one", "xyz" LINE LINE, LINE LINE "n", "n", false},
    {"repetition counts as little as it can", LINE LINE, LINE LINE LINE, LINE, false},
    {"a tail that moved further lost something", "abc" LINE, "def" LINE, "def" LINE, true},
    {"a few bytes that agree are a coincidence", LINE "the end\n", "the end\nof another",
     "the end\nof another", true},
    {"unless there are no more", "the end\n", "the end\nof another", "of another", false},
    {"but then all of them have to agree", "an end\n", "end\nof another", "end\nof another", true},
    {"a longer tail may begin before the one that was seen", LINE "x", "before" LINE "xnew", "new",
     false},
    {"of repetition within it the last counts", LINE "x", "y" LINE "xy" LINE "xnew", "new", false},
    {"a few bytes within it are a coincidence", "the end\n", "at the end\nof it",
     "at the end\nof it", true},
    {"a tail that became short is another one", LINE LINE, "abc", "abc", true},
    {"output that is gone is no news", "abc", NULL, "", false},
};

START_TEST(what_was_not_seen_is_new)
{
    bool lost = !growths[_i].lost;
    struct bytes news =
        growth_since(bytes_of(growths[_i].before), bytes_of(growths[_i].after), &lost);

    ck_assert_msg(news.length == strlen(growths[_i].news) &&
                      (news.length == 0 || memcmp(news.data, growths[_i].news, news.length) == 0),
                  "%s, not '%.*s'", growths[_i].rule, (int)news.length, (const char *)news.data);
    ck_assert_msg(lost == growths[_i].lost, "%s", growths[_i].rule);
}
END_TEST

/* Every window of a stream that does not repeat itself, seen after every other one. */
START_TEST(windows_of_one_stream_put_it_together_again)
{
    enum { STREAM = 200, WINDOW = 64, MIN = 16 };
    unsigned char stream[STREAM];

    for (int i = 0; i < STREAM; i++)
        stream[i] = (unsigned char)i;
    for (size_t first = 1; first <= STREAM; first++) {
        for (size_t second = first; second <= STREAM; second++) {
            size_t from = first > WINDOW ? first - WINDOW : 0;
            size_t to = second > WINDOW ? second - WINDOW : 0;
            size_t common = first > to ? first - to : 0;
            bool found = common >= MIN || (common > 0 && common == first - from);
            bool lost;
            struct bytes news = growth_since((struct bytes){stream + from, first - from},
                                             (struct bytes){stream + to, second - to}, &lost);

            ck_assert_int_eq(lost, !found);
            ck_assert_ptr_eq(news.data + news.length, stream + second);
            ck_assert_uint_eq(news.length, found ? second - first : second - to);
        }
    }
}
END_TEST

Suite *growth_suite(void)
{
    Suite *suite = suite_create("job/growth");
    TCase *growth = pure_case("growth");

    tcase_add_loop_test(growth, what_was_not_seen_is_new, 0, COUNT_OF(growths));
    tcase_add_test(growth, windows_of_one_stream_put_it_together_again);
    suite_add_tcase(suite, growth);
    return suite;
}

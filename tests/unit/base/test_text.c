/*
 * test_text.c - small questions about text.
 */
#include "base/text.h"
#include "suites.h"

#include <string.h>

#define BYTES(text)                                                                                \
    {                                                                                              \
        (const unsigned char *)(text), sizeof(text) - 1                                            \
    }

START_TEST(text_equals_the_same_text_and_null_only_null)
{
    char copy[] = "abc";

    ck_assert(text_equal("abc", copy));
    ck_assert(!text_equal("abc", "abcd"));
    ck_assert(!text_equal("abc", "ABC"));
    ck_assert(text_equal(NULL, NULL));
    ck_assert(!text_equal(NULL, ""));
    ck_assert(!text_equal("", NULL));
}
END_TEST

START_TEST(a_text_starts_with_its_beginnings)
{
    ck_assert(text_starts_with("redis://host", "redis:"));
    ck_assert(text_starts_with("abc", "abc"));
    ck_assert(text_starts_with("abc", ""));
    ck_assert(text_starts_with("", ""));
    ck_assert(!text_starts_with("abc", "abcd"));
    ck_assert(!text_starts_with("abc", "b"));
    ck_assert(!text_starts_with("abc", "AB"));
}
END_TEST

START_TEST(blank_is_nothing_to_see)
{
    ck_assert(text_is_blank(NULL));
    ck_assert(text_is_blank(""));
    ck_assert(text_is_blank(" \t\n\v\f\r"));
    ck_assert(!text_is_blank(" x "));
    ck_assert(!text_is_blank("\xC2\xA0"));
}
END_TEST

static struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const unsigned char *)text, strlen(text)};
}

static const struct {
    const char *rule;
    struct bytes bytes;
    size_t first; /* the length of the first character, 0: none */
    bool all;
} utf8[] = {
    {"nothing", BYTES(""), 0, true},
    {"absent bytes", {NULL, 0}, 0, true},
    {"ASCII", BYTES("abc"), 1, true},
    {"NUL", BYTES("\0"), 1, true},
    {"DEL", BYTES("\x7f"), 1, true},
    {"the first of two bytes", BYTES("\xC2\x80"), 2, true},
    {"the last of two bytes", BYTES("\xDF\xBF"), 2, true},
    {"the first of three bytes", BYTES("\xE0\xA0\x80"), 3, true},
    {"the last before the surrogates", BYTES("\xED\x9F\xBF"), 3, true},
    {"the first after the surrogates", BYTES("\xEE\x80\x80"), 3, true},
    {"the last of three bytes", BYTES("\xEF\xBF\xBF"), 3, true},
    {"the first of four bytes", BYTES("\xF0\x90\x80\x80"), 4, true},
    {"the last of all", BYTES("\xF4\x8F\xBF\xBF"), 4, true},
    {"a mixture", BYTES("\xC3\xA9z\xE2\x82\xAC\xF0\x9F\x9A\xA2"), 2, true},
    {"a continuation alone", BYTES("\x80"), 0, false},
    {"the last continuation alone", BYTES("\xBF"), 0, false},
    {"NUL in two bytes", BYTES("\xC0\x80"), 0, false},
    {"DEL in two bytes", BYTES("\xC1\xBF"), 0, false},
    {"two bytes as three", BYTES("\xE0\x9F\xBF"), 0, false},
    {"the first surrogate", BYTES("\xED\xA0\x80"), 0, false},
    {"the last surrogate", BYTES("\xED\xBF\xBF"), 0, false},
    {"three bytes as four", BYTES("\xF0\x8F\xBF\xBF"), 0, false},
    {"one more than the last", BYTES("\xF4\x90\x80\x80"), 0, false},
    {"a first byte too high", BYTES("\xF5\x80\x80\x80"), 0, false},
    {"a byte that never occurs", BYTES("\xFF"), 0, false},
    {"two bytes cut off", BYTES("\xC3"), 0, false},
    {"three bytes cut off", BYTES("\xE2\x82"), 0, false},
    {"four bytes cut off", BYTES("\xF0\x9F\x9A"), 0, false},
    {"a second byte that does not continue", BYTES("\xC3z"), 0, false},
    {"a second byte that begins anew", BYTES("\xC3\xC3"), 0, false},
    {"a third byte that does not continue", BYTES("\xE2\x82z"), 0, false},
    {"a fourth byte that does not continue", BYTES("\xF0\x9F\x9Az"), 0, false},
    {"a fault after a character", BYTES("a\xFF"), 1, false},
};

START_TEST(utf8_is_told_from_other_bytes)
{
    ck_assert_msg(text_is_utf8(utf8[_i].bytes) == utf8[_i].all, "%s", utf8[_i].rule);
    ck_assert_msg(text_character_length(utf8[_i].bytes) == utf8[_i].first, "%s", utf8[_i].rule);
}
END_TEST

static const struct {
    const char *rule;
    const char *text;
    size_t most, fits;
} cuts[] = {
    {"all of it", "abc", 10, 3},
    {"what there is room for", "abc", 2, 2},
    {"nothing", "abc", 0, 0},
    {"no half of a character", "a\xc3\xa9", 2, 1},
    {"a whole one", "a\xc3\xa9", 3, 3},
    {"nothing from what is none on",
     "a\xff"
     "b",
     10, 1},
};

START_TEST(a_text_is_cut_between_characters)
{
    ck_assert_msg(text_fit(cuts[_i].text, cuts[_i].most) == cuts[_i].fits, "%s", cuts[_i].rule);
}
END_TEST

static const struct {
    const char *rule;
    const char *text;
    int64_t min, max;
    bool fits;
    int64_t value;
} numbers[] = {
    {"a number", "42", 0, 100, true, 42},
    {"zero", "0", 0, 100, true, 0},
    {"a negative one", "-42", -100, 100, true, -42},
    {"zeros in front", "007", 0, 100, true, 7},
    {"the least", "-5", -5, 5, true, -5},
    {"the most", "5", -5, 5, true, 5},
    {"below the least", "-6", -5, 5, false, 0},
    {"above the most", "6", -5, 5, false, 0},
    {"the largest of all", "9223372036854775807", INT64_MIN, INT64_MAX, true, INT64_MAX},
    {"the smallest of all", "-9223372036854775808", INT64_MIN, INT64_MAX, true, INT64_MIN},
    {"one more than the largest", "9223372036854775808", INT64_MIN, INT64_MAX, false, 0},
    {"one less than the smallest", "-9223372036854775809", INT64_MIN, INT64_MAX, false, 0},
    {"nothing", "", INT64_MIN, INT64_MAX, false, 0},
    {"only a minus", "-", INT64_MIN, INT64_MAX, false, 0},
    {"two minuses", "--1", INT64_MIN, INT64_MAX, false, 0},
    {"a plus", "+1", INT64_MIN, INT64_MAX, false, 0},
    {"a space in front", " 1", INT64_MIN, INT64_MAX, false, 0},
    {"a space after the minus", "- 1", INT64_MIN, INT64_MAX, false, 0},
    {"a space after", "1 ", INT64_MIN, INT64_MAX, false, 0},
    {"a letter after", "1x", INT64_MIN, INT64_MAX, false, 0},
    {"a hexadecimal number", "0x10", INT64_MIN, INT64_MAX, false, 0},
    {"a fraction", "1.0", INT64_MIN, INT64_MAX, false, 0},
};

START_TEST(only_a_whole_number_in_range_is_one)
{
    int64_t value = 99;
    const bool fits = text_to_int(numbers[_i].text, numbers[_i].min, numbers[_i].max, &value);

    ck_assert_msg(fits == numbers[_i].fits, "%s", numbers[_i].rule);
    ck_assert_int_eq(value, fits ? numbers[_i].value : 99);
}
END_TEST

static const char *const commands[] = {
    "enqueue", "cancel", "retry", "pause", "pools", "worker", "ls", "num_workers", "max_payload",
};

#define LONG_WORD                                                                                  \
    "0123456789012345678901234567890123456789012345678901234567890123456789"                       \
    "0123456789012345678901234567890123456789012345678901234567890123456789"

static const struct {
    const char *rule;
    const char *word;
    const char *meant; /* NULL: nothing is close */
} words[] = {
    {"the word itself", "retry", "retry"},
    {"other case", "ReTry", "retry"},
    {"a letter left out", "enqeue", "enqueue"},
    {"a letter too many", "canccel", "cancel"},
    {"a wrong letter", "pauze", "pause"},
    {"two neighbours swapped are one mistake", "rerty", "retry"},
    {"the first two swapped", "apuse", "pause"},
    {"a short word may have one mistake", "retri", "retry"},
    {"but not two", "retii", NULL},
    {"a letter moved and one replaced", "retyx", NULL},
    {"one replaced and a letter moved", "retxr", NULL},
    {"the shortest word may have one mistake", "lx", "ls"},
    {"six letters may have two", "kancal", "cancel"},
    {"but not three", "kanzal", NULL},
    {"eleven may have three", "nam_warkars", "num_workers"},
    {"but not four", "nam-warkars", NULL},
    {"fewer mistakes are closer", "paose", "pause"},
    {"the start of one word", "work", "worker"},
    {"the start of the first word", "enq", "enqueue"},
    {"the start in other case", "NUM", "num_workers"},
    {"the start of two words", "p", NULL},
    {"a word and more", "max_payload_size", "max_payload"},
    {"nothing like it", "frobnicate", NULL},
    {"nothing", "", NULL},
    {"blank", " ", NULL},
    {"a very long word", LONG_WORD, NULL},
    {"a very long word with a known start", "retry" LONG_WORD, "retry"},
};

START_TEST(the_closest_word_is_found)
{
    const char *closest = text_closest(words[_i].word, commands, COUNT_OF(commands));

    ck_assert_msg(text_equal(closest, words[_i].meant), "%s: '%s' is %s, not %s", words[_i].rule,
                  words[_i].word, words[_i].meant, closest);
}
END_TEST

START_TEST(of_several_close_words_the_one_with_fewest_mistakes_wins)
{
    static const char *const queues[] = {"cancelled", "cancel", "cancels", "cancer"};

    ck_assert_str_eq(text_closest("cancl", queues, COUNT_OF(queues)), "cancel");
    ck_assert_str_eq(text_closest("cancelx", queues, COUNT_OF(queues)), "cancel");
    ck_assert_str_eq(text_closest("cancell", queues, COUNT_OF(queues)), "cancel");
    ck_assert_str_eq(text_closest("cancelle", queues, COUNT_OF(queues)), "cancelled");
}
END_TEST

START_TEST(no_candidates_are_not_close)
{
    static const char *const too_long[] = {LONG_WORD};

    ck_assert_ptr_null(text_closest("word", NULL, 0));
    ck_assert_ptr_null(text_closest("1", too_long, 1));
}
END_TEST

static const struct {
    const char *rule;
    const char *end;
    size_t whole;
} ends[] = {
    {"nothing is whole", "", 0},
    {"ASCII is whole", "abc", 3},
    {"a character of two bytes is", "caf\xc3\xa9", 5},
    {"half of it is not", "caf\xc3", 3},
    {"a character of three bytes is", "\xe2\x82\xac", 3},
    {"two thirds of it are not", "a\xe2\x82", 1},
    {"nor is one", "a\xe2", 1},
    {"a character of four bytes is", "\xf0\x9f\x9a\xa2", 4},
    {"three quarters of it are not", "a\xf0\x9f\x9a", 1},
    {"a byte that no character begins with waits for nothing", "a\xff", 2},
    {"nor do bytes that continue nothing", "a\x82\x82", 3},
    {"nor more of them than a character has", "\x82\x82\x82\x82", 4},
    {"nor a character with too much after it", "\xc3\xa9\xa9", 3},
    {"nothing but a beginning waits", "\xe2", 0},
};

START_TEST(half_a_character_at_the_end_is_left_out)
{
    struct bytes end = bytes_of(ends[_i].end);
    struct bytes whole = text_whole_end(end);

    ck_assert_ptr_eq(whole.data, end.data);
    ck_assert_msg(whole.length == ends[_i].whole, "%s: %zu", ends[_i].rule, whole.length);
}
END_TEST

static const struct {
    const char *rule;
    const char *text;
    size_t cut;
} starts[] = {
    {"nothing is whole", "", 0},
    {"ASCII is whole", "abc", 0},
    {"a character is whole", "\xe2\x82\xac", 0},
    {"the rest of one is not",
     "\x82\xac"
     "a",
     2},
    {"nor are three bytes of it",
     "\x9f\x9a\xa2"
     "a",
     3},
    {"a fourth is of no character", "\x82\x82\x82\x82", 3},
};

START_TEST(half_a_character_at_the_start_is_left_out)
{
    struct bytes text = bytes_of(starts[_i].text);
    struct bytes whole = text_whole_start(text);

    ck_assert_msg(whole.length == text.length - starts[_i].cut, "%s", starts[_i].rule);
    ck_assert_ptr_eq(whole.data + whole.length, text.data + text.length);
}
END_TEST

static const struct {
    const char *rule;
    const char *text;
    const char *line;
} last_lines[] = {
    {"nothing has no line", "", ""},
    {"nor has white space", " \n\t\n", ""},
    {"one line is the last", "exit code 1: boom", "exit code 1: boom"},
    {"an exception is at the end of its traceback",
     "exit code 1: Traceback (most recent call last):\n  File \"x.py\"\nValueError: bad",
     "ValueError: bad"},
    {"blank lines after it do not count", "one\n  two\t\n \n\n", "two"},
    {"a first line may be the last", "\n\none\n", "one"},
};

START_TEST(the_last_line_is_the_last_that_says_something)
{
    struct bytes line = text_last_line(last_lines[_i].text);

    ck_assert_msg(line.length == strlen(last_lines[_i].line) &&
                      memcmp(line.data, last_lines[_i].line, line.length) == 0,
                  "%s: %.*s", last_lines[_i].rule, (int)line.length, (const char *)line.data);
}
END_TEST

Suite *text_suite(void)
{
    Suite *suite = suite_create("base/text");
    TCase *questions = pure_case("questions");
    TCase *closest = pure_case("closest");

    tcase_add_test(questions, text_equals_the_same_text_and_null_only_null);
    tcase_add_test(questions, a_text_starts_with_its_beginnings);
    tcase_add_test(questions, blank_is_nothing_to_see);
    tcase_add_loop_test(questions, utf8_is_told_from_other_bytes, 0, COUNT_OF(utf8));
    tcase_add_loop_test(questions, a_text_is_cut_between_characters, 0, COUNT_OF(cuts));
    tcase_add_loop_test(questions, only_a_whole_number_in_range_is_one, 0, COUNT_OF(numbers));
    tcase_add_loop_test(questions, half_a_character_at_the_end_is_left_out, 0, COUNT_OF(ends));
    tcase_add_loop_test(questions, half_a_character_at_the_start_is_left_out, 0, COUNT_OF(starts));
    tcase_add_loop_test(questions, the_last_line_is_the_last_that_says_something, 0,
                        COUNT_OF(last_lines));
    suite_add_tcase(suite, questions);

    tcase_add_loop_test(closest, the_closest_word_is_found, 0, COUNT_OF(words));
    tcase_add_test(closest, of_several_close_words_the_one_with_fewest_mistakes_wins);
    tcase_add_test(closest, no_candidates_are_not_close);
    suite_add_tcase(suite, closest);
    return suite;
}

/*
 * test_shell_words.c - the first command in a text for the shell.
 */
#include "worker/shell_words.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "suites.h"

#include <string.h>

static const struct {
    const char *rule;
    const char *text;
    const char *words; /* with | between */
} texts[] = {
    {"words are what blanks divide", "python3 -u  report.py", "python3|-u|report.py"},
    {"leading blanks and lines are passed over", " \n\tcat", "cat"},
    {"a command ends where another begins", "cat|sort", "cat"},
    {"or with its line", "cat -\nsort", "cat|-"},
    {"or where its output goes", "cat >file", "cat"},
    {"or with a semicolon", "sort; cat", "sort"},
    {"exec is followed by the program", "exec ./run --all", "./run|--all"},
    {"a word that only the shell can tell ends what is read", "cat $FILE x", "cat"},
    {"a pattern does", "cat *.txt", "cat"},
    {"a quote does", "cat 'a b'", "cat"},
    {"and one that begins plainly, too", "cat a$B c", "cat"},
    {"nothing is known of a program in quotes", "'my program' x", ""},
    {"nor of one in a variable", "$PROGRAM x", ""},
    {"nor of one in a home", "~/run", ""},
    {"an assignment may change all", "A=1 run", ""},
    {"a function is none", "run() { true; }", ""},
    {"what the shell does itself is no program", "cd /tmp && run", ""},
    {"nor is a keyword", "if run; then cat; fi", ""},
    {"nor a group", "{ run; }", ""},
    {"nor a subshell", "(run)", ""},
    {"nor a comment", "# run\ncat", ""},
    {"nothing is nothing", "", ""},
};

START_TEST(the_first_command_is_read_as_far_as_it_is_plain)
{
    CLEANUP(arena_done) struct arena arena = {0};
    CLEANUP(buffer_done) struct buffer joined = BUFFER(256);
    const struct shell_words words = shell_words_read(texts[_i].text, &arena);

    for (size_t i = 0; i < words.count; i++)
        buffer_printf(&joined, "%s%s", i == 0 ? "" : "|", words.items[i]);
    ck_assert_msg(strcmp(buffer_str(&joined), texts[_i].words) == 0, "%s, not %s", texts[_i].rule,
                  buffer_str(&joined));
}
END_TEST

START_TEST(of_many_words_the_first_are_read)
{
    CLEANUP(arena_done) struct arena arena = {0};

    ck_assert_uint_eq(shell_words_read("a b c d e f g h i j k l m n o p q r s", &arena).count,
                      SHELL_WORDS_MAX);
}
END_TEST

Suite *shell_words_suite(void)
{
    Suite *suite = suite_create("worker/shell_words");
    TCase *read = pure_case("read");

    tcase_add_loop_test(read, the_first_command_is_read_as_far_as_it_is_plain, 0, COUNT_OF(texts));
    tcase_add_test(read, of_many_words_the_first_are_read);
    suite_add_tcase(suite, read);
    return suite;
}

/*
 * shell_words.c - the first command in a text for the shell.
 *
 * Errs on the side of silence: what is not plain is not read.
 */
#include "worker/shell_words.h"

#include "base/arena.h"
#include "base/text.h"

#include <string.h>

#define PLAIN  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@%+,-"
#define BLANKS " \t"
#define ENDS   "\n;&|<>" /* of a word, and of what is read */

/* What the shell does itself. Where there is a program of that name too, nobody misses it. */
static const char *const own[] = {
    ".",       ":",        "[",        "alias",   "bg",       "break",  "case",   "cd",
    "command", "continue", "echo",     "eval",    "exit",     "export", "false",  "fc",
    "fg",      "for",      "function", "getopts", "hash",     "if",     "jobs",   "kill",
    "local",   "printf",   "pwd",      "read",    "readonly", "return", "select", "set",
    "shift",   "test",     "time",     "times",   "trap",     "true",   "type",   "ulimit",
    "umask",   "unalias",  "unset",    "until",   "wait",     "while",
};

static bool is_own(const char *word)
{
    for (size_t i = 0; i < COUNT_OF(own); i++) {
        if (text_equal(own[i], word))
            return true;
    }
    return false;
}

struct shell_words shell_words_read(const char *text, struct arena *arena)
{
    struct shell_words words = {.count = 0};

    text += strspn(text, BLANKS "\n");
    while (words.count < SHELL_WORDS_MAX) {
        const size_t length = strspn(text, PLAIN);
        const char end = text[length];

        if (length == 0 || !strchr(BLANKS ENDS, end)) /* the end of the text is one, too */
            break;
        words.items[words.count++] = arena_text_of(arena, text, length);
        if (words.count == 1 && text_equal(words.items[0], "exec"))
            words.count = 0;
        text += length + strspn(text + length, BLANKS);
    }
    if (words.count > 0 && is_own(words.items[0]))
        words.count = 0;
    return words;
}

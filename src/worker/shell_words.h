/*
 * shell_words.h - the first command in a text for the shell, as far as it can be read without one.
 */
#ifndef WORKER_SHELL_WORDS_H
#define WORKER_SHELL_WORDS_H

#include "base/base.h"

struct arena;

#define SHELL_WORDS_MAX 16

/* Its words, up to the first that only the shell can tell: one with quotes, variables or patterns.
 * None when the text begins with such a word, or with what is the shell's own: a builtin, a
 * keyword, an assignment. `exec` is skipped. They live in the arena. */
struct shell_words {
    const char *items[SHELL_WORDS_MAX];
    size_t count;
};

struct shell_words shell_words_read(const char *text, struct arena *arena);

#endif

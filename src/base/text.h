/*
 * text.h - small questions about text.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/base.h"

bool text_equal(const char *a, const char *b); /* NULL equals only NULL */
bool text_starts_with(const char *text, const char *prefix);
bool text_is_blank(const char *text); /* NULL, empty, or only white space */
bool text_is_utf8(struct bytes bytes);

/* How many bytes the UTF-8 character has that `bytes` start with; 0 when there is none. */
size_t text_character_length(struct bytes bytes);

/* The code of the UTF-8 character that `bytes` start with; TEXT_NO_CHARACTER when there is none. */
#define TEXT_NO_CHARACTER UINT32_MAX
uint32_t text_code_point(struct bytes bytes);

/* Control characters, separators of lines, and marks that turn the direction of the text after
 * them: all that can make a terminal show something other than what was written. */
bool text_is_deceptive(uint32_t code);

/* How many bytes of a text fit into `most` without cutting a character in two. */
size_t text_fit(const char *text, size_t most);

/* Of a text that was cut somewhere: without the beginning of a character at its end, or without the
 * rest of one at its start. */
struct bytes text_whole_end(struct bytes bytes);
struct bytes text_whole_start(struct bytes bytes);

/* Its last line that is not blank, without the spaces around it; empty when there is none. */
struct bytes text_last_line(const char *text);

/* A whole decimal number within [min, max]; no sign but '-', no spaces, nothing after it. */
bool text_to_int(const char *text, int64_t min, int64_t max, int64_t *value_out) MUST_CHECK;

/* The candidate a typist most likely meant by `word`, or NULL when none is close. */
const char *text_closest(const char *word, const char *const *candidates, size_t count);

#endif

/*
 * display.h - text from anywhere, for a terminal: made harmless, measured, cut.
 *
 * What a producer or a handler wrote may hold escape sequences that move the cursor, or marks that
 * turn the direction of writing. A terminal is shown all of it and obeys none of it.
 */
#ifndef CLI_DISPLAY_H
#define CLI_DISPLAY_H

#include "base/base.h"

struct buffer;

/* A UTF-8 locale for the widths of characters; once, at the start. */
void display_init(void);

/* On one line: whatever is not printable becomes \n, \x1b or \u202e. */
void display_add(struct buffer *out, struct bytes text);
void display_add_text(struct buffer *out, const char *text);

/* The same, but lines stay lines, indented by `indent` spaces from the second on, and tabs stay
 * tabs. */
void display_add_lines(struct buffer *out, struct bytes text, size_t indent);

/* The columns that harmless text takes. */
size_t display_width(const char *text);

/* The bytes of harmless text that fit into this many columns. */
size_t display_fit(const char *text, size_t columns);

#endif

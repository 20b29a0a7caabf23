/*
 * pen.h - where text for people is drawn: stdout, a screen, or memory in tests.
 *
 * Text comes in pieces from left to right, harmless already, and a line ends when it is said so.
 */
#ifndef THCTL_PEN_H
#define THCTL_PEN_H

#include "base/base.h"
#include "cli/output.h"

struct pen {
    void (*put)(enum colour colour, const char *text, size_t length, void *context);
    void (*end_line)(void *context);
    void *context;
};

/* Draws to an output: the colours it wants, and nothing but text where it wants none. */
struct pen pen_to_output(struct output *out);

void pen_text(const struct pen *pen, enum colour colour, const char *text);
void pen_spaces(const struct pen *pen, enum colour colour, size_t count);
void pen_end_line(const struct pen *pen);

#endif

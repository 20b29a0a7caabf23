/*
 * output.h - what thctl says: answers on stdout, remarks on stderr, both for people or programs.
 *
 * Answers are data. The first one that cannot be written is remembered and ends the command's
 * output, but never its work: half a command is worse than half a list. A command that only lists
 * may look at `failure` and end. output_finish() reports it.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "base/base.h"

#include <stdio.h>

struct buffer;

enum colour {
    COLOUR_NONE,
    COLOUR_BOLD,
    COLOUR_DIM,
    COLOUR_RED,
    COLOUR_GREEN,
    COLOUR_YELLOW,
    COLOUR_BLUE,
    COLOUR_MAGENTA,
    COLOUR_CYAN,
    COLOUR_BAR,    /* a title across the screen */
    COLOUR_CHOSEN, /* the one of them that keys act on */
};

struct output {
    FILE *file;
    bool terminal; /* somebody is looking */
    bool coloured;
    size_t width; /* of the terminal */
    int failure;  /* errno of the first write that failed, or 0 */
};

/* Whether the terminal, if there is one, knows escape sequences: $TERM says so. */
bool output_obeys_escapes(void);

struct output output_to_stdout(void);

void output_text(struct output *out, const char *text);
void output_printf(struct output *out, const char *format, ...) PRINTF_LIKE(2, 3);

/* As they are: only for readers that are not terminals. */
void output_bytes(struct output *out, struct bytes bytes);

/* The buffer and a newline; out of memory is a failure too. */
void output_line(struct output *out, const struct buffer *line);

/* A line of JSON: what would deceive a terminal is escaped, wherever it came from; to a program it
 * is the same. */
void output_json(struct output *out, const struct buffer *line);

/* Starts and ends a colour, where there are any. */
void output_colour(struct output *out, enum colour colour);

/* All of it is written now: somebody may be waiting for it. */
void output_flush(struct output *out);

/* Closes stdout. False when something is missing there, which has then been said; a reader that
 * went away (EPIPE) has seen what it wanted. */
bool output_finish(struct output *out) MUST_CHECK;

/* "thctl: sentence" on stderr: one line, harmless to terminals. */
void output_complain(const char *format, ...) PRINTF_LIKE(1, 2);

/* A line on stderr, for people; harmless to terminals. */
void output_remark(const char *format, ...) PRINTF_LIKE(1, 2);

/* Each line of a text as a remark: nothing in it moves the cursor. */
void output_remark_lines(const char *text);

#define OUTPUT_NUMBER_SIZE 32

/* "12,345" */
const char *output_number(int64_t number, char text[OUTPUT_NUMBER_SIZE]);

/* "job" or "jobs" */
const char *output_jobs(int64_t count);

#endif

/*
 * lines.h - a file read line by line, more than once.
 *
 * A line ends with a newline, or with whatever `end` is set to. The last one need not.
 *
 * What cannot be read twice (a pipe, a terminal) is first copied to a temporary file without a
 * name. A file that somebody changes meanwhile is noticed by its size and its time.
 */
#ifndef THCTL_LINES_H
#define THCTL_LINES_H

#include "base/base.h"

#include <sys/stat.h>

struct buffer;
struct error;

#define LINES_BLOCK ((size_t)64 * 1024)

struct lines {
    const char *name;     /* for messages: the path, or stdin */
    int fd;               /* owned */
    unsigned char end;    /* of a line: a newline, unless the caller sets it */
    off_t start;          /* where the first line is */
    struct stat seen;     /* of the file, when it was opened */
    size_t number;        /* of the line read last, counted from 1 */
    uint64_t read;        /* bytes, since the start */
    unsigned char *block; /* owned; what was read ahead */
    size_t at, filled;
};

/* "-" is stdin. */
bool lines_open(struct lines *lines, const char *path, struct error *err) MUST_CHECK;

/* Back to the first line. */
bool lines_rewind(struct lines *lines, struct error *err) MUST_CHECK;

/* The next line without its end, in place of what is in the buffer. A line over the buffer's
 * limit is read to its end and leaves the buffer failed. *found_out is false at the end. */
bool lines_next(struct lines *lines, struct buffer *line, bool *found_out,
                struct error *err) MUST_CHECK;

/* Whether the file still is what it was when it was opened. */
bool lines_check_same(const struct lines *lines, struct error *err) MUST_CHECK;

/* Bytes from the first line to the end. */
uint64_t lines_size(const struct lines *lines);

void lines_done(struct lines *lines);

#endif

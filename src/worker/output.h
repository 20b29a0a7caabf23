/*
 * output.h - what a program prints: lines to somebody, the last 4 KiB kept, the rest counted.
 *
 * Memory is bounded, whatever is printed.
 */
#ifndef WORKER_OUTPUT_H
#define WORKER_OUTPUT_H

#include "base/base.h"

struct buffer;

#define OUTPUT_TAIL_SIZE 4096
#define OUTPUT_LINE_MAX  2048

/* The last bytes of a stream. */
struct tail {
    unsigned char bytes[OUTPUT_TAIL_SIZE]; /* a ring: byte n of the stream is at n % size */
    uint64_t total;                        /* of all that was ever added */
};

void tail_add(struct tail *tail, struct bytes data);

/* As bytes, oldest first, `buffer` having room for OUTPUT_TAIL_SIZE of them. */
void tail_read(const struct tail *tail, struct buffer *buffer);

/* As text: from the start of a character on, without white space at the end; what is no UTF-8, and
 * NUL, becomes '?'. */
void tail_read_text(const struct tail *tail, struct buffer *buffer);

struct output {
    /* One line without its end, at most OUTPUT_LINE_MAX bytes of it, not terminated; `dropped` is
     * how many more it had. NULL: nobody listens. */
    void (*line)(void *context, struct bytes line, uint64_t dropped);
    void *context;
    struct tail tail;
    unsigned char partial[OUTPUT_LINE_MAX]; /* the line so far */
    size_t partial_length;
    uint64_t partial_dropped;
};

void output_add(struct output *output, struct bytes data);
void output_end(struct output *output); /* what has no newline is a line too */

#endif

/*
 * output.h - what a program prints, line by line.
 *
 * Memory is bounded, whatever is printed: of a long line the start is passed on, and the rest
 * counted.
 */
#ifndef WORKER_OUTPUT_H
#define WORKER_OUTPUT_H

#include "base/base.h"

#define OUTPUT_LINE_MAX 2048

struct output {
    /* One line without its end, at most OUTPUT_LINE_MAX bytes of it, not terminated; `dropped` is
     * how many more it had. NULL: nobody listens. */
    void (*line)(void *context, struct bytes line, uint64_t dropped);
    void *context;
    unsigned char partial[OUTPUT_LINE_MAX]; /* the line so far */
    size_t partial_length;
    uint64_t partial_dropped;
};

void output_add(struct output *output, struct bytes data);
void output_end(struct output *output); /* what has no newline is a line too */

#endif

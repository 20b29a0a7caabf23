/*
 * gist.h - a long text by its two ends: how it begins, and what it comes to.
 *
 *     Traceback (most recent call last):       the first KiB
 *       File "report.py", line 12, in <module>
 *     [... 31337 bytes left out ...]           only if something is
 *     ValueError: no such customer             the last three
 *
 * What went wrong is at the end, and what was being done at the beginning. Memory is bounded,
 * whatever is added.
 */
#ifndef BASE_GIST_H
#define BASE_GIST_H

#include "base/base.h"

struct buffer;

#define GIST_HEAD 1024
#define GIST_TAIL 3072
#define GIST_MAX  (GIST_HEAD + GIST_TAIL + 64) /* of its text */

/* Zeroed: nothing was added. */
struct gist {
    unsigned char head[GIST_HEAD];
    unsigned char tail[GIST_TAIL]; /* a ring of what came after the head */
    uint64_t total;                /* of all that was ever added */
};

void gist_add(struct gist *gist, struct bytes data);

/* As text: cut between characters, without white space at the end; what is not UTF-8, and NUL,
 * becomes '?'. */
void gist_read(const struct gist *gist, struct buffer *buffer);

/* The same for a text that is complete already. */
void gist_of(const char *text, struct buffer *buffer);

#endif

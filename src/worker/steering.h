/*
 * steering.h - what a job says on descriptor 3.
 *
 *     progress 40 resizing    how far it is, in percent, and a word about it
 *     result {"pages":3}      what comes out of it, at most 64 KiB; the last one counts
 *     snooze 30s              run it again later, nothing counted
 *     dead no such customer   it cannot get better
 *
 * The last of snooze and dead beats the exit code. A line that is none of these changes nothing,
 * and is reported; so is a result that is not JSON, which is kept as it is. Only the first few are
 * reported.
 */
#ifndef WORKER_STEERING_H
#define WORKER_STEERING_H

#include "base/base.h"
#include "base/buffer.h"

#define STEERING_PROBLEMS_MAX 10
#define STEERING_TEXT_SIZE    1024 /* of a reason or a word about progress; longer is cut */

enum steering_verdict {
    STEERING_NONE,
    STEERING_SNOOZE,
    STEERING_DEAD,
};

struct steering {
    void (*progress)(void *context, int percent, const char *text); /* or NULL */
    void (*garbage)(void *context, const char *problem);            /* or NULL */
    void *context;

    enum steering_verdict verdict;
    usec_t snooze_for;
    char reason[STEERING_TEXT_SIZE]; /* of STEERING_DEAD; may be empty */
    bool has_result;
    struct buffer result;
    int progress_percent; /* -1: none so far */
    char progress_text[STEERING_TEXT_SIZE];

    struct buffer line;
    int problems; /* reported so far */
};

/* The callbacks and their context are set by the caller afterwards. */
void steering_init(struct steering *steering);
void steering_add(struct steering *steering, struct bytes data);
void steering_end(struct steering *steering); /* what has no newline is a line too */
void steering_done(struct steering *steering);

#endif

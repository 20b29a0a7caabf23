/*
 * speech.h - what a running job says, passed on: its lines to the log, its progress and the tail of
 * its output to the scoreboard, where the heartbeater finds them.
 */
#ifndef WORKER_SPEECH_H
#define WORKER_SPEECH_H

#include "base/base.h"
#include "worker/handler.h"
#include "worker/output.h"

struct process;
struct task;

struct speech {
    const struct process *process;
    size_t place; /* of the job, on the scoreboard */
    char id[37];
    const char *type;
    usec_t now;        /* boot time, of what was printed last: a look for many lines */
    usec_t allowed_at; /* boot time at which the bucket of lines would be empty */
    uint64_t dropped;  /* lines that the log did not get */
};

/* Whether the log gets one more line of somebody; zeroed: it has had none. `now` is boot time. */
bool speech_is_allowed(usec_t *allowed_at, usec_t now);

/* A line as the log takes it. */
const char *speech_text(struct bytes line, char text[OUTPUT_LINE_MAX + 1]);

void speech_begin(struct speech *speech, const struct process *process, size_t place,
                  const struct task *task);
struct handler_listener speech_listener(struct speech *speech);

/* Says how many lines were left out, if any. */
void speech_end(struct speech *speech);

#endif

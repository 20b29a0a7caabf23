/*
 * log_sink.h - stderr, written to without ever waiting for whoever reads it.
 */
#ifndef BASE_LOG_SINK_H
#define BASE_LOG_SINK_H

#include "base/base.h"

#include <sys/types.h>

enum log_sink_kind {
    SINK_NONE,   /* stderr is closed */
    SINK_FILE,   /* takes all at once */
    SINK_OWN,    /* a pipe or terminal, opened once more for ourselves, as nonblocking */
    SINK_SHARED, /* one that could not be: asked before each write */
    SINK_SOCKET,
};

/* Zeroed: SINK_NONE. */
struct log_sink {
    enum log_sink_kind kind;
    int fd; /* owned unless it is STDERR_FILENO */
    dev_t device;
    ino_t inode;
};

/* From here on a reader that goes away does not kill the process: SIGPIPE is ignored. */
void log_sink_open(struct log_sink *sink_out);
void log_sink_close(struct log_sink *sink);

/* Whether the descriptor still is what it was, and was not closed with all others, after a fork for
 * example. */
bool log_sink_is_intact(const struct log_sink *sink);

/* Whole lines, except for the first, of which a part may have been written before. Returns how many
 * bytes are dealt with, because they were written or never can be; the others wait. */
size_t log_sink_write(const struct log_sink *sink, const char *lines, size_t length);

/* Waits until something can be written again, but not longer than that. */
void log_sink_wait(const struct log_sink *sink, usec_t patience);

#endif

/*
 * log_line.h - an event as one line, in each of its forms.
 *
 *     time=2026-01-31T10:00:00.123456Z level=info event=job_done pool=web process=dispatcher ms=12
 *     {"time":"2026-01-31T10:00:00.123456Z","level":"info","event":"job_done","pool":"web",...}
 *     <6>level=info event=job_done pool=web process=dispatcher ms=12
 *     10:00:00.123 dispatcher   job_done ms=12
 *
 * No clock, no memory but the caller's, nothing that can fail.
 */
#ifndef BASE_LOG_LINE_H
#define BASE_LOG_LINE_H

#include "base/base.h"
#include "base/log.h"

#include <stdarg.h>

/* With its newline. As much as PIPE_BUF, what a pipe takes whole: lines of several processes in one
 * pipe do not get mixed. */
#define LOG_LINE_MAX 4096

struct log_form {
    enum log_format format;
    bool for_journald; /* begins with its priority and leaves the time to it */
    bool for_people;   /* on a terminal; the format is logfmt */
    bool coloured;     /* and obeys escapes */
};

struct log_event {
    usec_t time; /* wall time */
    enum log_level level;
    const char *name;
    const char *pool, *process; /* NULL, or given as a field by the event itself: no such field */
};

/* Returns the length. A value for which there is no room ends in "...", and leaves some for the
 * fields after it; a field for which there is none at all is left out. */
size_t log_line_write(char line_out[LOG_LINE_MAX], const struct log_form *form,
                      const struct log_event *event, const char *format, va_list arguments)
    PRINTF_LIKE(4, 0);

#endif

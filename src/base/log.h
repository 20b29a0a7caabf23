/*
 * log.h - one event, one line: logfmt, JSON, journald, or readable on a terminal.
 *
 *     log_info("job_done", "job=%s type=%s ms=%" PRId64, id, job->type, elapsed);
 *
 *     time=2026-01-31T10:00:00.123456Z level=info event=job_done pool=web-1 process=dispatcher
 *     job=0193... type=email:send ms=12
 *
 * A field is `key=` and what is printed into it; fields have one space between them, and values are
 * quoted where they need it, so nothing that a job prints can look like a field of ours. Of printf
 * there are %s %d %u %zu %c %% %.*s and the PRI macros of <inttypes.h>.
 *
 * Writing never blocks. What cannot be written yet is kept, up to a limit; lines beyond it are
 * dropped and counted, and the next line that is written says how many (`lines_dropped`).
 *
 * The log is the one thing that is global to a process.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/base.h"

enum log_level {
    LEVEL_ERROR,
    LEVEL_WARNING,
    LEVEL_INFO,
    LEVEL_DEBUG,
};

enum log_format {
    FORMAT_LOGFMT,
    FORMAT_JSON,
};

struct log_options {
    enum log_level level;
    enum log_format format;
    const char *pool; /* copied; NULL: no such field */
};

/* To stderr, in the form that suits it: a readable, coloured one where it is a terminal (unless the
 * format is JSON), `<6>` and no time where it is journald's stream. Before this call nothing is
 * logged. May be called again, after a fork too. */
void log_open(const struct log_options *options);

/* Which process says it: the `process` field from here on. Copied. */
void log_set_process(const char *name);

bool log_is_on(enum log_level level);

void log_error(const char *event, const char *format, ...) PRINTF_LIKE(2, 3);
void log_warning(const char *event, const char *format, ...) PRINTF_LIKE(2, 3);
void log_info(const char *event, const char *format, ...) PRINTF_LIKE(2, 3);
void log_debug(const char *event, const char *format, ...) PRINTF_LIKE(2, 3);
void log_at(enum log_level level, const char *event, const char *format, ...) PRINTF_LIKE(3, 4);

/* For a person at a terminal, between the lines of the log: whole lines, as they are. Nobody else
 * gets them. */
void log_say(const char *text);

/* Lines between the two are one write, as far as they fit. May not be nested. */
void log_hold(void);
void log_release(void);

/* Whether lines wait to be written, because whoever reads them is slow. */
bool log_is_behind(void);

/* Tries again to write what waits. */
void log_flush(void);

/* The last words: waits up to `patience` until everything is written. */
void log_close(usec_t patience);

#endif

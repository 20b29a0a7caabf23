/*
 * log.c - one event, one line.
 *
 *     log_field.c --fields--> log_line.c --a line--> what waits, here --bytes--> log_sink.c
 *
 * Invariants:
 *   - What waits is whole lines in the order of their events; only of the first a part may have
 *     been written already.
 *   - Dropped lines are reported before the next line is taken: the gap shows where it is.
 *   - Lines are written by the process that logged them. Those that wait at a fork stay the
 *     parent's.
 */
#include "base/log.h"

#include "base/clock.h"
#include "base/log_line.h"
#include "base/log_sink.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAITING_MAX  ((size_t)64 * 1024)
#define POOL_SIZE    256
#define PROCESS_SIZE 64

static struct {
    bool is_open;
    enum log_level level;
    struct log_form form;
    char pool[POOL_SIZE]; /* "": no such field */
    char process[PROCESS_SIZE];
    struct log_sink sink;
    pid_t owner; /* of what waits */
    bool is_held;
    uint64_t dropped; /* and not reported yet */
    size_t waiting_length;
    char waiting[WAITING_MAX];
} state;

/* $JOURNAL_STREAM names the file that systemd gave as stderr; a shell between may have given
 * another. */
static bool is_journald(void)
{
    struct stat status;
    char stream[64];

    if (fstat(STDERR_FILENO, &status) != 0)
        return false;
    snprintf(stream, sizeof stream, "%ju:%ju", (uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
    return text_equal(getenv("JOURNAL_STREAM"), stream);
}

static bool are_colours_wanted(void)
{
    const char *refused = getenv("NO_COLOR");

    return (!refused || refused[0] == '\0') && !text_equal(getenv("TERM"), "dumb");
}

static struct log_form choose_form(enum log_format format)
{
    struct log_form form = {.format = format, .for_journald = is_journald()};

    form.for_people = format == FORMAT_LOGFMT && !form.for_journald && isatty(STDERR_FILENO) == 1;
    form.coloured = form.for_people && are_colours_wanted();
    return form;
}

/* After a fork what waits is the parent's to write. And whoever closed all descriptors there closed
 * ours too: its number may be that of the store's file by now. */
static void take_over(void)
{
    const pid_t self = getpid();

    if (state.owner == self)
        return;
    state.owner = self;
    state.is_held = false;
    state.dropped = 0;
    state.waiting_length = 0;
    if (!log_sink_is_intact(&state.sink))
        log_sink_open(&state.sink);
}

static size_t write_line(char line_out[LOG_LINE_MAX], enum log_level level, const char *name,
                         const char *format, va_list arguments)
{
    const struct log_event event = {
        .time = clock_wall(),
        .level = level,
        .name = name,
        .pool = state.pool[0] != '\0' ? state.pool : NULL,
        .process = state.process[0] != '\0' ? state.process : NULL,
    };

    return log_line_write(line_out, &state.form, &event, format, arguments);
}

static void put(const char *line, size_t length)
{
    memcpy(state.waiting + state.waiting_length, line, length);
    state.waiting_length += length;
}

PRINTF_LIKE(3, 4)
static void put_line(enum log_level level, const char *name, const char *format, ...)
{
    char line[LOG_LINE_MAX];
    va_list arguments;

    va_start(arguments, format);
    const size_t length = write_line(line, level, name, format, arguments);
    va_end(arguments);
    put(line, length);
}

/* Whatever the level is: that something is missing has to be known. */
static void tell_dropped(void)
{
    const uint64_t count = state.dropped;

    if (count == 0)
        return;
    state.dropped = 0;
    put_line(LEVEL_WARNING, "lines_dropped", "count=%" PRIu64, count);
}

static void write_waiting(void)
{
    const size_t done = log_sink_write(&state.sink, state.waiting, state.waiting_length);

    memmove(state.waiting, state.waiting + done, state.waiting_length - done);
    state.waiting_length -= done;
}

static void flush(void)
{
    write_waiting();
    if (state.dropped > 0 && state.waiting_length == 0) {
        tell_dropped();
        write_waiting();
    }
}

static bool has_room(size_t length)
{
    const size_t telling = state.dropped > 0 ? LOG_LINE_MAX : 0;

    return WAITING_MAX - state.waiting_length >= length + telling;
}

static void keep(const char *line, size_t length)
{
    if (!has_room(length))
        flush();
    if (!has_room(length)) {
        state.dropped++;
        return;
    }
    tell_dropped();
    put(line, length);
    if (!state.is_held)
        flush();
}

/* Leaves errno alone: a call that failed may be logged before its errno is looked at. */
static void record(enum log_level level, const char *name, const char *format, va_list arguments)
{
    const int number = errno;
    char line[LOG_LINE_MAX];

    if (!log_is_on(level))
        return;
    take_over();
    const size_t length = write_line(line, level, name, format, arguments);
    keep(line, length);
    errno = number;
}

void log_open(const struct log_options *options)
{
    take_over();
    log_sink_close(&state.sink);
    log_sink_open(&state.sink);
    state.level = options->level;
    state.form = choose_form(options->format);
    snprintf(state.pool, sizeof state.pool, "%s", options->pool ? options->pool : "");
    state.is_open = true;
}

void log_set_process(const char *name)
{
    snprintf(state.process, sizeof state.process, "%s", name);
}

bool log_is_on(enum log_level level)
{
    return state.is_open && level <= state.level;
}

void log_error(const char *event, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    record(LEVEL_ERROR, event, format, arguments);
    va_end(arguments);
}

void log_warning(const char *event, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    record(LEVEL_WARNING, event, format, arguments);
    va_end(arguments);
}

void log_info(const char *event, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    record(LEVEL_INFO, event, format, arguments);
    va_end(arguments);
}

void log_debug(const char *event, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    record(LEVEL_DEBUG, event, format, arguments);
    va_end(arguments);
}

void log_at(enum log_level level, const char *event, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    record(level, event, format, arguments);
    va_end(arguments);
}

void log_say(const char *text)
{
    if (!state.is_open || !state.form.for_people)
        return;
    take_over();
    keep(text, strlen(text));
}

void log_hold(void)
{
    take_over();
    assert(!state.is_held);
    state.is_held = true;
}

void log_release(void)
{
    state.is_held = false;
    log_flush();
}

bool log_is_behind(void)
{
    return !state.is_held && (state.waiting_length > 0 || state.dropped > 0) &&
           state.owner == getpid();
}

void log_flush(void)
{
    take_over();
    flush();
}

void log_close(usec_t patience)
{
    const usec_t start = clock_boot();

    log_release();
    for (usec_t spent = 0; log_is_behind() && spent < patience; spent = clock_boot() - start) {
        const size_t before = state.waiting_length;

        log_sink_wait(&state.sink, patience - spent);
        log_flush();
        if (state.waiting_length == before)
            clock_sleep(USEC_PER_MSEC); /* a full disk, or somebody was faster */
    }
    log_sink_close(&state.sink);
    state.is_open = false;
    state.waiting_length = 0;
    state.dropped = 0;
}

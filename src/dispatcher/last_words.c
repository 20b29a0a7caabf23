/*
 * last_words.c - what the plugins of a worker that died had printed and logged.
 *
 * What cannot be read is left out: a crash is reported all the same.
 */
#include "dispatcher/last_words.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/log.h"
#include "base/uuid.h"
#include "config/config.h"
#include "dispatcher/held_jobs.h"
#include "dispatcher/workers.h"
#include "process/print_file.h"

#include <string.h>

#define LOGGED_MAX ((size_t)16 * 1024) /* bytes of the end */
#define LINES_MAX  1000                /* of these: a line may be a newline and no more */
#define LINE_SIZE  2048

static bool read_record(const struct worker_link *link, size_t most, struct arena *arena,
                        struct print_record *record_out)
{
    struct error err;

    if (link->printed < 0)
        return false;
    if (print_file_read(link->printed, most, arena, record_out, &err))
        return true;
    log_warning("process_failed", "name=worker number=%d error=%s", link->number, err.text);
    return false;
}

struct bytes last_words_read(const struct worker_link *link, const struct held_job *held,
                             struct arena *arena)
{
    struct print_record record;

    if (!held->handler || !read_record(link, (size_t)held->handler->output, arena, &record) ||
        !hold_equal(record.hold, held->hold) || record.output.length == 0)
        return (struct bytes){0};
    return record.output;
}

/* The log takes texts. */
static const char *as_text(struct bytes line, char text[LINE_SIZE])
{
    const size_t length = line.length < LINE_SIZE ? line.length : LINE_SIZE - 1;

    memcpy(text, line.data, length);
    text[length] = '\0';
    for (char *nul = text + strlen(text); nul < text + length; nul += strlen(nul))
        *nul = '?';
    return text;
}

static void log_line(const struct worker_link *link, const struct held_job *held, struct bytes line)
{
    char id[UUID_TEXT_SIZE], text[LINE_SIZE];

    if (held)
        log_info("job_output", "job=%s type=%s stream=stdout line=%s",
                 uuid_format(&held->job.id, id), held->job.type, as_text(line, text));
    else
        log_info("plugin_output", "worker=%d line=%s", link->number, as_text(line, text));
}

static struct bytes last_lines(struct bytes text)
{
    size_t start = text.length, lines = 0;

    while (start > 0 && (lines += text.data[start - 1] == '\n') <= LINES_MAX)
        start--;
    return (struct bytes){text.data + start, text.length - start};
}

/* The first line ends where the rest begins. */
static struct bytes cut_line(struct bytes *rest)
{
    const unsigned char *newline = memchr(rest->data, '\n', rest->length);
    const size_t length = newline ? (size_t)(newline - rest->data) : rest->length;
    const struct bytes line = {rest->data, length};

    rest->data += length + (newline != NULL);
    rest->length -= length + (newline != NULL);
    return line;
}

void last_words_log(const struct worker_link *link, const struct held_jobs *held_jobs)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct print_record record;

    if (!read_record(link, LOGGED_MAX, &arena, &record))
        return;
    const struct held_job *held = held_jobs_find(held_jobs, record.hold);
    const struct bytes untold = {record.output.data + record.told,
                                 record.output.length - record.told};
    struct bytes rest = last_lines(untold);
    while (rest.length > 0)
        log_line(link, held, cut_line(&rest));
}

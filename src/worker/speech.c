/*
 * speech.c - what a running job says, passed on.
 *
 * A job may print a gigabyte. The log gets a number of lines at once and a few more each second;
 * the others are counted, and the count is logged when the job has ended.
 */
#include "worker/speech.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/uuid.h"
#include "process/message.h"
#include "process/process.h"
#include "process/scoreboard.h"
#include "worker/output.h"

#include <string.h>

#define LINES_AT_ONCE    1000
#define LINES_PER_SECOND 100
#define LINE_COSTS       (USEC_PER_SEC / LINES_PER_SECOND)

/* A bucket that LINES_AT_ONCE fit into, kept as the moment at which it will be empty. */
bool speech_is_allowed(usec_t *allowed_at, usec_t now)
{
    if (*allowed_at < now)
        *allowed_at = now;
    if (*allowed_at - now > LINE_COSTS * LINES_AT_ONCE)
        return false;
    *allowed_at += LINE_COSTS;
    return true;
}

/* The log takes texts, and a text would end at the first NUL. */
const char *speech_text(struct bytes line, char text[OUTPUT_LINE_MAX + 1])
{
    memcpy(text, line.data, line.length);
    text[line.length] = '\0';
    for (char *nul = text + strlen(text); nul < text + line.length; nul += strlen(nul))
        *nul = '?';
    return text;
}

static void pass_output(void *context, struct bytes data)
{
    struct speech *speech = context;

    speech->now = clock_boot();
    scoreboard_add_output(speech->process->scoreboard, speech->process->slot, speech->place, data);
}

static void pass_line(void *context, bool is_error, struct bytes line, uint64_t dropped)
{
    struct speech *speech = context;
    const char *stream = is_error ? "stderr" : "stdout";
    char text[OUTPUT_LINE_MAX + 1];

    if (!speech_is_allowed(&speech->allowed_at, speech->now))
        speech->dropped++;
    else if (dropped > 0)
        log_info("job_output", "job=%s type=%s stream=%s line=%s cut_bytes=%" PRIu64, speech->id,
                 speech->type, stream, speech_text(line, text), dropped);
    else
        log_info("job_output", "job=%s type=%s stream=%s line=%s", speech->id, speech->type, stream,
                 speech_text(line, text));
}

static void pass_progress(void *context, int percent, const char *text)
{
    const struct speech *speech = context;

    scoreboard_set_progress(speech->process->scoreboard, speech->process->slot, speech->place,
                            percent, text);
}

static void pass_garbage(void *context, const char *problem)
{
    const struct speech *speech = context;

    log_warning("job_output", "job=%s type=%s stream=steering line=%s", speech->id, speech->type,
                problem);
}

void speech_begin(struct speech *speech, const struct process *process, size_t place,
                  const struct task *task)
{
    *speech = (struct speech){.process = process, .place = place, .type = task->type};
    uuid_format(&task->id, speech->id);
}

struct handler_listener speech_listener(struct speech *speech)
{
    return (struct handler_listener){
        .output = pass_output,
        .line = pass_line,
        .progress = pass_progress,
        .garbage = pass_garbage,
        .context = speech,
    };
}

void speech_end(struct speech *speech)
{
    if (speech->dropped > 0)
        log_warning("lines_dropped", "job=%s type=%s count=%" PRIu64, speech->id, speech->type,
                    speech->dropped);
}

/*
 * ending.c - how a run ended: the outcomes and the words that all kinds of handlers share.
 */
#include "worker/ending.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/gist.h"
#include "base/log.h"
#include "base/signal_name.h"
#include "base/units.h"

#include <stdlib.h>

void ending_say_stop(struct buffer *text, enum stop_reason why, usec_t timeout)
{
    char duration[UNITS_TEXT_SIZE];

    switch (why) {
    case STOP_CANCEL:
        buffer_text(text, "stopped on request");
        return;
    case STOP_LOST_LEASE:
        buffer_text(text, "stopped after its lease was lost");
        return;
    case STOP_DRAIN:
        buffer_text(text, "stopped with its pool");
        return;
    case STOP_COMPANY:
        buffer_text(text, "stopped with another job of its resident");
        return;
    case STOP_TIMEOUT:
        buffer_printf(text, "timed out after %s", units_format_duration(timeout, duration));
        return;
    case STOP_FROZEN: /* whoever is says nothing */
    case STOP_NONE:
        break;
    }
    abort(); /* it was not stopped */
}

void ending_say_signal(struct buffer *text, int number)
{
    char name[SIGNAL_NAME_SIZE];

    buffer_printf(text, "killed by %s", signal_name(number, name));
}

bool ending_is_error(enum outcome_kind kind)
{
    return kind == OUTCOME_FAILED || kind == OUTCOME_PERMANENT;
}

void ending_add_words(struct buffer *text, const struct gist *said)
{
    CLEANUP(buffer_done) struct buffer words = BUFFER(GIST_MAX);

    gist_read(said, &words);
    if (words.length > 0)
        buffer_printf(text, ": %s", words.data);
    text->failed |= words.failed;
}

void ending_log_resident(const char *handler, int pid, const struct program_end *end, uint64_t jobs,
                         bool was_asked_to)
{
    const enum log_level level = was_asked_to || end->exit_code == 0 ? LEVEL_INFO : LEVEL_WARNING;
    char name[SIGNAL_NAME_SIZE];

    if (end->signal != 0)
        log_at(level, "resident_ended", "handler=%s pid=%d signal=%s jobs=%" PRIu64, handler, pid,
               signal_name(end->signal, name), jobs);
    else
        log_at(level, "resident_ended", "handler=%s pid=%d exit_code=%d jobs=%" PRIu64, handler,
               pid, end->exit_code, jobs);
}

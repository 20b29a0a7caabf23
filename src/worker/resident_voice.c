/*
 * resident_voice.c - what a resident says: a line on stdout is about one of its jobs, stderr is
 * that of the job which it has alone.
 *
 * Invariants:
 *   - A line that does not fit ends the program: nobody could tell which job its next line is for.
 *   - Once a job has its answer, nothing that happens later in the same step changes it.
 */
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/log.h"
#include "base/text.h"
#include "worker/handler.h"
#include "worker/resident_line.h"
#include "worker/resident_state.h"
#include "worker/speech.h"

#include <string.h>

void resident_accuse(struct resident *resident, const struct error *err)
{
    bool any = false;

    for (struct turn *turn = resident->first; turn; turn = turn->next) {
        if (!turn_is_open(turn))
            continue;
        turn->fault = arena_text(turn->arena, err->text);
        any = true;
    }
    if (!any)
        log_warning("resident_fault", "handler=%s error=%s", resident->plan->name, err->text);
    resident->is_broken = true;
    program_stop(&resident->program, resident->kill_grace);
}

/* ---- stdout ---- */

static struct turn *find_listening(const struct resident *resident, const char *id)
{
    struct turn *turn = resident->first;

    while (turn && !(turn_listens(turn) && text_equal(turn->job->id, id)))
        turn = turn->next;
    return turn;
}

static bool has_listening(const struct resident *resident)
{
    const struct turn *turn = resident->first;

    while (turn && !turn_listens(turn))
        turn = turn->next;
    return turn != NULL;
}

static void take_answer(struct resident *resident, struct turn *turn, const struct answer *answer)
{
    turn_take(turn, answer);
    if (turn->has_answer)
        answered_note(&resident->answered, turn->job->id);
}

/* Said about a job that it has answered, while it has another, which goes on. */
static bool is_late(const struct resident *resident, const char *id)
{
    if (!id || !answered_has(&resident->answered, id))
        return false;
    log_warning("resident_fault", "handler=%s error=%s", resident->plan->name,
                "wrote a line about a job that it had answered: it is ignored");
    return true;
}

static bool read_line(struct resident *resident, struct error *err)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct bytes line = {(unsigned char *)resident->line.data, resident->line.length};
    char shown[EXCERPT_SIZE];
    struct answer answer;

    if (!has_listening(resident))
        return error_set(err, TH_E_INVALID, "nobody had asked");
    const bool is_read = resident_line_read(line, &arena, &answer, err);
    struct turn *turn = answer.id ? find_listening(resident, answer.id) : NULL;

    if (!turn && is_late(resident, answer.id))
        return true;
    if (!is_read)
        return false;
    if (!turn)
        return error_set(err, TH_E_INVALID, "is for a job that it does not have: '%s'",
                         excerpt_of(answer.id, shown));
    take_answer(resident, turn, &answer);
    return true;
}

static bool is_blank(const struct buffer *line)
{
    return line->length == strspn(buffer_str(line), " \t\r");
}

static void take_line(struct resident *resident)
{
    char shown[EXCERPT_SIZE];
    struct error err, fault;

    if (is_blank(&resident->line) || read_line(resident, &err))
        return;
    error_set(&fault, err.code, "wrote a line that is not an answer: %s: %s", err.text,
              excerpt_of(resident->line.data, shown));
    resident_accuse(resident, &fault);
}

static void hear_output(struct resident *resident, struct bytes data)
{
    struct buffer *line = &resident->line;
    struct error err;

    while (data.length > 0 && !resident->is_broken) {
        const unsigned char *newline = memchr(data.data, '\n', data.length);
        const size_t length = newline ? (size_t)(newline - data.data) : data.length;

        buffer_add(line, data.data, length);
        if (!buffer_ok(line, &err)) {
            error_prefix(&err, "wrote a line that is not an answer");
            resident_accuse(resident, &err);
        }
        if (!newline || line->failed)
            return;
        take_line(resident);
        buffer_clear(line);
        data = (struct bytes){newline + 1, data.length - length - 1};
    }
}

/* ---- stderr ---- */

/* NULL: it has none, or several, and nobody knows which of them it speaks of. */
static const struct handler_listener *listener_of(const struct resident *resident)
{
    return resident->count == 1 ? resident->first->listener : NULL;
}

void resident_hear_error_line(void *context, struct bytes line, uint64_t dropped)
{
    struct resident *resident = context;
    const struct handler_listener *listener = listener_of(resident);
    char text[OUTPUT_LINE_MAX + 1];

    if (listener && listener->line)
        listener->line(listener->context, true, line, dropped);
    else if (!listener && speech_is_allowed(&resident->lines_allowed_at, clock_boot()))
        log_info("resident_output", "handler=%s line=%s", resident->plan->name,
                 speech_text(line, text));
}

static void hear_error(struct resident *resident, struct bytes data)
{
    for (struct turn *turn = resident->first; turn; turn = turn->next)
        turn_hear(turn, data, resident->count == 1);
    output_add(&resident->error, data);
}

void resident_hear(void *context, enum program_stream stream, struct bytes data)
{
    if (stream == STREAM_OUTPUT)
        hear_output(context, data);
    else
        hear_error(context, data);
}

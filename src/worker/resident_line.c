/*
 * resident_line.c - what is said between a worker and a resident: one JSON object per line.
 */
#include "worker/resident_line.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "base/units.h"
#include "job/job.h"
#include "worker/handler.h"

#include <string.h>

static void write_deadline(struct json_writer *json, usec_t timeout, usec_t now)
{
    if (timeout > 0)
        json_write_int(json, "deadline", (now + timeout) / USEC_PER_SEC);
    else
        json_write_null(json, "deadline");
}

void resident_line_write(const struct handler_job *job, usec_t now, struct buffer *line)
{
    struct json_writer json = {.out = line};

    json_write_open(&json, NULL, '{');
    json_write_text(&json, "id", job->id);
    json_write_text(&json, "type", job->type);
    json_write_text(&json, "queue", job->queue);
    json_write_int(&json, "attempt", job->attempt);
    json_write_int(&json, "max_attempts", job->max_attempts);
    json_write_int(&json, "execution", job->execution);
    write_deadline(&json, job->timeout, now);
    if (job->headers)
        json_write_raw(&json, "headers",
                       (struct bytes){(const unsigned char *)job->headers, strlen(job->headers)});
    if (job->payload_is_json)
        json_write_raw(&json, "payload", job->payload);
    else
        json_write_base64(&json, "payload_base64", job->payload);
    json_write_close(&json, '}');
    buffer_char(line, '\n');
}

void resident_line_cancel(const char *id, struct buffer *line)
{
    struct json_writer json = {.out = line};

    json_write_open(&json, NULL, '{');
    json_write_text(&json, "id", id);
    json_write_bool(&json, "cancel", true);
    json_write_close(&json, '}');
    buffer_char(line, '\n');
}

/* ---- what it says ---- */

/* The members that matter; absent ones have no data. */
struct parts {
    struct bytes id, ok, result, error, retry, snooze, progress, text;
};

static struct parts parts_of(const struct json_members *members)
{
    struct parts parts = {0};
    const struct {
        const char *name;
        struct bytes *value;
    } known[] = {
        {"id", &parts.id},
        {"ok", &parts.ok},
        {"result", &parts.result},
        {"error", &parts.error},
        {"retry", &parts.retry},
        {"snooze", &parts.snooze},
        {"progress", &parts.progress},
        {"text", &parts.text},
    };

    for (size_t i = 0; i < members->count; i++) {
        const struct json_member *member = &members->items[i];

        for (size_t k = 0; k < COUNT_OF(known) && !json_means_null(member->value); k++) {
            if (text_equal(member->name, known[k].name))
                *known[k].value = member->value;
        }
    }
    return parts;
}

static bool read_id(const struct parts *parts, struct arena *arena, struct answer *answer,
                    struct error *err)
{
    if (!parts->id.data)
        return error_set(err, TH_E_INVALID, "has no id");
    return json_to_text(parts->id, arena, &answer->id) ||
           error_set(err, TH_E_INVALID, "the id is not text");
}

static bool read_text(struct bytes value, const char *name, struct arena *arena,
                      const char **text_out, struct error *err)
{
    if (!value.data || json_to_text(value, arena, text_out))
        return true;
    return error_set(err, TH_E_INVALID, "'%s' is not text", name);
}

static bool read_flag(struct bytes value, const char *name, bool *flag_out, struct error *err)
{
    if (!value.data || json_to_bool(value, flag_out))
        return true;
    return error_set(err, TH_E_INVALID, "'%s' is neither true nor false", name);
}

static bool read_progress(const struct parts *parts, struct arena *arena, struct answer *answer,
                          struct error *err)
{
    int64_t percent;

    if (!parts->progress.data)
        return true;
    if (!json_to_int(parts->progress, &percent) || percent < 0 || percent > 100)
        return error_set(err, TH_E_INVALID, "'progress' is not a whole number from 0 to 100");
    answer->percent = (int)percent;
    return read_text(parts->text, "text", arena, &answer->text, err);
}

static bool read_success(const struct parts *parts, struct answer *answer, struct error *err)
{
    answer->kind = ANSWER_DONE;
    answer->result = parts->result;
    if (answer->result.length > JOB_RESULT_MAX)
        return error_set(err, TH_E_INVALID, "the result has %zu bytes; %zu are allowed",
                         answer->result.length, JOB_RESULT_MAX);
    return true;
}

static bool read_failure(const struct parts *parts, struct arena *arena, struct answer *answer,
                         struct error *err)
{
    const char *snooze = NULL;
    bool retry = true;

    if (!read_text(parts->error, "error", arena, &answer->error, err) ||
        !read_flag(parts->retry, "retry", &retry, err) ||
        !read_text(parts->snooze, "snooze", arena, &snooze, err))
        return false;
    if (snooze && !units_parse_duration(snooze, &answer->snooze_for, err))
        return error_prefix(err, "'snooze'");
    answer->kind = !retry ? ANSWER_PERMANENT : snooze ? ANSWER_SNOOZE : ANSWER_FAILED;
    return true;
}

static bool read_answer(const struct parts *parts, struct arena *arena, struct answer *answer,
                        struct error *err)
{
    bool ok = false;

    if (!parts->ok.data && !parts->progress.data)
        return error_set(err, TH_E_INVALID, "has neither 'ok' nor 'progress'");
    if (!read_progress(parts, arena, answer, err) || !read_flag(parts->ok, "ok", &ok, err))
        return false;
    if (!parts->ok.data)
        return true;
    return ok ? read_success(parts, answer, err) : read_failure(parts, arena, answer, err);
}

bool resident_line_read(struct bytes line, struct arena *arena, struct answer *answer_out,
                        struct error *err)
{
    struct json_members members;

    *answer_out = (struct answer){.percent = -1, .text = ""};
    if (!json_split_object(line, arena, &members, err))
        return false;
    const struct parts parts = parts_of(&members);
    const bool is_read =
        read_id(&parts, arena, answer_out, err) && read_answer(&parts, arena, answer_out, err);
    return arena->failed ? error_no_memory(err) : is_read;
}

/*
 * jobs_csv.c - jobs as CSV.
 */
#include "browse/jobs_csv.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "job/job_json.h"

#include <string.h>

#define JOB_MAX ((size_t)64 << 20)

/* Members of a job's JSON. */
/* clang-format off */
static const char *const columns[] = {
    "id", "type", "queue", "state",
    "priority", "run_at", "timeout_ms", "attempts", "max_attempts", "executions", "stalls", "max_stalls",
    "key", "idempotency_key", "tags",
    "created_at", "started_at", "ended_at", "failed_at", "last_error", "reason", "exit_code", "signal",
    "pool", "worker", "progress", "cancel_requested_at", "merged_into",
    "encoding", "payload", "payload_base64", "headers", "result", "result_base64", "output", "runs",
};
/* clang-format on */

/* What may be anything that a producer or a handler likes: its text is JSON, and stays it. */
static bool is_opaque(const char *column)
{
    return text_equal(column, "payload") || text_equal(column, "result");
}

static bool is_formula(const char *text)
{
    return text[0] != '\0' && strchr("=+-@\t\r", text[0]);
}

static void add_quoted(struct buffer *out, struct bytes text)
{
    buffer_char(out, '"');
    while (text.length > 0) {
        const unsigned char *quote = memchr(text.data, '"', text.length);
        const size_t length = quote ? (size_t)(quote - text.data) + 1 : text.length;

        buffer_add(out, text.data, length);
        if (quote)
            buffer_char(out, '"');
        text.data += length;
        text.length -= length;
    }
    buffer_char(out, '"');
}

static bool needs_quotes(struct bytes text)
{
    for (size_t i = 0; i < text.length; i++) {
        if (strchr("\",\r\n", text.data[i])) /* and for a NUL */
            return true;
    }
    return false;
}

static void add_field(struct buffer *out, struct bytes text)
{
    if (needs_quotes(text))
        add_quoted(out, text);
    else
        buffer_add(out, text.data, text.length);
}

static bool add_text(struct buffer *out, const char *text, struct error *err)
{
    CLEANUP(buffer_done) struct buffer marked = BUFFER(JOB_MAX);

    if (is_formula(text)) {
        buffer_char(&marked, '\'');
        buffer_text(&marked, text);
        text = buffer_str(&marked);
    }
    add_field(out, (struct bytes){(const unsigned char *)text, strlen(text)});
    return buffer_ok(&marked, err);
}

/* A text with a NUL in it, such as an output, has it as JSON does: nothing else can show it. */
static bool add_value(struct buffer *out, const char *column, struct bytes json,
                      struct arena *arena, struct error *err)
{
    const char *text;

    if (json_means_null(json) && !text_equal(column, "payload"))
        return true;
    if (json.data[0] == '"' && !is_opaque(column) && json_to_text(json, arena, &text))
        return add_text(out, text, err);
    add_field(out, json);
    return true;
}

static bool add_column(struct buffer *out, const char *column, const struct json_members *members,
                       struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < members->count; i++) {
        if (text_equal(members->items[i].name, column))
            return add_value(out, column, members->items[i].value, arena, err);
    }
    return true;
}

void jobs_csv_add_names(struct buffer *out)
{
    for (size_t i = 0; i < COUNT_OF(columns); i++)
        buffer_printf(out, "%s%s", i > 0 ? "," : "", columns[i]);
    buffer_text(out, "\r\n");
}

bool jobs_csv_add(struct buffer *out, const struct job *job, struct error *err)
{
    CLEANUP(buffer_done) struct buffer json = BUFFER(JOB_MAX);
    CLEANUP(arena_done) struct arena arena = {0};
    struct json_members members;

    job_json_add(&json, job);
    if (!buffer_ok(&json, err) ||
        !json_split_object((struct bytes){(const unsigned char *)json.data, json.length}, &arena,
                           &members, err))
        return false;
    for (size_t i = 0; i < COUNT_OF(columns); i++) {
        if (i > 0)
            buffer_char(out, ',');
        if (!add_column(out, columns[i], &members, &arena, err))
            return false;
    }
    buffer_text(out, "\r\n");
    return !arena.failed || error_no_memory(err);
}

/*
 * sheet.c - a job as a sheet of names and values, for people.
 *
 * Names are those of the JSON, so that who reads the one can ask for the other.
 */
#include "thctl/sheet.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/signal_name.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/display.h"
#include "job/aside.h"
#include "job/why.h"
#include "thctl/table.h"
#include "thctl/when.h"

#include <assert.h>
#include <signal.h>
#include <string.h>

#define NAME_WIDTH   19
#define INDENT       (NAME_WIDTH + 2)
#define BLOCK_INDENT 2                  /* of what needs the width: bytes, runs */
#define TEXT_MAX     ((size_t)64 << 20) /* of a value, escaped */
#define TEXT_SHOWN   ((size_t)4096)     /* of JSON on a terminal */
#define RAW_SHOWN    ((size_t)1024)
#define RAW_PER_LINE 16

struct sheet {
    struct output *out;
    const struct job *job;
    usec_t now;
};

static void begin(const struct sheet *sheet, const char *name)
{
    output_colour(sheet->out, COLOUR_BOLD);
    output_printf(sheet->out, "%-*s", NAME_WIDTH, name);
    output_colour(sheet->out, COLOUR_NONE);
    output_text(sheet->out, "  ");
}

/* A line or several, made harmless. */
static void put_lines(const struct sheet *sheet, const char *name, struct bytes text)
{
    CLEANUP(buffer_done) struct buffer shown = BUFFER(TEXT_MAX);

    while (text.length > 0 && text.data[text.length - 1] == '\n')
        text.length--;
    display_add_lines(&shown, text, INDENT);
    begin(sheet, name);
    output_line(sheet->out, &shown);
}

static void put(const struct sheet *sheet, const char *name, const char *value)
{
    if (value)
        put_lines(sheet, name, (struct bytes){(const unsigned char *)value, strlen(value)});
}

static void put_number(const struct sheet *sheet, const char *name, int64_t number)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRId64, number);
    put(sheet, name, text);
}

/* "1 of 4" */
static void put_count(const struct sheet *sheet, const char *name, int count, int max)
{
    char text[32];

    snprintf(text, sizeof text, "%d of %d", count, max);
    put(sheet, name, text);
}

static void put_time(const struct sheet *sheet, const char *name, usec_t moment)
{
    char text[WHEN_TEXT_SIZE];

    if (moment != 0)
        put(sheet, name, when_format(moment, sheet->now, text));
}

/* After the state: why nobody can run it now. */
static void put_aside(const struct sheet *sheet)
{
    const struct job *job = sheet->job;
    char since[WHEN_TEXT_SIZE];

    if (job->aside == ASIDE_NONE)
        return;
    output_printf(sheet->out,
                  ", set aside since %s: ", when_format(job->aside_since, sheet->now, since));
    output_colour(sheet->out, job->aside == ASIDE_CANNOT_START ? COLOUR_RED : COLOUR_YELLOW);
    output_text(sheet->out, aside_words(job->aside));
    output_colour(sheet->out, COLOUR_NONE);
}

static void put_state(const struct sheet *sheet)
{
    begin(sheet, "state");
    output_colour(sheet->out, sheet_state_colour(sheet->job->state));
    output_text(sheet->out, job_state_name(sheet->job->state));
    output_colour(sheet->out, COLOUR_NONE);
    put_aside(sheet);
    output_text(sheet->out, "\n");
}

/* The rest says it of jobs that run or have ended. */
static void put_why(const struct sheet *sheet)
{
    const struct why *why = sheet->job->why;

    if (!why || why->code == WHY_RUNNING || why->code == WHY_ENDED)
        return;
    put(sheet, "why", why->text);
    if (why->help[0] != '\0')
        put(sheet, "", why->help);
}

static void put_exit(const struct sheet *sheet)
{
    const struct job *job = sheet->job;
    char text[64], name[SIGNAL_NAME_SIZE];

    if (job->exit_code != JOB_NO_EXIT_CODE)
        put_number(sheet, "exit_code", job->exit_code);
    if (job->signal == 0)
        return;
    snprintf(text, sizeof text, "%d (%s)", job->signal, signal_name(job->signal, name));
    put(sheet, "signal", text);
}

/* As hexadecimal and as ASCII, side by side. */
static void add_dump(struct buffer *shown, struct bytes bytes)
{
    for (size_t at = 0; at < bytes.length; at += RAW_PER_LINE) {
        buffer_printf(shown, "\n%*s", BLOCK_INDENT, "");
        for (size_t i = at; i < at + RAW_PER_LINE; i++) {
            if (i < bytes.length)
                buffer_printf(shown, "%02x ", bytes.data[i]);
            else
                buffer_text(shown, "   ");
        }
        buffer_char(shown, ' ');
        for (size_t i = at; i < at + RAW_PER_LINE && i < bytes.length; i++) {
            bool printable = bytes.data[i] >= 0x20 && bytes.data[i] < 0x7f;
            buffer_add(shown, printable ? (const char *)&bytes.data[i] : ".", 1);
        }
    }
}

static void put_raw(const struct sheet *sheet, const char *name, struct bytes bytes)
{
    CLEANUP(buffer_done) struct buffer shown = BUFFER(TEXT_MAX);
    bool is_long = bytes.length > RAW_SHOWN;
    char size[UNITS_TEXT_SIZE];

    buffer_printf(&shown, "raw, %s", units_format_size(bytes.length, size));
    if (is_long)
        buffer_printf(&shown, ", the first %zu bytes", RAW_SHOWN);
    add_dump(&shown, (struct bytes){bytes.data, is_long ? RAW_SHOWN : bytes.length});
    begin(sheet, name);
    output_line(sheet->out, &shown);
}

/* This many bytes of UTF-8, or up to three fewer: no character is cut in two. */
static struct bytes first_bytes(struct bytes text, size_t length)
{
    for (int i = 0; i < 3 && (text.data[length] & 0xc0) == 0x80; i++)
        length--;
    return (struct bytes){text.data, length};
}

/* JSON and other text as such; somebody who looks is spared the end of a long one. */
static void put_text(const struct sheet *sheet, const char *name, struct bytes text)
{
    char size[UNITS_TEXT_SIZE];

    if (!sheet->out->terminal || text.length <= TEXT_SHOWN) {
        put_lines(sheet, name, text);
        return;
    }
    put_lines(sheet, name, first_bytes(text, TEXT_SHOWN));
    output_printf(sheet->out, "%*s(the first 4 KiB of %s; --json has it all)\n", INDENT, "",
                  units_format_size(text.length, size));
}

/* Of what a job has printed the end counts. */
static void put_output(const struct sheet *sheet)
{
    const struct bytes output = sheet->job->output;
    char size[UNITS_TEXT_SIZE];

    if (!output.data)
        return;
    if (!sheet->out->terminal || output.length <= TEXT_SHOWN) {
        put_lines(sheet, "output", output);
        return;
    }
    const struct bytes end = {output.data + output.length - TEXT_SHOWN, TEXT_SHOWN};
    put_lines(sheet, "output", text_whole_start(end));
    output_printf(sheet->out, "%*s(the last 4 KiB of %s; thctl logs has it all)\n", INDENT, "",
                  units_format_size(output.length, size));
}

/* What a person can read as it is. */
static bool is_plain_text(struct bytes bytes)
{
    for (size_t i = 0; i < bytes.length; i++) {
        const unsigned char c = bytes.data[i];
        if (c == 0x7f || (c < 0x20 && c != '\t' && c != '\n' && c != '\r'))
            return false;
    }
    return bytes.length > 0 && text_is_utf8(bytes);
}

static bool needs_dump(const struct job *job)
{
    return job->encoding == JOB_RAW && !is_plain_text(job->payload);
}

static void put_bytes(const struct sheet *sheet, const char *name, struct bytes bytes, bool raw)
{
    if (!bytes.data)
        return;
    if (raw)
        put_raw(sheet, name, bytes);
    else
        put_text(sheet, name, bytes);
}

static void put_progress(const struct sheet *sheet)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(TEXT_MAX);
    const struct job *job = sheet->job;

    if (job->progress_percent < 0)
        return;
    buffer_printf(&text, "%d%%", job->progress_percent);
    if (job->progress_text)
        buffer_printf(&text, " %s", job->progress_text);
    put(sheet, "progress", buffer_str(&text));
}

static void put_pool(const struct sheet *sheet)
{
    put(sheet, "pool", sheet->job->pool);
    if (sheet->job->worker > 0)
        put_number(sheet, "worker", sheet->job->worker);
}

static void put_request(const struct sheet *sheet)
{
    const struct job *job = sheet->job;
    char text[UNITS_TEXT_SIZE], tags[TAGS_TEXT_SIZE];

    put_number(sheet, "priority", job->priority);
    put_time(sheet, "run_at", job->run_at);
    put(sheet, "timeout", units_format_duration(job->timeout, text));
    put_count(sheet, "attempts", job->attempts, job->max_attempts);
    put_count(sheet, "stalls", job->stalls, job->max_stalls);
    put_number(sheet, "executions", job->executions);
    put(sheet, "key", job->key);
    put(sheet, "idempotency_key", job->idempotency_key);
    put(sheet, "tags", tags_format(job->tags, tags));
    put(sheet, "headers", job->headers);
}

static void put_history(const struct sheet *sheet)
{
    const struct job *job = sheet->job;
    char id[UUID_TEXT_SIZE];

    put_time(sheet, "created_at", job->created_at);
    put_time(sheet, "started_at", job->started_at);
    put_time(sheet, "ended_at", job->ended_at);
    put_pool(sheet);
    put_progress(sheet);
    put_time(sheet, "cancel_requested_at", job->cancel_requested_at);
    if (!uuid_is_nil(&job->merged_into))
        put(sheet, "merged_into", uuid_format(&job->merged_into, id));
    put_time(sheet, "failed_at", job->failed_at);
    put(sheet, "reason", job_reason_name(job->reason));
    put_exit(sheet);
    put(sheet, "last_error", job->last_error);
}

/* clang-format off */
static const struct table_column run_columns[] = {
    {.title = "EXECUTION", .right = true},
    {.title = "OUTCOME"},
    {.title = "STARTED"},
    {.title = "WALL", .right = true},
    {.title = "CPU", .right = true, .expendable = 2},
    {.title = "MEMORY", .right = true, .expendable = 3},
    {.title = "WORKER", .expendable = 4},
    {.title = "EXIT", .right = true},
    {.title = "ERROR", .expendable = 1, .cut_from = 12},
};
/* clang-format on */

static void add_run(struct table *table, const struct job_run *run, usec_t now)
{
    char execution[32], started[WHEN_TEXT_SIZE], wall[UNITS_TEXT_SIZE], cpu[UNITS_TEXT_SIZE];
    char memory[UNITS_TEXT_SIZE], worker[160] = "", code[32] = "";

    snprintf(execution, sizeof execution, "%" PRId64, run->execution);
    if (run->pool)
        snprintf(worker, sizeof worker, "%.127s/%d", run->pool, run->worker);
    if (run->signal != 0)
        signal_name(run->signal, code);
    else if (run->exit_code != JOB_NO_EXIT_CODE)
        snprintf(code, sizeof code, "%d", run->exit_code);
    table_add(table, COLOUR_NONE, execution);
    table_add(table, run->outcome == RUN_DONE ? COLOUR_GREEN : COLOUR_YELLOW,
              run_outcome_name(run->outcome));
    table_add(table, COLOUR_NONE,
              run->started_at != 0 ? when_relative(run->started_at, now, started) : NULL);
    table_add(table, COLOUR_NONE, units_format_duration(run->wall, wall));
    table_add(table, COLOUR_NONE, units_format_duration(run->user + run->system, cpu));
    table_add(table, COLOUR_NONE,
              run->max_rss_kb > 0 ? units_format_size((uint64_t)run->max_rss_kb * 1024, memory)
                                  : NULL);
    table_add(table, COLOUR_NONE, worker);
    table_add(table, COLOUR_NONE, code);
    table_add_last_line(table, COLOUR_NONE, run->error);
}

static void put_runs(const struct sheet *sheet)
{
    CLEANUP(table_done)
    struct table table = {
        .columns = run_columns, .column_count = COUNT_OF(run_columns), .indent = BLOCK_INDENT};

    if (sheet->job->run_count == 0)
        return;
    for (size_t i = 0; i < sheet->job->run_count; i++)
        add_run(&table, &sheet->job->runs[i], sheet->now);
    begin(sheet, "runs");
    output_text(sheet->out, "\n");
    table_print(&table, sheet->out);
}

void sheet_print(struct output *out, const struct job *job, usec_t now)
{
    struct sheet sheet = {out, job, now};
    char id[UUID_TEXT_SIZE];

    put(&sheet, "id", uuid_format(&job->id, id));
    put(&sheet, "type", job->type);
    put(&sheet, "queue", job->queue);
    put_state(&sheet);
    put_why(&sheet);
    put_request(&sheet);
    put_history(&sheet);
    if (job->encoding == JOB_RAW)
        put(&sheet, "encoding", job_encoding_name(job->encoding));
    put_bytes(&sheet, "payload", job->payload, needs_dump(job));
    put_bytes(&sheet, "result", job->result, !text_is_utf8(job->result));
    put_output(&sheet);
    put_runs(&sheet);
}

enum colour sheet_state_colour(enum job_state state)
{
    static const enum colour colours[JOB_STATES] = {
        [JOB_SCHEDULED] = COLOUR_BLUE, [JOB_READY] = COLOUR_NONE,    [JOB_BLOCKED] = COLOUR_MAGENTA,
        [JOB_RUNNING] = COLOUR_CYAN,   [JOB_RETRY] = COLOUR_YELLOW,  [JOB_DONE] = COLOUR_GREEN,
        [JOB_DEAD] = COLOUR_RED,       [JOB_CANCELLED] = COLOUR_DIM,
    };

    assert((unsigned)state < COUNT_OF(colours));
    return colours[state];
}

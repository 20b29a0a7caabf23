/*
 * why.c - `thctl why`: what a job waits for, and what would help.
 */
#include "job/why.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json_writer.h"
#include "cli/display.h"
#include "client/why_look.h"
#include "thctl/session.h"
#include "thctl/sheet.h"

#define LINE_MAX ((size_t)64 * 1024)

static void print_json(struct session *session, const struct job *job, const struct why *why)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(LINE_MAX);
    struct json_writer json = {.out = &line};
    char id[UUID_TEXT_SIZE];

    json_write_open(&json, NULL, '{');
    json_write_text(&json, "id", uuid_format(&job->id, id));
    json_write_text(&json, "state", job_state_name(job->state));
    why_json_add(&json, "why", why);
    json_write_close(&json, '}');
    output_json(&session->out, &line);
}

static void print_line(struct output *out, const char *text)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(LINE_MAX);

    buffer_text(&line, "  ");
    display_add_text(&line, text);
    output_line(out, &line);
}

static void print_jobs(struct output *out, const struct why *why)
{
    char id[UUID_TEXT_SIZE];

    for (size_t i = 0; why->code == WHY_MAX_RUNNING && i < why->job_count; i++)
        print_line(out, uuid_format(&why->jobs[i], id));
}

/* "0193... ready: max_running", and what it means. */
static void print_words(struct output *out, const struct job *job, const struct why *why)
{
    char id[UUID_TEXT_SIZE];

    output_printf(out, "%s  ", uuid_format(&job->id, id));
    output_colour(out, sheet_state_colour(job->state));
    output_text(out, job_state_name(job->state));
    output_colour(out, COLOUR_NONE);
    output_printf(out, "  %s\n", why_code_name(why->code));
    print_line(out, why->text);
    print_jobs(out, why);
    if (why->help[0] != '\0')
        print_line(out, why->help);
}

static bool tell_one(struct session *session, const struct id_prefix *id, size_t number,
                     struct error *err)
{
    CLEANUP(job_list_done) struct job_list job = {0};
    CLEANUP(arena_done) struct arena arena = {0};
    struct why why;

    (void)number;
    if (!session_find_job(session, id, &job, err) ||
        !why_look(session->store, &job.items[0], &arena, &why, err))
        return false;
    if (session->json)
        print_json(session, &job.items[0], &why);
    else
        print_words(&session->out, &job.items[0], &why);
    return true;
}

static enum status run(struct session *session, const struct option_value *options,
                       const struct words *arguments)
{
    (void)options;
    return session_each_job(session, arguments, tell_one);
}

static const char *const examples[] = {
    "why 0193f0a2-7c1d-7abc-8def-0123456789ab",
    "--json why 0193f0a2-7c1d-7abc-8def-0123456789ab",
    NULL,
};

const struct command command_why = {
    .name = "why",
    .summary = "say what jobs wait for, and what would help",
    .arguments = "ID...",
    .details = "The code is one of due_later, key, paused, no_pool, no_handler, cannot_start,\n"
               "max_running, rate, turn, running, pool_silent and ended.\n",
    .examples = examples,
    .options = options_none,
    .min_arguments = 1,
    .max_arguments = SIZE_MAX,
    .run = run,
};

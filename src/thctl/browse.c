/*
 * browse.c - `thctl ls` and `thctl show`: looking at jobs.
 *
 * Both open the store without creating anything, so that a mistyped path is an error and not an
 * empty list.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/display.h"
#include "client/why_look.h"
#include "job/aside.h"
#include "job/job_json.h"
#include "store/listing.h"
#include "store/url.h"
#include "thctl/filter.h"
#include "thctl/limits.h"
#include "thctl/pages.h"
#include "thctl/session.h"
#include "thctl/sheet.h"
#include "thctl/table.h"
#include "thctl/when.h"

#include <string.h>

#define LIMIT_DEFAULT 50
#define LIMIT_MAX     1000000
#define LINE_MAX      ((size_t)64 << 20)
#define HINT_MAX      ((size_t)4096)
#define WIDE          100 /* from here on there is room for whole ids */

static const char *const state_names[] = {"scheduled", "ready", "blocked",   "running", "retry",
                                          "done",      "dead",  "cancelled", NULL};

static const char *const order_names[] = {"desc", "asc", NULL};

enum ls_option { LS_STATE = FILTER_OPTIONS, LS_ORDER, LS_LIMIT, LS_AFTER };

/* clang-format off */
static const struct option ls_options[] = {
    FILTER_ROWS,
    [LS_STATE] = {"state", 's', "STATE", "scheduled ready blocked running retry done dead cancelled", OPTION_CHOICE,
                  .choices = state_names},
    [LS_ORDER] = {"order", 'o', "ORDER", "desc: newest first (default); asc: oldest first", OPTION_CHOICE,
                  .choices = order_names},
    [LS_LIMIT] = {"limit", 'n', "N", "at most so many (default: 50)", OPTION_NUMBER, .min = 1, .max = LIMIT_MAX},
    [LS_AFTER] = {"after", 'a', "ID", "the next page: after the last job of this one", OPTION_TEXT},
    {.name = NULL},
};

static const struct table_column ls_columns[] = {
    {.title = "ID"},
    {.title = "STATE"},
    {.title = "TYPE"},
    {.title = "QUEUE", .expendable = 2},
    {.title = "PRI", .right = true, .expendable = 4},
    {.title = "ATTEMPTS", .right = true, .expendable = 3},
    {.title = "WHEN"},
    {.title = "ERROR", .expendable = 1, .cut_from = 12},
};
/* clang-format on */

static void print_json(struct session *session, const struct job *job)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(LINE_MAX);

    job_json_add(&line, job);
    output_json(&session->out, &line);
}

/* When it is due if it waits, when it started if it runs, when it ended if it has. */
static usec_t moment_that_matters(const struct job *job)
{
    if (job_state_has_ended(job->state) && job->ended_at != 0)
        return job->ended_at;
    if (job->state == JOB_RUNNING && job->started_at != 0)
        return job->started_at;
    if (job_state_is_waiting(job->state) && job->due != 0)
        return job->due;
    return job->created_at;
}

/* One that nobody can run now waits for no moment, but for a pool. */
static void add_when(struct table *table, const struct job *job, usec_t now)
{
    char when[WHEN_TEXT_SIZE];

    if (job->aside != ASIDE_NONE)
        table_add(table, job->aside == ASIDE_CANNOT_START ? COLOUR_RED : COLOUR_YELLOW,
                  aside_words(job->aside));
    else
        table_add(table, COLOUR_NONE, when_relative(moment_that_matters(job), now, when));
}

static void add_row(struct table *table, const struct job *job, bool is_wide, usec_t now)
{
    char id[UUID_TEXT_SIZE], shown[UUID_TEXT_SIZE], attempts[32], priority[16];

    snprintf(priority, sizeof priority, "%d", job->priority);
    snprintf(attempts, sizeof attempts, "%d/%d", job->attempts, job->max_attempts);
    table_add(table, COLOUR_NONE, id_prefix_show(uuid_format(&job->id, id), is_wide, shown));
    table_add(table, sheet_state_colour(job->state), job_state_name(job->state));
    table_add(table, COLOUR_NONE, job->type);
    table_add(table, COLOUR_NONE, job->queue);
    table_add(table, job->priority == JOB_PRIORITY_DEFAULT ? COLOUR_DIM : COLOUR_NONE, priority);
    table_add(table, job->attempts == 0 ? COLOUR_DIM : COLOUR_NONE, attempts);
    add_when(table, job, now);
    table_add_last_line(table, COLOUR_NONE, job->last_error);
}

/* An option as it was given, for a shell. */
static void add_option(struct buffer *hint, const char *name, const char *value)
{
    if (!value)
        return;
    buffer_printf(hint, " --%s ", name);
    buffer_shell_word(hint, value);
}

/* The command that shows the next page. */
static void print_hint(const struct session *session, const struct option_value *options,
                       const struct uuid *last)
{
    CLEANUP(url_done) struct store_url url = {0};
    CLEANUP(buffer_done) struct buffer hint = BUFFER(HINT_MAX);
    struct error ignored;
    char id[UUID_TEXT_SIZE];

    add_option(&hint, "config", session->config_typed);
    if (session->backend_typed && url_parse(session->backend, &url, &ignored))
        add_option(&hint, "backend", url.shown);
    buffer_text(&hint, " ls");
    for (size_t i = 0; i < LS_AFTER; i++)
        add_option(&hint, ls_options[i].name, options[i].text);
    add_option(&hint, "after", uuid_format(last, id));
    output_remark("more: thctl%s", buffer_str(&hint));
}

static bool read_filter(const struct option_value *options, usec_t now, bool brief,
                        struct job_filter *filter_out, struct error *err)
{
    if (!filter_read(options, now, filter_out, err))
        return false;
    filter_out->by_state =
        options[LS_STATE].given && job_state_parse(options[LS_STATE].text, &filter_out->state);
    filter_out->oldest_first = options[LS_ORDER].number != 0;
    filter_out->brief = brief;
    return true;
}

static bool read_after(const struct option_value *after, struct id_prefix *after_out,
                       struct error *err)
{
    return !after->given || id_prefix_parse(after->text, after_out, err) ||
           error_prefix(err, "--after");
}

/* What was shown last says where to go on; where the order goes by id, it need not exist. */
static bool find_start(struct session *session, const struct id_prefix *after,
                       struct job_filter *filter, struct error *err)
{
    CLEANUP(job_list_done) struct job_list found = {0};
    struct job only_id = {0};

    if (!id_prefix_find(after, session->store, &only_id.id, err))
        return false;
    if (listing_find(filter, &only_id, &filter->after) && listing_order_of(filter) == LISTING_BY_ID)
        return true;
    if (store_get(session->store, &only_id.id, &found, err)) {
        if (listing_find(filter, &found.items[0], &filter->after))
            return true;
    } else if (err->code != TH_E_NOT_FOUND) {
        return false;
    }
    return error_set(err, TH_E_NOT_FOUND,
                     "job %s is not %s any more, so its place in the list is not known: instead of "
                     "--after give --%s with the time of the last job you saw",
                     after->text, job_state_name(filter->state),
                     filter->oldest_first ? "since" : "until");
}

/* What handlers allow is for people, who can do without it. */
static void read_offers(struct session *session, struct offers *offers_out)
{
    struct error ignored;

    if (session->json || !offers_read(session->store, offers_out, &ignored))
        *offers_out = (struct offers){0};
}

static void take_page(struct session *session, struct table *table, const struct offers *offers,
                      struct job_list *jobs)
{
    const bool is_wide = !session->out.terminal || session->out.width >= WIDE;

    if (!session->json)
        limits_fill_all(jobs, offers, &session->config);
    for (size_t i = 0; i < jobs->count; i++) {
        if (session->json)
            print_json(session, &jobs->items[i]);
        else
            add_row(table, &jobs->items[i], is_wide, store_now(session->store));
    }
}

static void tell_none(struct session *session, const struct option_value *options)
{
    const bool is_picky =
        filter_is_given(options) || options[LS_STATE].given || options[LS_AFTER].given;
    char question[FILTER_QUESTION_SIZE];

    output_remark("no jobs%s%s", is_picky ? " like that" : "",
                  filter_question(session, options, question));
}

static enum status run_ls(struct session *session, const struct option_value *options,
                          const struct words *arguments)
{
    CLEANUP(table_done)
    struct table table = {.columns = ls_columns, .column_count = COUNT_OF(ls_columns)};
    CLEANUP(job_list_done) struct job_list jobs = {0};
    CLEANUP(offers_done) struct offers offers = {0};
    size_t left = options[LS_LIMIT].given ? (size_t)options[LS_LIMIT].number : LIMIT_DEFAULT;
    struct pages pages = {0};
    struct id_prefix after = {0};
    struct uuid last = {0};
    struct error err;
    bool more = true;

    (void)arguments;
    if (!read_filter(options, clock_wall(), !session->json, &pages.filter, &err) ||
        !read_after(&options[LS_AFTER], &after, &err))
        return session_refuse(&err);
    enum status status = session_open(session, SESSION_LOOK);
    if (status != STATUS_OK)
        return status;
    pages.store = session->store;
    if (!read_filter(options, store_now(session->store), !session->json, &pages.filter, &err) ||
        (options[LS_AFTER].given && !find_start(session, &after, &pages.filter, &err)))
        return session_fail(&err);
    read_offers(session, &offers);
    while (more && left > 0 && session->out.failure == 0) {
        if (!pages_next(&pages, left, &jobs, &more, &err))
            return session_fail(&err);
        take_page(session, &table, &offers, &jobs);
        left -= jobs.count;
        if (jobs.count > 0)
            last = jobs.items[jobs.count - 1].id;
    }
    if (session->json)
        return STATUS_OK;
    if (table.count > 0)
        table_print(&table, &session->out);
    else
        tell_none(session, options);
    output_flush(&session->out);
    if (more && session->out.failure == 0)
        print_hint(session, options, &last);
    return STATUS_OK;
}

static bool show_one(struct session *session, const struct id_prefix *id, size_t number,
                     struct error *err)
{
    CLEANUP(job_list_done) struct job_list job = {0};
    CLEANUP(offers_done) struct offers offers = {0};
    CLEANUP(arena_done) struct arena arena = {0};
    struct why why;

    if (!session_find_job(session, id, &job, err) ||
        !why_look(session->store, &job.items[0], &arena, &why, err))
        return false;
    job.items[0].why = &why;
    if (session->json) {
        print_json(session, &job.items[0]);
        return true;
    }
    if (number > 0)
        output_text(&session->out, "\n");
    read_offers(session, &offers);
    limits_fill(&job.items[0], &offers, &session->config);
    sheet_print(&session->out, &job.items[0], store_now(session->store));
    return true;
}

static enum status run_show(struct session *session, const struct option_value *options,
                            const struct words *arguments)
{
    (void)options;
    return session_each_job(session, arguments, show_one);
}

static const char *const ls_examples[] = {
    "ls",
    "ls --state dead --queue mail",
    "ls --state dead --error timeout --since -1h",
    "ls --tag customer:42",
    "ls --state scheduled --order asc --limit 10",
    "--json ls --limit 1000",
    NULL,
};

const struct command command_ls = {
    .name = "ls",
    .summary = "list jobs, the newest first",
    .arguments = "",
    .details = FILTER_HELP
    "WHEN is when a waiting job is due, a running one started, any other one ended;\n"
    "or why nobody can run a ready one now: no handler, cannot start.\n"
    "On a narrow terminal the least important columns are left out, and of ids all\n"
    "but the first 17 digits, which can be typed: show and --json have everything.\n",
    .examples = ls_examples,
    .options = ls_options,
    .run = run_ls,
};

static const char *const show_examples[] = {
    "show 0193f0a2-7c1d-7abc-8def-0123456789ab",
    "show 0193f0a2-7c1d",
    "--json show 0193f0a2-7c1d-7abc-8def-0123456789ab",
    NULL,
};

const struct command command_show = {
    .name = "show",
    .summary = "show all there is to know about jobs",
    .arguments = "ID...",
    .details = "Wherever an id is asked for its first digits do, at least 8 of them and with or\n"
               "without dashes, if no other job has an id that begins so.\n",
    .examples = show_examples,
    .options = options_none,
    .min_arguments = 1,
    .max_arguments = SIZE_MAX,
    .run = run_show,
};

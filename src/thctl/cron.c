/*
 * cron.c - `thctl cron`: the cron entries of the config; running, pausing and resuming one of them.
 *
 * What runs when is in the config, what has run and what is paused is in the store. A pool with
 * another config may run other entries.
 */
#include "base/buffer.h"
#include "base/calendar.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/excerpt.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "client/cron_sight.h"
#include "thctl/steer.h"
#include "thctl/submit.h"
#include "thctl/table.h"
#include "thctl/when.h"
#include "thctl/whoami.h"

#define LINE_MAX ((size_t)64 * 1024)

/* clang-format off */
static const struct table_column columns[] = {
    {.title = "NAME"},
    {.title = "SCHEDULE", .cut_from = 16},
    {.title = "NEXT"},
    {.title = "LAST", .expendable = 2},
    {.title = "TYPE", .expendable = 1},
};
/* clang-format on */

/* "2026-01-31 03:00 (in 5h)", by the clock of the entry. */
static void add_next(struct buffer *out, const struct cron_sight *sight, usec_t now)
{
    const int64_t local = zone_local(sight->entry.zone, sight->next[0] / USEC_PER_SEC);
    const struct calendar_date date = calendar_date(calendar_divide(local, SECONDS_PER_DAY));
    const int second = (int)(local - calendar_divide(local, SECONDS_PER_DAY) * SECONDS_PER_DAY);
    char relative[WHEN_TEXT_SIZE];

    buffer_printf(out, "%04" PRId64 "-%02d-%02d %02d:%02d", date.year, date.month, date.day,
                  second / 3600, second / 60 % 60);
    if (second % 60 != 0)
        buffer_printf(out, ":%02d", second % 60);
    buffer_printf(out, " (%s)", when_relative(sight->next[0], now, relative));
}

/* "paused 5m ago by kim@web-1" */
static void add_pause(struct buffer *out, const struct cron_sight *sight, usec_t now)
{
    char relative[WHEN_TEXT_SIZE];

    buffer_printf(out, "paused %s", when_relative(sight->paused_at, now, relative));
    if (sight->paused_by[0] != '\0')
        buffer_printf(out, " by %s", sight->paused_by);
}

static void add_row(struct table *table, const struct cron_sight *sight, usec_t now)
{
    CLEANUP(buffer_done) struct buffer words = BUFFER(LINE_MAX);
    CLEANUP(buffer_done) struct buffer next = BUFFER(LINE_MAX);
    char last[WHEN_TEXT_SIZE];

    cron_sight_add_words(&words, &sight->entry);
    table_add(table, COLOUR_NONE, sight->entry.name);
    table_add(table, COLOUR_NONE, buffer_str(&words));
    if (sight->paused_at != 0) {
        add_pause(&next, sight, now);
        table_add(table, COLOUR_YELLOW, buffer_str(&next));
    } else if (sight->next[0] != 0) {
        add_next(&next, sight, now);
        table_add(table, COLOUR_NONE, buffer_str(&next));
    } else {
        table_add(table, COLOUR_DIM, sight->entry.enabled ? "-" : "disabled");
    }
    if (sight->last != 0)
        table_add(table, COLOUR_NONE, when_relative(sight->last, now, last));
    else
        table_add(table, COLOUR_DIM, "-");
    table_add(table, COLOUR_NONE, sight->entry.type);
}

static void print_json(struct session *session, const struct cron_sight *sight)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(LINE_MAX);
    struct json_writer json = {.out = &line};

    cron_sight_add_json(&json, sight);
    output_json(&session->out, &line);
}

static enum status list(struct session *session)
{
    CLEANUP(table_done)
    struct table table = {.columns = columns, .column_count = COUNT_OF(columns)};
    const struct config *config = &session->config;
    struct error err;

    enum status status = session_open(session, SESSION_LOOK);
    if (status != STATUS_OK)
        return status;
    const usec_t now = store_now(session->store);
    for (size_t i = 0; i < config->cron_count; i++) {
        struct cron_sight sight;
        const struct cron_entry entry = config_cron_entry(&config->cron[i]);

        if (!cron_sight_look(session->store, &entry, now, &sight, &err))
            return session_fail(&err);
        if (session->json)
            print_json(session, &sight);
        else
            add_row(&table, &sight, now);
    }
    if (config->cron_count == 0 && !session->json)
        output_remark("no cron entries in %s", config->path);
    else if (!session->json)
        table_print(&table, &session->out);
    return STATUS_OK;
}

static bool report_missing(const struct config *config, const char *name, struct error *err)
{
    AUTO_FREE const char **names = calloc(config->cron_count + 1, sizeof *names);
    char shown[EXCERPT_SIZE];

    if (!names)
        return error_no_memory(err);
    for (size_t i = 0; i < config->cron_count; i++)
        names[i] = config->cron[i].name;
    const char *closest = text_closest(name, names, config->cron_count);
    excerpt_of(name, shown);
    if (closest)
        return error_set(err, TH_E_NOT_FOUND, "no cron entry '%s' in %s (did you mean '%s'?)",
                         shown, config->path, closest);
    return error_set(err, TH_E_NOT_FOUND, "no cron entry '%s' in %s", shown, config->path);
}

static bool find_entry(const struct config *config, const char *name,
                       const struct cron_config **cron_out, struct error *err)
{
    *cron_out = config_find_cron(config, name);
    return *cron_out || report_missing(config, name, err);
}

/* Beside its schedule: no slot is used up. */
static enum status run_now(struct session *session, const char *name)
{
    struct enqueue enqueue = session_enqueue(session);
    const struct cron_config *cron = NULL;
    struct enqueued enqueued;
    struct error err;

    if (!find_entry(&session->config, name, &cron, &err))
        return session_refuse(&err);
    enum status status = session_open(session, SESSION_MAKE);
    if (status != STATUS_OK)
        return status;
    struct job job = config_cron_job(cron);
    if (!submit_jobs(session, &enqueue, &job, 1, store_now(session->store), &enqueued, &err))
        return submit_fail(&job, &err);
    submit_print(session, &enqueued);
    return STATUS_OK;
}

static bool set_paused(struct session *session, const char *name, bool pause, struct error *err)
{
    const usec_t now = store_now(session->store);
    char by[STORE_BY_SIZE];

    return pause ? store_cron_pause(session->store, name, whoami(by), now, err)
                 : store_cron_resume(session->store, name, now, err);
}

/* In the store, where the scheduler of every pool sees it. */
static enum status steer(struct session *session, const char *name, bool pause)
{
    const struct cron_config *cron = NULL;
    struct error err;

    if (!find_entry(&session->config, name, &cron, &err))
        return session_refuse(&err);
    enum status status = session_open(session, SESSION_MAKE);
    if (status != STATUS_OK)
        return status;
    if (!set_paused(session, cron->name, pause, &err))
        return session_fail(&err);
    steer_print(session, "name", cron->name, pause);
    return STATUS_OK;
}

static enum status pause_entry(struct session *session, const char *name)
{
    return steer(session, name, true);
}

static enum status resume_entry(struct session *session, const char *name)
{
    return steer(session, name, false);
}

/* What can be done with one entry. */
static const struct action {
    const char *word;
    enum status (*run)(struct session *session, const char *name);
} actions[] = {{"run", run_now}, {"pause", pause_entry}, {"resume", resume_entry}};

static const struct action *find_action(const char *word)
{
    for (size_t i = 0; i < COUNT_OF(actions); i++) {
        if (text_equal(actions[i].word, word))
            return &actions[i];
    }
    return NULL;
}

static enum status run(struct session *session, const struct option_value *options,
                       const struct words *arguments)
{
    const struct action *action = arguments->count == 2 ? find_action(arguments->items[0]) : NULL;

    (void)options;
    if (arguments->count > 0 && !action) {
        output_complain("cron takes nothing, or run, pause or resume and a NAME (see 'thctl cron "
                        "--help')");
        return STATUS_USAGE;
    }
    if (!session->config.path) {
        output_complain("cron entries are in a config: give --config jobs.yaml");
        return STATUS_USAGE;
    }
    return action ? action->run(session, arguments->items[1]) : list(session);
}

static const char *const examples[] = {
    "cron", "--json cron", "cron run nightly", "cron pause nightly", "cron resume nightly", NULL};

const struct command command_cron = {
    .name = "cron",
    .summary = "list the cron entries; run, pause or resume one",
    .arguments = "[run|pause|resume NAME]",
    .details = "Lists the entries of the config: when each is due next, by its own clock, and\n"
               "when it was last. run enqueues the job of one at once and prints its id,\n"
               "whether it is enabled or not; its schedule goes on as before. pause is kept with\n"
               "the jobs: no pool runs the entry until resume, and what it missed is not made up\n"
               "for.\n",
    .examples = examples,
    .options = options_none,
    .max_arguments = 2,
    .run = run,
};

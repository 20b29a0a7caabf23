/*
 * pools.c - `thctl pools`: the pools that work here, and what each of their processes does.
 *
 * Everything shown is what a pool said with its last heartbeat. One that has not been heard of for
 * a while is shown as silent, whatever it said then.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "client/pool_json.h"
#include "thctl/pool_offer.h"
#include "thctl/pool_sight.h"
#include "thctl/pool_want.h"
#include "thctl/session.h"
#include "thctl/table.h"
#include "thctl/when.h"

#define LINE_MAX ((size_t)64 << 20)
#define CELL_MAX ((size_t)64 * 1024)
#define INDENT   2

/* clang-format off */
static const struct table_column process_columns[] = {
    {.title = "PROCESS"},
    {.title = "PID", .right = true, .expendable = 5},
    {.title = "STATE"},
    {.title = "SINCE", .right = true, .expendable = 3},
    {.title = "JOB"},
    {.title = "TYPE", .expendable = 1, .cut_from = 12},
    {.title = "PROGRESS", .expendable = 2, .cut_from = 12},
    {.title = "DONE", .right = true, .expendable = 4},
};
/* clang-format on */

/* All of them, and where they are shown. */
struct view {
    struct session *session;
    struct arena arena;
    struct pool_sight *sights; /* in the arena */
    size_t count;
    usec_t now;
};

static void view_done(struct view *view)
{
    arena_done(&view->arena);
}

/* ---- for programs ---- */

static void print_json(const struct view *view)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(LINE_MAX);

    for (size_t i = 0; i < view->count; i++) {
        struct json_writer json = {.out = &line};

        buffer_clear(&line);
        pool_json_add(&json, view->sights[i].pool, &view->sights[i].status,
                      pool_sight_state(&view->sights[i]));
        output_json(&view->session->out, &line);
    }
}

/* ---- for people ---- */

static void add_number(struct table *table, int64_t number)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRId64, number);
    table_add(table, COLOUR_NONE, number != 0 ? text : NULL);
}

static void add_process(struct table *table, const struct pool_process *process, usec_t now)
{
    table_add(table, COLOUR_NONE, process->name);
    add_number(table, process->pid);
    pool_sight_add_state(table, process);
    pool_sight_add_ago(table, COLOUR_NONE, process->since, now);
    table_add(table, COLOUR_NONE, process->job);
    table_add(table, COLOUR_NONE, process->type);
    pool_sight_add_progress(table, process);
    if (pool_process_is_worker(process) && process->jobs_done >= 0)
        table_add_number(table, COLOUR_NONE, process->jobs_done);
    else
        table_add(table, COLOUR_NONE, NULL);
}

static void print_processes(const struct view *view, const struct pool_status *status)
{
    CLEANUP(table_done)
    struct table table = {
        .columns = process_columns, .column_count = COUNT_OF(process_columns), .indent = INDENT};

    if (status->process_count == 0)
        return;
    for (size_t i = 0; i < status->process_count; i++)
        add_process(&table, &status->processes[i], view->now);
    table_print(&table, &view->session->out);
}

/* A broken deploy: one line for each handler that cannot be started. A try that was ahead when the
 * pool said so may be under way by now. */
static void print_start_failures(const struct view *view, const struct pool_status *status)
{
    struct output *out = &view->session->out;
    char since[WHEN_TEXT_SIZE], next[WHEN_TEXT_SIZE];

    for (size_t i = 0; i < status->start_failure_count; i++) {
        const struct pool_start_failure *failure = &status->start_failures[i];
        const usec_t next_try = failure->next_try > view->now ? failure->next_try : view->now;
        CLEANUP(buffer_done) struct buffer line = BUFFER(CELL_MAX);
        output_printf(out, "%*s", INDENT, "");
        output_colour(out, COLOUR_RED);
        output_text(out, "cannot start");
        output_colour(out, COLOUR_NONE);
        buffer_printf(&line, "  %s, failing since %s, next try %s: ",
                      failure->pattern ? failure->pattern : "?",
                      when_relative(failure->since, view->now, since),
                      when_relative(next_try, view->now, next));
        buffer_text(&line, failure->error ? failure->error : "?");
        output_line(out, &line);
    }
}

static void print_want(const struct view *view, const struct pool *pool)
{
    struct output *out = &view->session->out;
    char since[WHEN_TEXT_SIZE];
    CLEANUP(buffer_done) struct buffer line = BUFFER(CELL_MAX);

    output_printf(out, "%*s", INDENT, "");
    output_colour(out, COLOUR_YELLOW);
    output_printf(out, "wanted: %s", pool_want_name(pool->want));
    output_colour(out, COLOUR_NONE);
    buffer_printf(&line, "  %s", when_relative(pool->wanted_at, view->now, since));
    if (pool->wanted_by)
        buffer_printf(&line, ", by %s", pool->wanted_by);
    output_line(out, &line);
}

static void print_beneath(size_t row, void *context)
{
    const struct view *view = context;
    const struct pool_sight *sight = &view->sights[row];
    const struct pool_status *status = &sight->status;
    const bool is_blank = status->process_count == 0 && !status->queues && !status->handlers &&
                          sight->pool->want == POOL_WANT_NOTHING;

    if (sight->pool->want != POOL_WANT_NOTHING)
        print_want(view, sight->pool);
    pool_offer_print(status, INDENT, &view->session->out);
    print_start_failures(view, status);
    print_processes(view, status);
    if (!is_blank && row + 1 < view->count)
        output_text(&view->session->out, "\n");
}

static void say_none(const struct session *session)
{
    CLEANUP(buffer_done) struct buffer path = BUFFER(CELL_MAX);

    buffer_shell_word(&path, session->config.path ? session->config.path : "jobs.yaml");
    output_remark("no pool has registered: start one with thd --config %s", buffer_str(&path));
}

static void print_tables(struct view *view)
{
    CLEANUP(table_done)
    struct table table = {.columns = pool_sight_columns, .column_count = POOL_SIGHT_COLUMNS};

    if (view->count == 0) {
        say_none(view->session);
        return;
    }
    for (size_t i = 0; i < view->count; i++)
        pool_sight_add(&table, &view->sights[i], view->now);
    table_print_with(&table, &view->session->out, print_beneath, view);
}

/* ---- the command ---- */

static enum status list(struct session *session)
{
    CLEANUP(pool_list_done) struct pool_list pools = {0};
    CLEANUP(view_done) struct view view = {.session = session};
    struct error err;

    enum status status = session_open(session, SESSION_LOOK);
    if (status != STATUS_OK)
        return status;
    view.now = store_now(session->store);
    if (!store_pools(session->store, &pools, &err) ||
        !pool_sight_all(&pools, view.now, &view.arena, &view.sights, &err))
        return session_fail(&err);
    view.count = pools.count;
    if (session->json)
        print_json(&view);
    else
        print_tables(&view);
    return STATUS_OK;
}

static enum status run_pools(struct session *session, const struct option_value *options,
                             const struct words *arguments)
{
    (void)options;
    if (arguments->count == 0)
        return list(session);
    return pool_want_run(session, arguments->items[0],
                         arguments->count == 2 ? arguments->items[1] : NULL);
}

static const char *const pools_examples[] = {
    "pools", "--json pools", "pools quiet web1", "pools resume web1", "pools terminate web1", NULL};

const struct command command_pools = {
    .name = "pools",
    .summary = "list the pools: what they serve, handle and do; ask one to stop",
    .arguments = "[quiet|terminate|resume NAME]",
    .details = "WORKERS is how many of the pool's workers run a job. What is shown was\n"
               "true at LAST-BEAT; a pool that was not heard of for 60s is silent.\n"
               "quiet asks a pool to take no more jobs, resume to go on, terminate to end once\n"
               "its jobs have ended: it hears that with its next heartbeat, wherever it runs.\n"
               "NAME is how its name begins, if no other's does.\n",
    .examples = pools_examples,
    .options = options_none,
    .words = pool_want_words,
    .max_arguments = 2,
    .run = run_pools,
};

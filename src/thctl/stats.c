/*
 * stats.c - `thctl stats` and `thctl queues`: how many jobs are where.
 */
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "client/queue_json.h"
#include "thctl/queue_rm.h"
#include "thctl/session.h"
#include "thctl/sheet.h"
#include "thctl/table.h"
#include "thctl/when.h"

#define LINE_MAX ((size_t)4096)

/* clang-format off */
static const struct table_column stats_columns[] = {
    {.title = "QUEUE"},
    {.title = "PAUSED"},
    {.title = "SCHEDULED", .right = true, .expendable = 3},
    {.title = "READY", .right = true},
    {.title = "BLOCKED", .right = true, .expendable = 4},
    {.title = "RUNNING", .right = true},
    {.title = "RETRY", .right = true, .expendable = 1},
    {.title = "DONE", .right = true, .expendable = 2},
    {.title = "DEAD", .right = true},
    {.title = "CANCELLED", .right = true, .expendable = 5},
    {.title = "NO-HANDLER", .right = true},
    {.title = "CANNOT-START", .right = true},
    {.title = "OLDEST", .right = true, .expendable = 6},
    {.title = "DONE-TOTAL", .right = true, .expendable = 7},
    {.title = "FAILED-TOTAL", .right = true, .expendable = 8},
};

static const struct table_column queues_columns[] = {
    {.title = "QUEUE"},
    {.title = "PAUSED"},
    {.title = "WAITING", .right = true},
    {.title = "RUNNING", .right = true},
    {.title = "OLDEST", .right = true},
    {.title = "PAUSED-BY", .expendable = 1},
};
/* clang-format on */

static void add_age_cell(struct table *table, const struct queue_stats *stats, usec_t now)
{
    char text[WHEN_TEXT_SIZE];

    if (queue_json_oldest_age(stats, now) < 0)
        table_add(table, COLOUR_DIM, "-");
    else
        table_add(table, COLOUR_NONE,
                  when_relative(now - queue_json_oldest_age(stats, now), now, text));
}

static void add_paused_cell(struct table *table, const struct queue_stats *stats, usec_t now)
{
    char text[WHEN_TEXT_SIZE];

    table_add(table, COLOUR_YELLOW,
              stats->paused_at != 0 ? when_relative(stats->paused_at, now, text) : NULL);
}

/* Most have none, and need no such column. */
static void add_aside_cell(struct table *table, enum colour colour, int64_t count)
{
    if (count != 0)
        table_add_number(table, colour, count);
    else
        table_add(table, COLOUR_NONE, NULL);
}

static void add_stats_row(struct table *table, const struct queue_stats *stats, usec_t now)
{
    table_add(table, COLOUR_NONE, stats->queue);
    add_paused_cell(table, stats, now);
    for (int state = 0; state < JOB_STATES; state++) {
        enum colour colour = sheet_state_colour((enum job_state)state);
        /* Dim is for zero here: a column of cancelled jobs is worth showing. */
        table_add_number(table, colour == COLOUR_DIM ? COLOUR_NONE : colour, stats->jobs[state]);
    }
    add_aside_cell(table, COLOUR_YELLOW, stats->no_handler);
    add_aside_cell(table, COLOUR_RED, stats->cannot_start);
    add_age_cell(table, stats, now);
    table_add_number(table, COLOUR_NONE, stats->done_total);
    table_add_number(table, COLOUR_NONE, stats->failed_total);
}

static void add_queue_row(struct table *table, const struct queue_stats *stats, usec_t now)
{
    table_add(table, COLOUR_NONE, stats->queue);
    add_paused_cell(table, stats, now);
    table_add_number(table, COLOUR_NONE, queue_json_count_waiting(stats));
    table_add_number(table, COLOUR_CYAN, stats->jobs[JOB_RUNNING]);
    add_age_cell(table, stats, now);
    table_add(table, COLOUR_NONE, stats->paused_by);
}

/* One way to look at the same numbers. */
struct view {
    const struct table_column *columns;
    size_t column_count;
    void (*add_json)(struct json_writer *json, const struct queue_stats *stats, usec_t now);
    void (*add_row)(struct table *table, const struct queue_stats *stats, usec_t now);
};

static void print_json(struct session *session, const struct view *view,
                       const struct queue_stats_list *list, usec_t now)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(LINE_MAX);

    for (size_t i = 0; i < list->count; i++) {
        struct json_writer json = {.out = &line};

        buffer_clear(&line);
        json_write_open(&json, NULL, '{');
        view->add_json(&json, &list->items[i], now);
        json_write_close(&json, '}');
        output_json(&session->out, &line);
    }
}

static void print_table(struct session *session, const struct view *view,
                        const struct queue_stats_list *list, usec_t now)
{
    CLEANUP(table_done)
    struct table table = {.columns = view->columns, .column_count = view->column_count};

    if (list->count == 0) {
        output_remark("no queues yet: the first job makes one");
        return;
    }
    for (size_t i = 0; i < list->count; i++)
        view->add_row(&table, &list->items[i], now);
    table_print(&table, &session->out);
}

static enum status print_view(struct session *session, const struct view *view)
{
    CLEANUP(queue_stats_list_done) struct queue_stats_list list = {0};
    struct error err;

    enum status status = session_open(session, SESSION_LOOK);
    if (status != STATUS_OK)
        return status;
    if (!store_stats(session->store, &list, &err))
        return session_fail(&err);
    usec_t now = store_now(session->store);
    if (session->json)
        print_json(session, view, &list, now);
    else
        print_table(session, view, &list, now);
    return STATUS_OK;
}

static enum status run_stats(struct session *session, const struct option_value *options,
                             const struct words *arguments)
{
    static const struct view view = {stats_columns, COUNT_OF(stats_columns), queue_json_add_stats,
                                     add_stats_row};

    (void)options;
    (void)arguments;
    return print_view(session, &view);
}

static enum status run_queues(struct session *session, const struct option_value *options,
                              const struct words *arguments)
{
    static const struct view view = {queues_columns, COUNT_OF(queues_columns), queue_json_add_queue,
                                     add_queue_row};

    (void)options;
    if (arguments->count == 0)
        return print_view(session, &view);
    if (!text_equal(arguments->items[0], "rm") || arguments->count == 1) {
        output_complain("queues takes nothing, or rm and the names of queues (see 'thctl queues "
                        "--help')");
        return STATUS_USAGE;
    }
    return queue_rm(session, arguments->items + 1, arguments->count - 1);
}

static const char *const stats_examples[] = {"stats", "--json stats", NULL};

const struct command command_stats = {
    .name = "stats",
    .summary = "count the jobs of every queue by their states",
    .arguments = "",
    .details = "Of the ready ones, NO-HANDLER have a type that no pool of the queue handles, and\n"
               "the handler of CANNOT-START cannot be started; both are set aside until it can.\n"
               "OLDEST is since when the oldest ready job has been waiting. The totals count\n"
               "what has ever been done and what has ever failed.\n",
    .examples = stats_examples,
    .options = options_none,
    .run = run_stats,
};

static const char *const queues_examples[] = {"queues", "--json queues", "queues rm mail", NULL};

const struct command command_queues = {
    .name = "queues",
    .summary = "list the queues: paused, waiting, running; or hide empty ones",
    .arguments = "[rm QUEUE...]",
    .details = "rm takes a queue without jobs out of all lists, and ends its pause; it is there\n"
               "again with its next job. Ended jobs count until retention, or thctl rm, has\n"
               "removed them.\n",
    .examples = queues_examples,
    .options = options_none,
    .max_arguments = SIZE_MAX,
    .run = run_queues,
};

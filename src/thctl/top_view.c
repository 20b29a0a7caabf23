/*
 * top_view.c - what `thctl top` looks like: drawn with a pen, so that it needs no terminal.
 */
#include "thctl/top_view.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/units.h"
#include "cli/display.h"
#include "thctl/sheet.h"
#include "thctl/top_room.h"
#include "thctl/top_table.h"

#include <string.h>
#include <time.h>

#define LINE_MAX     ((size_t)64 * 1024)
#define PIECE_MAX    256
#define WIDE         110 /* from here on there is room for whole ids */
#define GAP          2
#define HEAD_LINES   2
#define FOOT_LINES   1
#define HIDDEN_WIDTH 6 /* " +1234" */
#define CLOCK_SIZE   16

/* ---- lines: pieces from left to right, never wider than the view ---- */

struct line {
    const struct pen *pen;
    size_t width, used;
};

static struct line line_start(const struct top_view *view, const struct pen *pen)
{
    return (struct line){pen, view->width, 0};
}

/* As much of harmless text as there is room for. */
static void line_put(struct line *line, enum colour colour, const char *text)
{
    CLEANUP(buffer_done) struct buffer piece = BUFFER(LINE_MAX);

    buffer_add(&piece, text, display_fit(text, line->width - line->used));
    pen_text(line->pen, colour, buffer_str(&piece));
    line->used += display_width(buffer_str(&piece));
}

static void line_space(struct line *line, enum colour colour, size_t count)
{
    size_t room = line->width - line->used;

    count = count < room ? count : room;
    pen_spaces(line->pen, colour, count);
    line->used += count;
}

static bool line_has_room(const struct line *line, const char *text)
{
    return display_width(text) <= line->width - line->used;
}

/* At the right edge, and nothing if it does not fit there. */
static void line_put_right(struct line *line, enum colour between, enum colour colour,
                           const char *text)
{
    if (!line_has_room(line, text))
        return;
    line_space(line, between, line->width - line->used - display_width(text));
    line_put(line, colour, text);
}

static void line_end(const struct line *line)
{
    pen_end_line(line->pen);
}

static void put_to_line(enum colour colour, const char *text, size_t length, void *context)
{
    CLEANUP(buffer_done) struct buffer piece = BUFFER(LINE_MAX);

    buffer_add(&piece, text, length);
    line_put(context, colour, buffer_str(&piece));
}

/* For those who draw and do not know of the width. */
static struct pen line_pen(struct line *line)
{
    return (struct pen){.put = put_to_line, .context = line};
}

/* ---- head ---- */

static const char *clock_text(usec_t now, char text[CLOCK_SIZE])
{
    time_t seconds = (time_t)(now / USEC_PER_SEC);
    struct tm local;

    if (now == 0 || !localtime_r(&seconds, &local) ||
        strftime(text, CLOCK_SIZE, "%H:%M:%S", &local) == 0)
        text[0] = '\0';
    return text;
}

static void draw_title(const struct top_view *view, const struct pen *pen)
{
    CLEANUP(buffer_done) struct buffer backend = BUFFER(LINE_MAX);
    struct line line = line_start(view, pen);
    char interval[UNITS_TEXT_SIZE], now[CLOCK_SIZE], right[PIECE_MAX];

    clock_text(view->data->now, now);
    if (view->paused)
        snprintf(right, sizeof right, "  paused at %s", now);
    else
        snprintf(right, sizeof right, "  every %s  %s",
                 units_format_duration(view->interval, interval), now);
    size_t reserved = 2 * strlen(right) <= view->width ? strlen(right) : 0;
    display_add_text(&backend, view->backend);
    line.width -= reserved;
    line_put(&line, COLOUR_BOLD, buffer_str(&backend));
    line.width += reserved;
    if (reserved > 0)
        line_put_right(&line, COLOUR_NONE, view->paused ? COLOUR_YELLOW : COLOUR_NONE, right);
    line_end(&line);
}

/* A number and what it counts, if both fit. */
static void put_figure(struct line *line, const char *name, enum colour colour, const char *number)
{
    size_t gap = line->used > 0 ? GAP : 0;

    if (gap + strlen(name) + 1 + strlen(number) > line->width - line->used)
        return;
    line_space(line, COLOUR_NONE, gap);
    line_put(line, COLOUR_NONE, name);
    line_put(line, COLOUR_NONE, " ");
    line_put(line, colour, number);
}

static void put_count(struct line *line, const struct top_totals *totals, enum job_state state)
{
    char number[OUTPUT_NUMBER_SIZE];
    enum colour colour = sheet_state_colour(state);

    if (totals->jobs[state] == 0 || colour == COLOUR_NONE)
        colour = totals->jobs[state] == 0 ? COLOUR_DIM : COLOUR_BOLD;
    put_figure(line, job_state_name(state), colour, output_number(totals->jobs[state], number));
}

/* Of the ready ones, those that nobody can run now: said only where there are any. */
static void put_aside(struct line *line, const char *name, enum colour colour, int64_t count)
{
    char number[OUTPUT_NUMBER_SIZE];

    if (count > 0)
        put_figure(line, name, colour, output_number(count, number));
}

static void put_rate(struct line *line, const char *name, enum colour colour, double rate)
{
    char number[TOP_RATE_SIZE], text[TOP_RATE_SIZE + 8];

    snprintf(text, sizeof text, "%s/s", top_table_rate(rate, number));
    put_figure(line, name, rate > 0 ? colour : COLOUR_DIM, text);
}

/* What matters most comes first: what does not fit is left out. */
static void draw_totals(const struct top_view *view, const struct pen *pen)
{
    const struct top_totals *totals = &view->data->totals;
    struct line line = line_start(view, pen);
    char workers[64];

    snprintf(workers, sizeof workers, "%zu/%zu", totals->busy, totals->workers);
    put_count(&line, totals, JOB_READY);
    put_aside(&line, "no handler", COLOUR_YELLOW, totals->no_handler);
    put_aside(&line, "cannot start", COLOUR_RED, totals->cannot_start);
    put_count(&line, totals, JOB_RUNNING);
    put_count(&line, totals, JOB_RETRY);
    put_count(&line, totals, JOB_DEAD);
    put_rate(&line, "done", COLOUR_GREEN, totals->done_rate);
    put_rate(&line, "failed", COLOUR_RED, totals->failed_rate);
    put_figure(&line, "workers", totals->workers > 0 ? COLOUR_BOLD : COLOUR_DIM, workers);
    if (totals->jobs[JOB_SCHEDULED] > 0)
        put_count(&line, totals, JOB_SCHEDULED);
    if (totals->jobs[JOB_BLOCKED] > 0)
        put_count(&line, totals, JOB_BLOCKED);
    line_end(&line);
}

/* ---- sections ---- */

static void put_to_buffer(enum colour colour, const char *text, size_t length, void *context)
{
    (void)colour;
    buffer_add(context, text, length);
}

static void add_titles(struct buffer *out, enum top_section section, const struct table *table,
                       const struct table_layout *layout)
{
    const struct pen pen = {.put = put_to_buffer, .context = out};

    if (table_rows(table) == 0)
        buffer_text(out, top_section_name(section));
    else
        table_draw_titles(table, layout, &pen);
}

/* Where not all rows are shown, the bar has room to say so. */
static struct table_layout lay_out(const struct top_view *view, enum top_section section,
                                   const struct table *table)
{
    CLEANUP(buffer_done) struct buffer titles = BUFFER(LINE_MAX);
    const struct table_layout layout = table_lay_out(table, view->width);

    if (view->lines[section] >= table_rows(table) || view->width <= HIDDEN_WIDTH)
        return layout;
    add_titles(&titles, section, table, &layout);
    return display_width(buffer_str(&titles)) + HIDDEN_WIDTH <= view->width
               ? layout
               : table_lay_out(table, view->width - HIDDEN_WIDTH);
}

/* Across the screen: the titles, and which rows are shown when that is not all. */
static void draw_bar(const struct top_view *view, enum top_section section,
                     const struct table *table, const struct table_layout *layout,
                     const struct pen *pen)
{
    CLEANUP(buffer_done) struct buffer titles = BUFFER(LINE_MAX);
    const enum colour colour = section == view->chosen ? COLOUR_CHOSEN : COLOUR_BAR;
    const size_t rows = table_rows(table), shown = view->lines[section];
    struct line line = line_start(view, pen);
    char range[PIECE_MAX], hidden[PIECE_MAX];

    snprintf(range, sizeof range, "  %zu-%zu of %zu", view->first[section] + 1,
             view->first[section] + shown, rows);
    snprintf(hidden, sizeof hidden, " +%zu", rows > shown ? rows - shown : 0);
    add_titles(&titles, section, table, layout);
    line_put(&line, colour, buffer_str(&titles));
    if (shown < rows)
        line_put_right(&line, colour, colour,
                       shown > 0 && line_has_room(&line, range) ? range : hidden);
    line_space(&line, colour, view->width);
    line_end(&line);
}

static void draw_row(const struct top_view *view, const struct table *table,
                     const struct table_layout *layout, size_t row, const struct pen *pen)
{
    struct line line = line_start(view, pen);
    const struct pen clipped = line_pen(&line);

    table_draw_row(table, layout, row, &clipped);
    line_end(&line);
}

static void draw_nothing(const struct top_view *view, enum top_section section,
                         const struct pen *pen)
{
    struct line line = line_start(view, pen);

    line_put(&line, COLOUR_DIM, top_table_nothing(section));
    line_end(&line);
}

static void draw_section(const struct top_view *view, enum top_section section,
                         const struct table *table, const struct pen *pen)
{
    const struct table_layout layout = lay_out(view, section, table);

    draw_bar(view, section, table, &layout, pen);
    for (size_t i = 0; i < view->lines[section]; i++) {
        if (table_rows(table) == 0)
            draw_nothing(view, section, pen);
        else
            draw_row(view, table, &layout, view->first[section] + i, pen);
    }
}

/* ---- foot ---- */

static void draw_hints(const struct top_view *view, const struct pen *pen)
{
    struct line line = line_start(view, pen);
    char order[PIECE_MAX];

    for (size_t i = 0; i < view->hint_count; i++) {
        if (!view->hints[i].brief)
            continue;
        line_put(&line, COLOUR_BOLD, view->hints[i].keys);
        line_space(&line, COLOUR_NONE, 1);
        line_put(&line, COLOUR_NONE, view->hints[i].brief);
        line_space(&line, COLOUR_NONE, GAP);
    }
    snprintf(order, sizeof order, "%s by %s", top_section_name(view->chosen),
             top_order_name(view->chosen, view->order[view->chosen]));
    line_put_right(&line, COLOUR_NONE, COLOUR_DIM, order);
    line_end(&line);
}

static void draw_problem(const struct top_view *view, const struct pen *pen)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(LINE_MAX);
    struct line line = line_start(view, pen);

    display_add_text(&text, view->problem);
    line_put(&line, COLOUR_RED, buffer_str(&text));
    line_end(&line);
}

static void draw_foot(const struct top_view *view, const struct pen *pen)
{
    if (view->problem)
        draw_problem(view, pen);
    else
        draw_hints(view, pen);
}

/* ---- all of it ---- */

static void draw_help(const struct top_view *view, const struct pen *pen)
{
    char text[PIECE_MAX];

    for (size_t i = 0; i < view->hint_count && i + 2 < view->height; i++) {
        struct line line = line_start(view, pen);

        snprintf(text, sizeof text, "  %-12s", view->hints[i].keys);
        line_put(&line, COLOUR_BOLD, text);
        line_put(&line, COLOUR_NONE, view->hints[i].help);
        line_end(&line);
    }
    pen_end_line(pen);
    pen_text(pen, COLOUR_DIM, "  any key goes back");
    pen_end_line(pen);
}

/* Lines without a row are at the end, so that the foot is at the foot. */
static void draw_rest(const struct top_view *view, size_t used, const struct pen *pen)
{
    for (; used + FOOT_LINES < view->height; used++)
        pen_end_line(pen);
}

/* How many lines each section has, and with which row it starts. */
static void share_lines(struct top_view *view, const struct table *tables)
{
    const size_t fixed = HEAD_LINES + TOP_SECTIONS + FOOT_LINES;
    size_t wanted[TOP_SECTIONS];

    for (int i = 0; i < TOP_SECTIONS; i++) {
        size_t rows = table_rows(&tables[i]);
        wanted[i] = view->zoomed && (int)view->chosen != i ? 0 : rows > 0 ? rows : 1;
    }
    top_room_share(view->height > fixed ? view->height - fixed : 0, wanted, view->lines,
                   TOP_SECTIONS);
    for (int i = 0; i < TOP_SECTIONS; i++)
        view->first[i] = top_room_first(view->first[i], table_rows(&tables[i]), view->lines[i]);
}

static void make_tables(const struct top_view *view, bool marked, struct table *tables)
{
    for (int i = 0; i < TOP_SECTIONS; i++) {
        const enum top_section section = (enum top_section)i;
        const char *sorted_by = marked ? top_order_name(section, view->order[i]) : NULL;

        tables[i] = top_table_of(view->data, section, sorted_by, view->width >= WIDE);
    }
}

static void draw_data(struct top_view *view, const struct pen *pen)
{
    struct table tables[TOP_SECTIONS];
    size_t used = HEAD_LINES + TOP_SECTIONS;

    make_tables(view, true, tables);
    share_lines(view, tables);
    draw_title(view, pen);
    draw_totals(view, pen);
    for (int i = 0; i < TOP_SECTIONS; i++) {
        draw_section(view, (enum top_section)i, &tables[i], pen);
        used += view->lines[i];
        table_done(&tables[i]);
    }
    draw_rest(view, used, pen);
    draw_foot(view, pen);
}

void top_view_draw(struct top_view *view, const struct pen *pen)
{
    if (view->helping)
        draw_help(view, pen);
    else
        draw_data(view, pen);
}

static void print_section(const struct top_view *view, enum top_section section,
                          const struct table *table, const struct pen *pen)
{
    const struct table_layout layout = table_lay_out(table, view->width);

    pen_end_line(pen);
    if (table_rows(table) == 0) {
        draw_nothing(view, section, pen);
        return;
    }
    table_draw_titles(table, &layout, pen);
    pen_end_line(pen);
    for (size_t i = 0; i < table_rows(table); i++)
        draw_row(view, table, &layout, i, pen);
}

void top_view_print(const struct top_view *view, const struct pen *pen)
{
    struct table tables[TOP_SECTIONS];

    make_tables(view, false, tables);
    draw_totals(view, pen);
    for (int i = 0; i < TOP_SECTIONS; i++) {
        print_section(view, (enum top_section)i, &tables[i], pen);
        table_done(&tables[i]);
    }
}

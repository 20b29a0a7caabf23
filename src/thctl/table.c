/*
 * table.c - rows and columns for people.
 */
#include "thctl/table.h"

#include "base/buffer.h"
#include "base/text.h"
#include "cli/display.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GAP      2 /* spaces between columns */
#define CELL_MAX ((size_t)64 * 1024)
#define ELLIPSIS "…"

struct table_cell {
    const char *text;
    size_t width;
    enum colour colour;
};

static bool make_room(struct table *table)
{
    if (table->count < table->capacity)
        return true;
    size_t capacity = table->capacity == 0 ? 64 : 2 * table->capacity;
    struct table_cell *cells = reallocarray(table->cells, capacity, sizeof *cells);
    if (!cells)
        return false;
    table->cells = cells;
    table->capacity = capacity;
    return true;
}

static bool is_dull(const struct table *table, size_t column)
{
    for (size_t i = column; i < table->count; i += table->column_count) {
        if (table->cells[i].width > 0 && table->cells[i].colour != COLOUR_DIM)
            return false;
    }
    return true;
}

static size_t natural_width(const struct table *table, size_t column)
{
    size_t width = 0;

    for (size_t i = column; i < table->count; i += table->column_count) {
        if (table->cells[i].width > width)
            width = table->cells[i].width;
    }
    size_t title = display_width(table->columns[column].title);
    return width > 0 && width < title ? title : width;
}

static size_t total_width(const struct table *table, const struct table_layout *layout)
{
    size_t total = 0;

    for (size_t i = 0; i < table->column_count; i++) {
        if (layout->widths[i] > 0)
            total += layout->widths[i] + (total > 0 ? GAP : 0);
    }
    return table->indent + total;
}

/* By how much a column may be cut. */
static size_t spare_width(const struct table *table, const struct table_layout *layout, size_t i)
{
    size_t least = table->columns[i].cut_from;

    return least > 0 && layout->widths[i] > least ? layout->widths[i] - least : 0;
}

static size_t widest_to_spare(const struct table *table, const struct table_layout *layout)
{
    size_t widest = 0;

    for (size_t i = 1; i < table->column_count; i++) {
        if (spare_width(table, layout, i) > spare_width(table, layout, widest))
            widest = i;
    }
    return widest;
}

/* Cuts the column that is missed least, if that is enough. */
static bool cut_column(const struct table *table, struct table_layout *layout, size_t excess)
{
    size_t victim = widest_to_spare(table, layout);

    if (spare_width(table, layout, victim) < excess)
        return false;
    layout->widths[victim] -= excess;
    return true;
}

/* When no column is left to be left out: as many are cut as it takes. */
static void cut_columns(const struct table *table, struct table_layout *layout, size_t width)
{
    while (total_width(table, layout) > width) {
        size_t victim = widest_to_spare(table, layout);
        size_t spare = spare_width(table, layout, victim);

        if (spare == 0)
            return;
        layout->widths[victim] -= spare;
    }
}

/* Leaves out the column that is missed least: those without news first. */
static bool drop_column(const struct table *table, struct table_layout *layout)
{
    size_t victim = 0;
    int most = 0;

    for (size_t i = 0; i < table->column_count; i++) {
        int expendable = table->columns[i].expendable;
        if (layout->widths[i] == 0 || expendable == 0)
            continue;
        if (is_dull(table, i))
            expendable += TABLE_COLUMNS_MAX;
        if (expendable > most) {
            most = expendable;
            victim = i;
        }
    }
    if (most == 0)
        return false;
    layout->widths[victim] = 0;
    return true;
}

/* What was left out for a wider column that then went too comes back. */
static void restore_columns(const struct table *table, struct table_layout *layout, size_t width)
{
    for (int expendable = 1; expendable <= TABLE_COLUMNS_MAX; expendable++) {
        for (size_t i = 0; i < table->column_count; i++) {
            if (table->columns[i].expendable != expendable || layout->widths[i] > 0 ||
                is_dull(table, i))
                continue;
            layout->widths[i] = natural_width(table, i);
            if (total_width(table, layout) > width)
                layout->widths[i] = 0;
        }
    }
}

static void fit(const struct table *table, struct table_layout *layout, size_t width)
{
    for (;;) {
        size_t total = total_width(table, layout);

        if (total <= width)
            break;
        if (cut_column(table, layout, total - width))
            return;
        if (!drop_column(table, layout)) {
            cut_columns(table, layout, width);
            return;
        }
    }
    restore_columns(table, layout, width);
}

/* Cells that are too wide are cut, which is shown. */
static void draw_text(const struct pen *pen, const struct table_cell *cell, size_t width)
{
    if (cell->width <= width) {
        pen_text(pen, cell->colour, cell->text);
        return;
    }
    pen->put(cell->colour, cell->text, display_fit(cell->text, width - 1), pen->context);
    pen_text(pen, cell->colour, ELLIPSIS);
}

static void draw_cell(const struct pen *pen, const struct table_cell *cell, size_t width,
                      bool right, bool is_last)
{
    size_t padding = cell->width < width ? width - cell->width : 0;

    if (right)
        pen_spaces(pen, COLOUR_NONE, padding);
    draw_text(pen, cell, width);
    if (!right && !is_last)
        pen_spaces(pen, COLOUR_NONE, padding);
}

static void draw_cells(const struct table *table, const struct table_layout *layout,
                       const struct table_cell *cells, const struct pen *pen)
{
    size_t last = 0;

    for (size_t i = 0; i < table->column_count; i++) {
        if (layout->widths[i] > 0)
            last = i;
    }
    pen_spaces(pen, COLOUR_NONE, table->indent);
    for (size_t i = 0; i <= last; i++) {
        if (layout->widths[i] == 0)
            continue;
        draw_cell(pen, &cells[i], layout->widths[i], table->columns[i].right, i == last);
        if (i < last)
            pen_spaces(pen, COLOUR_NONE, GAP);
    }
}

static void add(struct table *table, enum colour colour, struct bytes text)
{
    struct buffer shown = BUFFER(CELL_MAX);

    assert(table->column_count <= TABLE_COLUMNS_MAX);
    if (!make_room(table)) {
        table->failed = true;
        return;
    }
    display_add(&shown, text);
    const char *kept = arena_text(&table->arena, buffer_str(&shown));
    buffer_done(&shown);
    if (table->arena.failed)
        table->failed = true;
    else
        table->cells[table->count++] = (struct table_cell){kept, display_width(kept), colour};
}

void table_add(struct table *table, enum colour colour, const char *text)
{
    const char *shown = text ? text : "";

    add(table, colour, (struct bytes){(const unsigned char *)shown, strlen(shown)});
}

void table_add_last_line(struct table *table, enum colour colour, const char *text)
{
    add(table, colour, text_last_line(text ? text : ""));
}

void table_add_number(struct table *table, enum colour colour, int64_t number)
{
    char text[OUTPUT_NUMBER_SIZE];

    table_add(table, number == 0 ? COLOUR_DIM : colour, output_number(number, text));
}

size_t table_rows(const struct table *table)
{
    return table->count / table->column_count;
}

struct table_layout table_lay_out(const struct table *table, size_t width)
{
    struct table_layout layout = {0};

    for (size_t i = 0; i < table->column_count; i++)
        layout.widths[i] = natural_width(table, i);
    fit(table, &layout, width);
    return layout;
}

void table_draw_titles(const struct table *table, const struct table_layout *layout,
                       const struct pen *pen)
{
    struct table_cell titles[TABLE_COLUMNS_MAX] = {0};

    for (size_t i = 0; i < table->column_count; i++) {
        const char *title = table->columns[i].title;
        titles[i] = (struct table_cell){title, display_width(title), COLOUR_BOLD};
    }
    draw_cells(table, layout, titles, pen);
}

void table_draw_row(const struct table *table, const struct table_layout *layout, size_t row,
                    const struct pen *pen)
{
    draw_cells(table, layout, &table->cells[row * table->column_count], pen);
}

static void leave_out(size_t row, void *context)
{
    (void)row;
    (void)context;
}

void table_print(const struct table *table, struct output *out)
{
    table_print_with(table, out, leave_out, NULL);
}

void table_print_with(const struct table *table, struct output *out,
                      void (*beneath)(size_t row, void *context), void *context)
{
    if (table->failed) {
        out->failure = ENOMEM; /* told by output_finish() */
        return;
    }
    const struct table_layout layout = table_lay_out(table, out->terminal ? out->width : SIZE_MAX);
    const struct pen pen = pen_to_output(out);

    table_draw_titles(table, &layout, &pen);
    pen_end_line(&pen);
    for (size_t row = 0; row < table_rows(table); row++) {
        table_draw_row(table, &layout, row, &pen);
        pen_end_line(&pen);
        beneath(row, context);
    }
}

void table_done(struct table *table)
{
    arena_done(&table->arena);
    free(table->cells);
    table->cells = NULL;
    table->count = table->capacity = 0;
}

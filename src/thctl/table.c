/*
 * table.c - rows and columns for people.
 */
#include "thctl/table.h"

#include "base/buffer.h"
#include "thctl/display.h"

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

/* How wide each column is printed; 0 is not at all. */
struct layout {
    size_t widths[TABLE_COLUMNS_MAX];
};

static bool make_room(struct table *table)
{
    if (table->count < table->capacity)
        return true;
    size_t capacity = table->capacity == 0 ? 64 : 2 * table->capacity;
    struct table_cell *cells = reallocarray(table->cells, capacity, sizeof *cells);
    if (cells == NULL)
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
    size_t title = strlen(table->columns[column].title);
    return width > 0 && width < title ? title : width;
}

static size_t total_width(const struct table *table, const struct layout *layout)
{
    size_t total = 0;

    for (size_t i = 0; i < table->column_count; i++) {
        if (layout->widths[i] > 0)
            total += layout->widths[i] + (total > 0 ? GAP : 0);
    }
    return table->indent + total;
}

/* Cuts a column that may be cut, if that is enough. */
static bool cut_column(const struct table *table, struct layout *layout, size_t excess)
{
    for (size_t i = 0; i < table->column_count; i++) {
        size_t least = table->columns[i].cut_from;
        if (least > 0 && layout->widths[i] >= least + excess) {
            layout->widths[i] -= excess;
            return true;
        }
    }
    return false;
}

/* Leaves out the column that is missed least: those without news first. */
static bool drop_column(const struct table *table, struct layout *layout)
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
static void restore_columns(const struct table *table, struct layout *layout, size_t width)
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

static void fit(const struct table *table, struct layout *layout, size_t width)
{
    for (;;) {
        size_t total = total_width(table, layout);

        if (total <= width)
            break;
        if (cut_column(table, layout, total - width) || !drop_column(table, layout))
            return;
    }
    restore_columns(table, layout, width);
}

static struct layout lay_out(const struct table *table, const struct output *out)
{
    struct layout layout = {0};

    for (size_t i = 0; i < table->column_count; i++)
        layout.widths[i] = natural_width(table, i);
    if (out->terminal)
        fit(table, &layout, out->width);
    return layout;
}

static void print_spaces(struct output *out, size_t count)
{
    output_printf(out, "%*s", (int)count, "");
}

static void print_cut(struct output *out, const struct table_cell *cell, size_t width)
{
    if (cell->width <= width)
        output_text(out, cell->text);
    else
        output_printf(out, "%.*s" ELLIPSIS, (int)display_fit(cell->text, width - 1), cell->text);
}

static void print_cell(struct output *out, const struct table_cell *cell, size_t width, bool right,
                       bool is_last)
{
    size_t padding = cell->width < width ? width - cell->width : 0;

    if (right)
        print_spaces(out, padding);
    if (cell->colour != COLOUR_NONE && cell->width > 0) {
        output_colour(out, cell->colour);
        print_cut(out, cell, width);
        output_colour(out, COLOUR_NONE);
    } else {
        print_cut(out, cell, width);
    }
    if (!right && !is_last)
        print_spaces(out, padding);
}

static void print_row(const struct table *table, const struct layout *layout, struct output *out,
                      const struct table_cell *cells)
{
    size_t last = 0;

    for (size_t i = 0; i < table->column_count; i++) {
        if (layout->widths[i] > 0)
            last = i;
    }
    print_spaces(out, table->indent);
    for (size_t i = 0; i <= last; i++) {
        if (layout->widths[i] == 0)
            continue;
        print_cell(out, &cells[i], layout->widths[i], table->columns[i].right, i == last);
        if (i < last)
            print_spaces(out, GAP);
    }
    output_text(out, "\n");
}

static void print_titles(const struct table *table, const struct layout *layout, struct output *out)
{
    struct table_cell titles[TABLE_COLUMNS_MAX] = {0};

    for (size_t i = 0; i < table->column_count; i++) {
        const char *title = table->columns[i].title;
        titles[i] = (struct table_cell){title, strlen(title), COLOUR_BOLD};
    }
    print_row(table, layout, out, titles);
}

void table_add(struct table *table, enum colour colour, const char *text)
{
    struct buffer shown = BUFFER(CELL_MAX);

    assert(table->column_count <= TABLE_COLUMNS_MAX);
    if (!make_room(table)) {
        table->failed = true;
        return;
    }
    display_add_text(&shown, text == NULL ? "" : text);
    const char *kept = arena_text(&table->arena, buffer_str(&shown));
    buffer_done(&shown);
    if (table->arena.failed)
        table->failed = true;
    else
        table->cells[table->count++] = (struct table_cell){kept, display_width(kept), colour};
}

void table_add_number(struct table *table, enum colour colour, int64_t number)
{
    char text[OUTPUT_NUMBER_SIZE];

    table_add(table, number == 0 ? COLOUR_DIM : colour, output_number(number, text));
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
    struct layout layout = lay_out(table, out);

    print_titles(table, &layout, out);
    for (size_t row = 0; row < table->count / table->column_count; row++) {
        print_row(table, &layout, out, &table->cells[row * table->column_count]);
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

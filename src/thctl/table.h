/*
 * table.h - rows and columns for people.
 *
 * Cells are made harmless when they are added and aligned by what a terminal shows. A column
 * without any content is left out. On a terminal that is too narrow, columns may be cut or left
 * out, as their rows say; anywhere else a table is complete.
 */
#ifndef THCTL_TABLE_H
#define THCTL_TABLE_H

#include "base/arena.h"
#include "base/base.h"
#include "cli/output.h"
#include "thctl/pen.h"

#define TABLE_COLUMNS_MAX 16

struct table_column {
    const char *title;
    bool right;      /* aligned to the right */
    int expendable;  /* left out before those with a lower number; 0 is never */
    size_t cut_from; /* may be cut down to this width; 0 is never */
};

struct table_cell;

struct table {
    const struct table_column *columns;
    size_t column_count;
    size_t indent; /* spaces before each line */
    struct arena arena;
    struct table_cell *cells; /* owned; row by row */
    size_t count, capacity;
    bool failed; /* out of memory */
};

/* The next cell, from left to right, row after row. NULL is an empty one. Dim cells matter least.
 */
void table_add(struct table *table, enum colour colour, const char *text);
void table_add_last_line(struct table *table, enum colour colour, const char *text);
void table_add_number(struct table *table, enum colour colour, int64_t number); /* 0 is dim */

void table_print(const struct table *table, struct output *out);

/* The same, and `beneath` writes what belongs below each row; rows count from 0. */
void table_print_with(const struct table *table, struct output *out,
                      void (*beneath)(size_t row, void *context), void *context);

/* The same piece by piece, for whoever has only so many lines: how wide each column is drawn on a
 * terminal of this width (SIZE_MAX: unlimited), the titles, and one row of table_rows(). */
struct table_layout {
    size_t widths[TABLE_COLUMNS_MAX]; /* 0: left out */
};

size_t table_rows(const struct table *table);
struct table_layout table_lay_out(const struct table *table, size_t width);
void table_draw_titles(const struct table *table, const struct table_layout *layout,
                       const struct pen *pen);
void table_draw_row(const struct table *table, const struct table_layout *layout, size_t row,
                    const struct pen *pen);

void table_done(struct table *table);

#endif

/*
 * top_table.h - the sections of `thctl top` as tables.
 */
#ifndef THCTL_TOP_TABLE_H
#define THCTL_TOP_TABLE_H

#include "base/base.h"
#include "thctl/table.h"
#include "thctl/top_data.h"
#include "thctl/top_order.h"

#define TOP_RATE_SIZE 32

/* A section with all its rows, released by table_done(). The column of this title is marked as the
 * one that decides their order; NULL marks none. `wide`: there is room for whole ids. */
struct table top_table_of(const struct top_data *data, enum top_section section,
                          const char *sorted_by, bool wide);

/* What stands where a section has no rows. */
const char *top_table_nothing(enum top_section section);

/* "0", "0.3", "12", "1,234"; "-" when it is not known. */
const char *top_table_rate(double rate, char text[TOP_RATE_SIZE]);

#endif

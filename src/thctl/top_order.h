/*
 * top_order.h - in which order the rows of each section of `thctl top` stand.
 */
#ifndef THCTL_TOP_ORDER_H
#define THCTL_TOP_ORDER_H

#include "base/base.h"
#include "thctl/top_data.h"

enum top_section { TOP_POOLS, TOP_WORKERS, TOP_QUEUES, TOP_FAILURES, TOP_SECTIONS };

const char *top_section_name(enum top_section section);

/* How many orders a section has; they are numbered from 0, which is where it starts. */
size_t top_order_count(enum top_section section);

/* The title of the column that decides. */
const char *top_order_name(enum top_section section, size_t order);

/* Sorts the rows of a section in place. Equal ones are in the order of their names, so that they
 * stay where they are. */
void top_order_sort(struct top_data *data, enum top_section section, size_t order);

#endif

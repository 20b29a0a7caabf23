/*
 * top_view.h - what `thctl top` looks like: drawn with a pen, so that it needs no terminal.
 *
 *   sqlite:/srv/jobs.db                                             every 1s  14:03:21
 *   ready 1,234  running 5  retry 3  dead 12  done 512/s  failed 1.2/s  workers 5/8
 *   POOL ...          each section: a bar with its titles, and as many rows as there is room
 *   WORKER ...
 *   QUEUE ...
 *   FAILED ...
 *   q quit  p pause  ...                                      queues 1-4 of 20 by READY
 */
#ifndef THCTL_TOP_VIEW_H
#define THCTL_TOP_VIEW_H

#include "base/base.h"
#include "thctl/pen.h"
#include "thctl/top_data.h"
#include "thctl/top_order.h"

/* A key and what it does, for the help. */
struct top_hint {
    const char *keys, *help;
    const char *brief; /* for the last line; NULL: not there */
};

struct top_view {
    const struct top_data *data;
    const char *backend; /* without secrets */
    const char *problem; /* why the data is old; NULL: it is not */
    const struct top_hint *hints;
    size_t hint_count;
    usec_t interval;
    bool paused;
    bool helping; /* the keys are shown instead of the data */
    bool zoomed;  /* only the chosen section has rows */
    enum top_section chosen;
    size_t order[TOP_SECTIONS];
    size_t first[TOP_SECTIONS]; /* the first row shown; corrected by drawing */
    size_t lines[TOP_SECTIONS]; /* how many were shown: set by drawing */
    size_t width, height;
};

/* `height` lines of at most `width` columns. If `height` has no room for a row in each section,
 * more lines are drawn: the pen leaves out what is below the last one. */
void top_view_draw(struct top_view *view, const struct pen *pen);

/* All of it, once, for whoever reads it later; of the view's state only `width` counts. */
void top_view_print(const struct top_view *view, const struct pen *pen);

#endif

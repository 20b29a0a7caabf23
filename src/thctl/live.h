/*
 * live.h - one line on stderr that is written over again and again: progress.
 *
 * Where stderr is not a terminal, or one that cannot erase a line, nothing is shown.
 */
#ifndef THCTL_LIVE_H
#define THCTL_LIVE_H

#include "base/base.h"

struct live {
    bool enabled;
    bool shown;
    usec_t next; /* boot time: not redrawn before */
};

struct live live_on_stderr(void);

/* Whether it is time to show something new. */
bool live_is_due(const struct live *live);

/* Text is made harmless and cut to the terminal's width. */
void live_show(struct live *live, const char *text);

/* "storing [#####...............]  25%  rest" */
void live_show_bar(struct live *live, const char *doing, int percent, const char *rest);

/* Before anything else is written to the terminal, and at the end. */
void live_clear(struct live *live);

#endif

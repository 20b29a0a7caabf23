/*
 * top_screen.h - the terminal as a screen with keys: the only file that knows curses.
 */
#ifndef THCTL_TOP_SCREEN_H
#define THCTL_TOP_SCREEN_H

#include "base/base.h"
#include "thctl/pen.h"

#include <signal.h>

struct error;

/* Keys that are not characters. */
enum top_key {
    TOP_KEY_NONE = 0,   /* none was pressed */
    TOP_KEY_GONE = 256, /* nor will there be one: the terminal has gone */
    TOP_KEY_UP,
    TOP_KEY_DOWN,
    TOP_KEY_PAGE_UP,
    TOP_KEY_PAGE_DOWN,
    TOP_KEY_HOME,
    TOP_KEY_END,
    TOP_KEY_BACK_TAB,
    TOP_KEY_RESIZE,
    TOP_KEY_OTHER,
};

struct top_screen;

/* Takes over the terminal on stdin and stdout. TH_E_INVALID when $TERM cannot be drawn on; then
 * nothing has changed. */
bool top_screen_open(bool coloured, struct top_screen **screen_out, struct error *err) MUST_CHECK;

/* Gives the terminal back as it was. Sets *screen to NULL. */
void top_screen_close(struct top_screen **screen);

void top_screen_size(const struct top_screen *screen, size_t *width_out, size_t *height_out);

/* A pen on an empty screen, and the moment when what it drew appears. */
struct pen top_screen_clear(struct top_screen *screen);
void top_screen_show(struct top_screen *screen);

/* The next key: a character or one of the above. Waits this long, or until a signal comes that is
 * not in `blocked`. */
int top_screen_wait(struct top_screen *screen, usec_t timeout, const sigset_t *blocked);

#endif

/*
 * live.c - one line on stderr that is written over again and again: progress.
 */
#include "thctl/live.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "cli/display.h"
#include "cli/output.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define INTERVAL    (100 * USEC_PER_MSEC)
#define LINE_MAX    ((size_t)4096)
#define WIDTH_GUESS 80
#define BAR_WIDTH   20
#define ERASE_LINE  "\r\033[K"

static size_t line_width(void)
{
    struct winsize size;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2)
        return WIDTH_GUESS - 1;
    return (size_t)size.ws_col - 1;
}

struct live live_on_stderr(void)
{
    return (struct live){.enabled = isatty(STDERR_FILENO) == 1 && output_obeys_escapes()};
}

bool live_is_due(const struct live *live)
{
    return live->enabled && clock_boot() >= live->next;
}

void live_show(struct live *live, const char *text)
{
    struct buffer line = BUFFER(LINE_MAX);

    if (!live->enabled)
        return;
    display_add_text(&line, text);
    fprintf(stderr, ERASE_LINE "%.*s", (int)display_fit(buffer_str(&line), line_width()),
            buffer_str(&line));
    buffer_done(&line);
    live->shown = true;
    live->next = clock_boot() + INTERVAL;
}

void live_show_bar(struct live *live, const char *doing, int percent, const char *rest)
{
    static const char full[BAR_WIDTH + 1] = "####################";
    static const char empty[BAR_WIDTH + 1] = "....................";
    int filled = percent * BAR_WIDTH / 100;
    char text[256];

    snprintf(text, sizeof text, "%s [%.*s%.*s] %3d%%  %s", doing, filled, full, BAR_WIDTH - filled,
             empty, percent, rest);
    live_show(live, text);
}

void live_clear(struct live *live)
{
    if (live->shown)
        fputs(ERASE_LINE, stderr);
    live->shown = false;
}

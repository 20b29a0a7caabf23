/*
 * top_screen.c - the terminal as a screen with keys: the only file that knows curses.
 */
#include "thctl/top_screen.h"

#include "base/error.h"
#include "base/excerpt.h"
#include "cli/output.h"

#include <curses.h>
#include <poll.h>
#include <stdlib.h>
#include <term.h>
#include <time.h>
#include <unistd.h>

#define ESCAPE_DELAY 25 /* ms until an escape character is not the start of a longer key */

struct top_screen {
    SCREEN *screen;
    bool coloured;
    int line;
};

/* What each colour is here; the number of its pair is its index. */
static const struct {
    short colour; /* -1: none */
    attr_t plain; /* where there are no colours, or besides it */
} looks[] = {
    [COLOUR_NONE] = {-1, A_NORMAL},
    [COLOUR_BOLD] = {-1, A_BOLD},
    [COLOUR_DIM] = {-1, A_DIM},
    [COLOUR_RED] = {COLOR_RED, A_NORMAL},
    [COLOUR_GREEN] = {COLOR_GREEN, A_NORMAL},
    [COLOUR_YELLOW] = {COLOR_YELLOW, A_NORMAL},
    [COLOUR_BLUE] = {COLOR_BLUE, A_NORMAL},
    [COLOUR_MAGENTA] = {COLOR_MAGENTA, A_NORMAL},
    [COLOUR_CYAN] = {COLOR_CYAN, A_NORMAL},
    [COLOUR_BAR] = {-1, A_REVERSE},
    [COLOUR_CHOSEN] = {COLOR_CYAN, A_REVERSE | A_BOLD},
};

static const struct {
    int code;
    enum top_key key;
} keys[] = {
    {KEY_UP, TOP_KEY_UP},           {KEY_DOWN, TOP_KEY_DOWN},     {KEY_PPAGE, TOP_KEY_PAGE_UP},
    {KEY_NPAGE, TOP_KEY_PAGE_DOWN}, {KEY_HOME, TOP_KEY_HOME},     {KEY_END, TOP_KEY_END},
    {KEY_BTAB, TOP_KEY_BACK_TAB},   {KEY_RESIZE, TOP_KEY_RESIZE},
};

static void start_colours(struct top_screen *screen)
{
    screen->coloured =
        screen->coloured && has_colors() && start_color() == OK && use_default_colors() == OK;
    for (size_t i = 0; screen->coloured && i < COUNT_OF(looks); i++) {
        if (looks[i].colour >= 0)
            init_pair((short)i, looks[i].colour, -1);
    }
}

static void set_modes(void)
{
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(ESCAPE_DELAY);
    curs_set(0);
}

static bool refuse_terminal(struct error *err)
{
    char shown[EXCERPT_SIZE];
    const char *name = getenv("TERM");

    if (!name || name[0] == '\0')
        return error_set(err, TH_E_INVALID,
                         "TERM is not set, so nothing is known of this terminal (or use --once)");
    return error_set(err, TH_E_INVALID,
                     "the terminal '%s' cannot be drawn on: set TERM (or use --once)",
                     excerpt_of(name, shown));
}

/* Asked first: newterm() leaks when it does not know the terminal. */
static bool knows_terminal(void)
{
    int answer;

    if (setupterm(NULL, STDOUT_FILENO, &answer) != OK)
        return false;
    del_curterm(cur_term);
    return true;
}

bool top_screen_open(bool coloured, struct top_screen **screen_out, struct error *err)
{
    if (!output_obeys_escapes() || !knows_terminal())
        return refuse_terminal(err);
    struct top_screen *screen = calloc(1, sizeof *screen);
    if (!screen)
        return error_no_memory(err);
    screen->screen = newterm(NULL, stdout, stdin);
    if (!screen->screen) {
        free(screen);
        return refuse_terminal(err);
    }
    screen->coloured = coloured;
    start_colours(screen);
    set_modes();
    *screen_out = screen;
    return true;
}

void top_screen_close(struct top_screen **screen)
{
    if (!*screen)
        return;
    endwin();
    delscreen((*screen)->screen);
    free(*screen);
    *screen = NULL;
}

void top_screen_size(const struct top_screen *screen, size_t *width_out, size_t *height_out)
{
    (void)screen;
    *width_out = (size_t)COLS;
    *height_out = (size_t)LINES;
}

static attr_t attributes_of(const struct top_screen *screen, enum colour colour)
{
    if (!screen->coloured || looks[colour].colour < 0)
        return looks[colour].plain;
    return looks[colour].plain | (attr_t)COLOR_PAIR(colour);
}

static void put(enum colour colour, const char *text, size_t length, void *context)
{
    const struct top_screen *screen = context;

    if (screen->line >= LINES)
        return;
    attrset((int)attributes_of(screen, colour));
    addnstr(text, (int)length);
}

/* Text that reached the right edge has moved the cursor on already. */
static void end_line(void *context)
{
    struct top_screen *screen = context;

    screen->line++;
    if (screen->line < LINES)
        move(screen->line, 0);
}

struct pen top_screen_clear(struct top_screen *screen)
{
    erase();
    move(0, 0);
    screen->line = 0;
    return (struct pen){put, end_line, screen};
}

void top_screen_show(struct top_screen *screen)
{
    (void)screen;
    refresh();
}

static int translate(int code)
{
    if (code == ERR)
        return TOP_KEY_NONE;
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        if (keys[i].code == code)
            return keys[i].key;
    }
    return code > 0 && code < TOP_KEY_GONE ? code : TOP_KEY_OTHER;
}

int top_screen_wait(struct top_screen *screen, usec_t timeout, const sigset_t *blocked)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    const struct timespec time_left = {
        .tv_sec = (time_t)(timeout / USEC_PER_SEC),
        .tv_nsec = (long)(timeout % USEC_PER_SEC) * 1000,
    };

    (void)screen;
    int key = translate(getch()); /* one that came together with the one before */
    if (key != TOP_KEY_NONE)
        return key;
    if (ppoll(&input, 1, &time_left, blocked) > 0 && (input.revents & ~POLLIN) != 0)
        return TOP_KEY_GONE;
    return translate(getch());
}

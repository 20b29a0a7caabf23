/*
 * top.c - `thctl top`: what the pools do, live.
 *
 * One look at the store every interval, drawn until the next; keys change how it is drawn, at once.
 *
 *     store --top_data--> what there is --top_order--> sorted --top_view--> lines --top_screen
 *
 * Invariants:
 *   - A store that is away is a line at the bottom: what was seen last stays, and looking goes on.
 *   - Looking never takes more than a fifth of the time, however long one look takes.
 *   - The terminal is given back on every way out. Signals are blocked except while we wait for
 *     keys, so none of them ends the process before that.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "client/attention.h"
#include "thctl/limits.h"
#include "thctl/session.h"
#include "thctl/stop.h"
#include "thctl/top_screen.h"
#include "thctl/top_view.h"

#include <unistd.h>

#define INTERVAL_DEFAULT USEC_PER_SEC
#define INTERVAL_MIN     (100 * USEC_PER_MSEC)
#define INTERVAL_MAX     USEC_PER_HOUR
#define REST             4 /* times as long as the last look took */

enum top_option { TOP_INTERVAL, TOP_ONCE, TOP_OPTIONS };

/* clang-format off */
static const struct option top_options[] = {
    [TOP_INTERVAL] = {"interval", 'i', "D", "how often to look (1s)", OPTION_DURATION,
                      .min = INTERVAL_MIN, .max = INTERVAL_MAX},
    [TOP_ONCE] = {"once", 0, NULL, "print what there is now, and end", OPTION_FLAG},
    [TOP_OPTIONS] = {.name = NULL},
};
/* clang-format on */

/* What + and - step through. */
static const usec_t intervals[] = {
    250 * USEC_PER_MSEC, 500 * USEC_PER_MSEC, USEC_PER_SEC,      2 * USEC_PER_SEC,
    5 * USEC_PER_SEC,    10 * USEC_PER_SEC,   30 * USEC_PER_SEC, 60 * USEC_PER_SEC,
};

struct top {
    struct session *session;
    struct top_screen *screen;
    struct top_view view;
    struct top_data data;
    struct error problem;
    usec_t next_look; /* boot time */
    bool ended;
    struct attention attention; /* to the pools */
};

/* ---- looking ---- */

static void sort_all(struct top *top)
{
    for (int i = 0; i < TOP_SECTIONS; i++)
        top_order_sort(&top->data, (enum top_section)i, top->view.order[i]);
}

/* What the failed ones are allowed, by the pools that were seen in the same look. */
static void resolve_limits(const struct top *top, struct top_data *data)
{
    struct offers offers = {
        .pools = arena_alloc(&data->arena, (data->pool_count + 1) * sizeof *offers.pools)};

    for (size_t i = 0; i < data->pool_count && offers.pools; i++) {
        if (!data->pools[i].silent)
            offers.pools[offers.count++] = data->pools[i].status;
    }
    limits_fill_all(&data->failures, &offers, &top->session->config);
}

static void take_over(struct top *top, struct top_data *fresh)
{
    top_data_compare(fresh, &top->data);
    top_data_done(&top->data);
    top->data = *fresh;
    sort_all(top);
}

/* What is on the screen is what the pools say of themselves. */
static void look(struct top *top)
{
    static const struct watch pools = {.pools = true};
    struct top_data fresh;
    usec_t start = clock_boot();
    bool seen = top_data_read(top->session->store, &fresh, &top->problem);
    usec_t rest = REST * (clock_boot() - start);

    if (seen) {
        attention_pay(&top->attention, top->session->store, &pools);
        resolve_limits(top, &fresh);
        take_over(top, &fresh);
    }
    top->view.problem = seen ? NULL : top->problem.text;
    top->next_look = clock_boot() + (rest > top->view.interval ? rest : top->view.interval);
}

/* ---- keys ---- */

static void end(struct top *top)
{
    top->ended = true;
}

static void pause_or_go_on(struct top *top)
{
    top->view.paused = !top->view.paused;
    top->next_look = 0;
}

static void look_now(struct top *top)
{
    top->view.paused = false;
    top->next_look = 0;
}

static void choose_order(struct top *top, size_t step)
{
    const enum top_section section = top->view.chosen;
    const size_t count = top_order_count(section);

    top->view.order[section] = (top->view.order[section] + step) % count;
    top->view.first[section] = 0;
    top_order_sort(&top->data, section, top->view.order[section]);
}

static void choose_next_order(struct top *top)
{
    choose_order(top, 1);
}

static void choose_former_order(struct top *top)
{
    choose_order(top, top_order_count(top->view.chosen) - 1);
}

static void choose_next_section(struct top *top)
{
    top->view.chosen = (top->view.chosen + 1) % TOP_SECTIONS;
}

static void choose_former_section(struct top *top)
{
    top->view.chosen = (top->view.chosen + TOP_SECTIONS - 1) % TOP_SECTIONS;
}

static void zoom(struct top *top)
{
    top->view.zoomed = !top->view.zoomed;
}

/* Rows count from 0; drawing puts right what goes beyond the last. */
static void scroll_back(struct top *top, size_t rows)
{
    size_t *first = &top->view.first[top->view.chosen];

    *first = *first > rows ? *first - rows : 0;
}

static void scroll_on(struct top *top, size_t rows)
{
    top->view.first[top->view.chosen] += rows;
}

static void scroll_up(struct top *top)
{
    scroll_back(top, 1);
}

static void scroll_down(struct top *top)
{
    scroll_on(top, 1);
}

static void scroll_page_up(struct top *top)
{
    scroll_back(top, top->view.lines[top->view.chosen]);
}

static void scroll_page_down(struct top *top)
{
    scroll_on(top, top->view.lines[top->view.chosen]);
}

static void scroll_to_start(struct top *top)
{
    top->view.first[top->view.chosen] = 0;
}

static void scroll_to_end(struct top *top)
{
    top->view.first[top->view.chosen] = SIZE_MAX / 2;
}

static void set_interval(struct top *top, usec_t interval)
{
    top->view.interval = interval;
    top->next_look = clock_boot() + interval;
}

static void look_less_often(struct top *top)
{
    for (size_t i = 0; i < COUNT_OF(intervals); i++) {
        if (intervals[i] > top->view.interval) {
            set_interval(top, intervals[i]);
            return;
        }
    }
}

static void look_more_often(struct top *top)
{
    for (size_t i = COUNT_OF(intervals); i > 0; i--) {
        if (intervals[i - 1] < top->view.interval) {
            set_interval(top, intervals[i - 1]);
            return;
        }
    }
}

static void help(struct top *top)
{
    top->view.helping = true;
}

/* What the last line and the help say, in their order. */
/* clang-format off */
static const struct top_hint hints[] = {
    {"q", "quit", "quit"},
    {"p", "pause the display, or go on", "pause"},
    {"s", "sort the chosen section by another column; S goes back", "sort"},
    {"Tab", "choose another section; Shift-Tab goes back", "section"},
    {"Enter", "give all lines to the chosen section, or share them again", "zoom"},
    {"Up Down", "scroll the chosen section; also PgUp, PgDn, Home, End", NULL},
    {"+ -", "look less or more often", NULL},
    {"r", "look now", NULL},
    {"h", "this help", "help"},
};

static const struct {
    int key;
    void (*act)(struct top *top);
} bindings[] = {
    {'q', end},                      {'Q', end},
    {'p', pause_or_go_on},           {' ', pause_or_go_on},
    {'r', look_now},
    {'s', choose_next_order},        {'>', choose_next_order},
    {'S', choose_former_order},        {'<', choose_former_order},
    {'\t', choose_next_section},     {TOP_KEY_BACK_TAB, choose_former_section},
    {'\r', zoom},                    {'\n', zoom},
    {TOP_KEY_UP, scroll_up},         {'k', scroll_up},
    {TOP_KEY_DOWN, scroll_down},     {'j', scroll_down},
    {TOP_KEY_PAGE_UP, scroll_page_up},
    {TOP_KEY_PAGE_DOWN, scroll_page_down},
    {TOP_KEY_HOME, scroll_to_start}, {TOP_KEY_END, scroll_to_end},
    {'+', look_less_often},          {'-', look_more_often},
    {'h', help},                     {'?', help},
    {TOP_KEY_GONE, end},
};
/* clang-format on */

static void press(struct top *top, int key)
{
    if (top->view.helping && key != TOP_KEY_NONE && key != TOP_KEY_RESIZE) {
        top->view.helping = false;
        key = key == TOP_KEY_GONE || key == 'q' ? key : TOP_KEY_NONE;
    }
    for (size_t i = 0; i < COUNT_OF(bindings); i++) {
        if (bindings[i].key == key) {
            bindings[i].act(top);
            return;
        }
    }
}

/* ---- the command ---- */

static void draw(struct top *top)
{
    const struct pen pen = top_screen_clear(top->screen);

    top_screen_size(top->screen, &top->view.width, &top->view.height);
    top_view_draw(&top->view, &pen);
    top_screen_show(top->screen);
}

static usec_t time_left(const struct top *top)
{
    usec_t now = clock_boot();

    if (top->view.paused)
        return INTERVAL_MAX;
    return top->next_look > now ? top->next_look - now : 0;
}

static void watch(struct top *top, const sigset_t *outside)
{
    while (!top->ended && !stop_is_asked()) {
        if (time_left(top) == 0)
            look(top);
        draw(top);
        press(top, top_screen_wait(top->screen, time_left(top), outside));
    }
}

static void block_signals(sigset_t *outside_out)
{
    sigset_t ours;

    sigemptyset(&ours);
    sigaddset(&ours, SIGHUP);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    sigprocmask(SIG_BLOCK, &ours, outside_out);
}

static enum status run_live(struct top *top)
{
    struct error err;
    sigset_t outside;

    stop_watch();
    block_signals(&outside);
    if (!top_screen_open(top->session->out.coloured, &top->screen, &err)) {
        output_complain("top: %s", err.text);
        return STATUS_USAGE;
    }
    watch(top, &outside);
    top_screen_close(&top->screen);
    sigprocmask(SIG_SETMASK, &outside, NULL);
    stop_obey();
    return STATUS_OK;
}

static enum status run_once(struct top *top)
{
    struct output *out = &top->session->out;
    const struct pen pen = pen_to_output(out);
    struct error err;

    if (!top_data_read(top->session->store, &top->data, &err))
        return session_fail(&err);
    resolve_limits(top, &top->data);
    sort_all(top);
    top->view.width = out->terminal ? out->width : SIZE_MAX / 2;
    top_view_print(&top->view, &pen);
    return STATUS_OK;
}

static bool check_usage(const struct session *session, bool once)
{
    if (session->json)
        output_complain("top: is for people: programs use 'thctl --json stats', 'pools' and 'ls'");
    else if (!once && (!session->out.terminal || isatty(STDIN_FILENO) != 1))
        output_complain("top: needs a terminal to draw on (see --once)");
    else
        return true;
    return false;
}

static enum status run_top(struct session *session, const struct option_value *options,
                           const struct words *arguments)
{
    const struct option_value *interval = &options[TOP_INTERVAL];
    struct top top = {.session = session};

    (void)arguments;
    if (!check_usage(session, options[TOP_ONCE].given))
        return STATUS_USAGE;
    enum status status = session_open(session, SESSION_LOOK);
    if (status != STATUS_OK)
        return status;
    top.view = (struct top_view){
        .data = &top.data,
        .backend = store_name(session->store),
        .hints = hints,
        .hint_count = COUNT_OF(hints),
        .interval = interval->given ? interval->number : INTERVAL_DEFAULT,
        .chosen = TOP_WORKERS,
    };
    status = options[TOP_ONCE].given ? run_once(&top) : run_live(&top);
    top_data_done(&top.data);
    return status;
}

static const char *const top_examples[] = {"top", "top --interval 5s", "top --once", NULL};

const struct command command_top = {
    .name = "top",
    .summary = "watch the pools, workers, queues and failures live",
    .arguments = "",
    .details = "Keys: q quits, p pauses the display, Tab chooses a section and s its order, the\n"
               "arrows scroll it; h shows all of them. Rates are since the look before. What a\n"
               "worker does is what its pool said at LAST-BEAT; pools that are watched tell at\n"
               "once, from their next heartbeat on.\n",
    .examples = top_examples,
    .options = top_options,
    .run = run_top,
};

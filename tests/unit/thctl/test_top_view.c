#include "thctl/top_view.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "cli/display.h"
#include "suites.h"
#include "thctl/top_table.h"

#include <string.h>

#define SCREEN_MAX ((size_t)1 << 20)

static struct queue_stats stats[] = {
    {.queue = "default", .jobs = {[JOB_READY] = 1234}},
    {.queue = "mail", .paused_at = 1, .jobs = {[JOB_DEAD] = 7}},
    {.queue = "a-queue-whose-name-is-much-longer-than-anybody-would-like-it-to-be"},
};

static struct top_queue queues[] = {{&stats[0], 512, 0}, {&stats[1], 0, 0.3}, {&stats[2], 0, 0}};

static struct job failures[] = {
    {.type = "email:send",
     .queue = "mail",
     .state = JOB_DEAD,
     .attempts = 3,
     .failed_at = 1,
     .last_error = "smtp: the other side hung up, which it does whenever the moon is full"},
};

static const struct top_hint hints[] = {{"q", "quit", "quit"}, {"h", "this help", "help"}};

static const struct top_data data = {
    .now = 1000 * USEC_PER_SEC,
    .queues = queues,
    .queue_count = COUNT_OF(queues),
    .failures = {.items = failures, .count = COUNT_OF(failures)},
    .totals = {.jobs = {[JOB_READY] = 1234, [JOB_DEAD] = 7}, .done_rate = 512, .failed_rate = 0.3},
};

static struct top_view view_of(size_t width, size_t height)
{
    return (struct top_view){.data = &data,
                             .backend = "sqlite:./jobs.db",
                             .hints = hints,
                             .hint_count = COUNT_OF(hints),
                             .interval = USEC_PER_SEC,
                             .chosen = TOP_QUEUES,
                             .width = width,
                             .height = height};
}

static void put(enum colour colour, const char *text, size_t length, void *context)
{
    (void)colour;
    buffer_add(context, text, length);
}

static void end_line(void *context)
{
    buffer_char(context, '\n');
}

static void draw(struct top_view *view, struct buffer *screen)
{
    const struct pen pen = {put, end_line, screen};

    display_init();
    buffer_clear(screen);
    top_view_draw(view, &pen);
}

static void assert_has(const struct buffer *screen, const char *text)
{
    ck_assert_msg(strstr(buffer_str(screen), text) != NULL, "no '%s' in\n%s", text,
                  buffer_str(screen));
}

/* Fails when a line is too wide; returns how many there are. */
static size_t check_lines(const struct buffer *screen, size_t width)
{
    size_t count = 0;

    for (const char *line = buffer_str(screen); *line != '\0'; count++) {
        size_t length = strcspn(line, "\n");
        char *copy = strndup(line, length);

        ck_assert_msg(display_width(copy) <= width, "%zu: %s", width, copy);
        free(copy);
        line += length + 1;
    }
    return count;
}

START_TEST(every_screen_is_filled_and_none_is_left)
{
    CLEANUP(buffer_done) struct buffer screen = BUFFER(SCREEN_MAX);

    for (size_t width = 1; width < 200; width += 3) {
        for (size_t height = 7; height < 40; height += 4) {
            struct top_view view = view_of(width, height);

            draw(&view, &screen);
            ck_assert_uint_eq(check_lines(&screen, width), height);
        }
    }
}
END_TEST

START_TEST(the_smallest_screens_do_no_harm)
{
    CLEANUP(buffer_done) struct buffer screen = BUFFER(SCREEN_MAX);

    for (size_t height = 0; height < 7; height++) {
        struct top_view view = view_of(height, height);

        draw(&view, &screen);
        view.helping = true;
        draw(&view, &screen);
    }
}
END_TEST

START_TEST(eighty_columns_have_room_for_what_matters)
{
    CLEANUP(buffer_done) struct buffer screen = BUFFER(SCREEN_MAX);
    struct top_view view = view_of(80, 24);

    draw(&view, &screen);
    assert_has(&screen, "sqlite:./jobs.db ");
    assert_has(&screen, "  every 1s  ");
    assert_has(&screen, "ready 1,234  running 0  retry 0  dead 7  done 512/s  failed 0.3/s");
    assert_has(&screen, "no pool has registered");
    assert_has(&screen, "READY▾");
    assert_has(&screen, "  paused  ");
    assert_has(&screen, "smtp: the other side hung up");
    assert_has(&screen, "q quit  h help ");
    assert_has(&screen, "queues by READY\n");
}
END_TEST

START_TEST(a_section_with_too_many_rows_says_which_are_shown)
{
    CLEANUP(buffer_done) struct buffer screen = BUFFER(SCREEN_MAX);
    struct top_view view = view_of(200, 12);

    view.first[TOP_QUEUES] = 1;
    draw(&view, &screen);
    ck_assert_uint_eq(view.lines[TOP_QUEUES], 2);
    assert_has(&screen, "  2-3 of 3\n");
    view.width = 120;
    draw(&view, &screen);
    assert_has(&screen, " +1\n");
    view.first[TOP_QUEUES] = 99;
    draw(&view, &screen);
    ck_assert_uint_eq(view.first[TOP_QUEUES], 1);
}
END_TEST

START_TEST(the_chosen_section_can_have_all_lines)
{
    CLEANUP(buffer_done) struct buffer screen = BUFFER(SCREEN_MAX);
    struct top_view view = view_of(120, 12);

    view.zoomed = true;
    draw(&view, &screen);
    ck_assert_uint_eq(view.lines[TOP_QUEUES], 3);
    ck_assert_uint_eq(view.lines[TOP_FAILURES], 0);
    assert_has(&screen, " +1\n");
}
END_TEST

START_TEST(a_problem_is_shown_and_what_was_seen_stays)
{
    CLEANUP(buffer_done) struct buffer screen = BUFFER(SCREEN_MAX);
    struct top_view view = view_of(80, 24);

    view.problem = "sqlite: jobs.db: \033[2J is locked";
    draw(&view, &screen);
    assert_has(&screen, "\nsqlite: jobs.db: \\x1b[2J is locked\n");
    assert_has(&screen, "ready 1,234");
}
END_TEST

START_TEST(a_pause_says_since_when)
{
    CLEANUP(buffer_done) struct buffer screen = BUFFER(SCREEN_MAX);
    struct top_view view = view_of(80, 24);

    view.paused = true;
    draw(&view, &screen);
    assert_has(&screen, "  paused at ");
    ck_assert_ptr_null(strstr(buffer_str(&screen), "every"));
}
END_TEST

START_TEST(printing_has_no_keys_and_no_end)
{
    CLEANUP(buffer_done) struct buffer out = BUFFER(SCREEN_MAX);
    const struct top_view view = view_of(SIZE_MAX / 2, 0);
    const struct pen pen = {put, end_line, &out};

    display_init();
    top_view_print(&view, &pen);
    assert_has(&out, "QUEUE ");
    assert_has(&out, stats[2].queue);
    assert_has(&out, failures[0].last_error);
    ck_assert_ptr_null(strstr(buffer_str(&out), "quit"));
}
END_TEST

static const struct {
    double rate;
    const char *text;
} rates[] = {
    {TOP_RATE_UNKNOWN, "-"}, {0, "0"},     {0.001, "0.1"},         {0.34, "0.3"},
    {9.94, "9.9"},           {9.97, "10"}, {1234567, "1,234,567"},
};

START_TEST(rates_are_as_exact_as_they_need_to_be)
{
    char text[TOP_RATE_SIZE];

    ck_assert_str_eq(top_table_rate(rates[_i].rate, text), rates[_i].text);
}
END_TEST

Suite *top_view_suite(void)
{
    Suite *suite = suite_create("thctl/top_view");
    TCase *view = pure_case("view");

    tcase_set_timeout(view, 60);
    tcase_add_test(view, every_screen_is_filled_and_none_is_left);
    tcase_add_test(view, the_smallest_screens_do_no_harm);
    tcase_add_test(view, eighty_columns_have_room_for_what_matters);
    tcase_add_test(view, a_section_with_too_many_rows_says_which_are_shown);
    tcase_add_test(view, the_chosen_section_can_have_all_lines);
    tcase_add_test(view, a_problem_is_shown_and_what_was_seen_stays);
    tcase_add_test(view, a_pause_says_since_when);
    tcase_add_test(view, printing_has_no_keys_and_no_end);
    tcase_add_loop_test(view, rates_are_as_exact_as_they_need_to_be, 0, COUNT_OF(rates));
    suite_add_tcase(suite, view);
    return suite;
}

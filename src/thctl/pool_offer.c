/*
 * pool_offer.c - the queues and the handlers of a pool as lines for people.
 */
#include "thctl/pool_offer.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "cli/display.h"

#define ITEM_MAX   ((size_t)4096)
#define NAME_WIDTH 9

/* A list on its way to the output. */
struct list {
    struct output *out;
    size_t indent;
    size_t column; /* 0: nothing is written yet */
};

static void begin(struct list *list, const char *name)
{
    output_printf(list->out, "%*s", (int)list->indent, "");
    output_colour(list->out, COLOUR_DIM);
    output_printf(list->out, "%-*s", NAME_WIDTH, name);
    output_colour(list->out, COLOUR_NONE);
}

static bool must_wrap(const struct list *list, size_t width)
{
    /* Two for ", " and one for the comma after it. */
    return list->out->terminal && list->column + 2 + width + 1 > list->out->width;
}

static void add_item(struct list *list, const struct buffer *item)
{
    const size_t width = display_width(buffer_str(item));
    const size_t margin = list->indent + NAME_WIDTH;

    if (list->column == 0) {
        list->column = margin;
    } else if (must_wrap(list, width)) {
        output_printf(list->out, ",\n%*s", (int)margin, "");
        list->column = margin;
    } else {
        output_text(list->out, ", ");
        list->column += 2;
    }
    output_text(list->out, buffer_str(item));
    list->column += width;
}

static void end(struct list *list)
{
    output_text(list->out, list->column == 0 ? "-\n" : "\n");
}

/* Where a limit is the first one, it opens the bracket. */
static void add_limit(struct buffer *item, bool *any, const char *name, const char *value)
{
    buffer_printf(item, "%s%s ", *any ? ", " : " (", name);
    display_add_text(item, value);
    *any = true;
}

static void describe_queue(struct buffer *item, const struct pool_queue *queue)
{
    char number[OUTPUT_NUMBER_SIZE];
    bool any = false;

    display_add_text(item, queue->name ? queue->name : "?");
    if (queue->weight > 1)
        add_limit(item, &any, "weight", output_number(queue->weight, number));
    if (queue->max_running > 0)
        add_limit(item, &any, "max_running", output_number(queue->max_running, number));
    if (queue->rate)
        add_limit(item, &any, "rate", queue->rate);
    if (any)
        buffer_text(item, ")");
}

static void print_queues(const struct pool_status *status, struct list list)
{
    CLEANUP(buffer_done) struct buffer item = BUFFER(ITEM_MAX);

    begin(&list, "queues");
    for (size_t i = 0; i < status->queue_count; i++) {
        buffer_clear(&item);
        describe_queue(&item, &status->queues[i]);
        add_item(&list, &item);
    }
    end(&list);
}

static void print_handlers(const struct pool_status *status, struct list list)
{
    CLEANUP(buffer_done) struct buffer item = BUFFER(ITEM_MAX);

    begin(&list, "handles");
    for (size_t i = 0; i < status->handler_count; i++) {
        const char *pattern = status->handlers[i].pattern;

        buffer_clear(&item);
        display_add_text(&item, pattern ? pattern : "?");
        add_item(&list, &item);
    }
    end(&list);
}

void pool_offer_print(const struct pool_status *status, size_t indent, struct output *out)
{
    const struct list list = {.out = out, .indent = indent};

    if (status->queues)
        print_queues(status, list);
    if (status->handlers)
        print_handlers(status, list);
}

/*
 * pen.c - where text for people is drawn: stdout, a screen, or memory in tests.
 */
#include "thctl/pen.h"

#include <string.h>

static void put_to_output(enum colour colour, const char *text, size_t length, void *context)
{
    struct output *out = context;

    if (colour != COLOUR_NONE)
        output_colour(out, colour);
    output_bytes(out, (struct bytes){(const unsigned char *)text, length});
    if (colour != COLOUR_NONE)
        output_colour(out, COLOUR_NONE);
}

static void end_output_line(void *context)
{
    output_text(context, "\n");
}

struct pen pen_to_output(struct output *out)
{
    return (struct pen){put_to_output, end_output_line, out};
}

void pen_text(const struct pen *pen, enum colour colour, const char *text)
{
    if (text[0] != '\0')
        pen->put(colour, text, strlen(text), pen->context);
}

void pen_spaces(const struct pen *pen, enum colour colour, size_t count)
{
    static const char spaces[] = "                                ";
    const size_t most = sizeof spaces - 1;

    for (; count > most; count -= most)
        pen->put(colour, spaces, most, pen->context);
    if (count > 0)
        pen->put(colour, spaces, count, pen->context);
}

void pen_end_line(const struct pen *pen)
{
    pen->end_line(pen->context);
}

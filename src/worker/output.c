/*
 * output.c - what a program prints, line by line.
 */
#include "worker/output.h"

#include <string.h>

static struct bytes from(struct bytes bytes, size_t start)
{
    return (struct bytes){bytes.data + start, bytes.length - start};
}

static void end_line(struct output *output)
{
    const struct bytes line = {output->partial, output->partial_length};

    if (output->line)
        output->line(output->context, line, output->partial_dropped);
    output->partial_length = 0;
    output->partial_dropped = 0;
}

static void add_to_line(struct output *output, struct bytes data)
{
    const size_t room = OUTPUT_LINE_MAX - output->partial_length;
    const size_t taken = data.length < room ? data.length : room;

    memcpy(output->partial + output->partial_length, data.data, taken);
    output->partial_length += taken;
    output->partial_dropped += data.length - taken;
}

void output_add(struct output *output, struct bytes data)
{
    while (data.length > 0) {
        const unsigned char *newline = memchr(data.data, '\n', data.length);
        const size_t length = newline ? (size_t)(newline - data.data) : data.length;

        add_to_line(output, (struct bytes){data.data, length});
        if (!newline)
            return;
        end_line(output);
        data = from(data, length + 1);
    }
}

void output_end(struct output *output)
{
    if (output->partial_length > 0)
        end_line(output);
}

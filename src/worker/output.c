/*
 * output.c - what a program prints: lines to somebody, the last 4 KiB kept, the rest counted.
 */
#include "worker/output.h"

#include "base/buffer.h"
#include "base/text.h"

#include <string.h>

static struct bytes from(struct bytes bytes, size_t start)
{
    return (struct bytes){bytes.data + start, bytes.length - start};
}

void tail_add(struct tail *tail, struct bytes data)
{
    tail->total += data.length;
    if (data.length > OUTPUT_TAIL_SIZE)
        data = from(data, data.length - OUTPUT_TAIL_SIZE);

    const size_t start = (size_t)((tail->total - data.length) % OUTPUT_TAIL_SIZE);
    const size_t room = OUTPUT_TAIL_SIZE - start;
    const size_t first = data.length < room ? data.length : room;
    if (data.length == 0)
        return;
    memcpy(tail->bytes + start, data.data, first);
    memcpy(tail->bytes, data.data + first, data.length - first);
}

void tail_read(const struct tail *tail, struct buffer *buffer)
{
    const size_t end = (size_t)(tail->total % OUTPUT_TAIL_SIZE);

    if (tail->total > OUTPUT_TAIL_SIZE)
        buffer_add(buffer, tail->bytes + end, OUTPUT_TAIL_SIZE - end);
    buffer_add(buffer, tail->bytes, tail->total == OUTPUT_TAIL_SIZE ? OUTPUT_TAIL_SIZE : end);
}

static bool is_continuation(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

static void add_text(struct buffer *buffer, struct bytes bytes)
{
    while (bytes.length > 0) {
        size_t length = text_character_length(bytes);

        if (length > 0 && bytes.data[0] != '\0') {
            buffer_add(buffer, bytes.data, length);
        } else {
            buffer_char(buffer, '?');
            length = 1;
        }
        bytes = from(bytes, length);
    }
}

static bool is_space(unsigned char byte)
{
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

void tail_read_text(const struct tail *tail, struct buffer *buffer)
{
    unsigned char bytes[OUTPUT_TAIL_SIZE + 1];
    const size_t kept = tail->total < OUTPUT_TAIL_SIZE ? (size_t)tail->total : OUTPUT_TAIL_SIZE;
    const size_t oldest = (size_t)((tail->total - kept) % OUTPUT_TAIL_SIZE);
    struct bytes text = {bytes, kept};

    memcpy(bytes, tail->bytes + oldest, OUTPUT_TAIL_SIZE - oldest);
    memcpy(bytes + OUTPUT_TAIL_SIZE - oldest, tail->bytes, oldest);
    /* A character whose first byte was cut off has at most three left. */
    for (int i = 0; i < 3 && tail->total > kept && is_continuation(text.data[0]); i++)
        text = from(text, 1);
    while (text.length > 0 && is_space(text.data[text.length - 1]))
        text.length--;
    add_text(buffer, text);
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
    tail_add(&output->tail, data);
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

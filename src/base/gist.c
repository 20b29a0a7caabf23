/*
 * gist.c - a long text by its two ends: how it begins, and what it comes to.
 */
#include "base/gist.h"

#include "base/buffer.h"
#include "base/text.h"

#include <string.h>

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static struct bytes from(struct bytes bytes, size_t start)
{
    return (struct bytes){bytes.data + start, bytes.length - start};
}

/* Returns what the head has no room for. */
static struct bytes add_to_head(struct gist *gist, struct bytes data)
{
    if (gist->total >= GIST_HEAD)
        return data;
    const size_t taken = min_size(data.length, GIST_HEAD - (size_t)gist->total);
    memcpy(gist->head + gist->total, data.data, taken);
    gist->total += taken;
    return from(data, taken);
}

void gist_add(struct gist *gist, struct bytes data)
{
    if (data.length == 0)
        return;
    data = add_to_head(gist, data);
    gist->total += data.length;
    if (data.length > GIST_TAIL)
        data = from(data, data.length - GIST_TAIL);
    if (data.length == 0)
        return;
    const size_t start = (size_t)((gist->total - GIST_HEAD - data.length) % GIST_TAIL);
    const size_t first = min_size(data.length, GIST_TAIL - start);
    memcpy(gist->tail + start, data.data, first);
    memcpy(gist->tail, data.data + first, data.length - first);
}

/* The bytes of the ring, oldest first. */
static struct bytes unroll(const struct gist *gist, unsigned char out[GIST_TAIL])
{
    const uint64_t after = gist->total > GIST_HEAD ? gist->total - GIST_HEAD : 0;
    const size_t kept = after < GIST_TAIL ? (size_t)after : GIST_TAIL;
    const size_t oldest = (size_t)((after - kept) % GIST_TAIL);
    const size_t first = min_size(kept, GIST_TAIL - oldest);

    memcpy(out, gist->tail + oldest, first);
    memcpy(out + first, gist->tail, kept - first);
    return (struct bytes){out, kept};
}

static bool is_space(unsigned char byte)
{
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

static struct bytes trimmed(struct bytes bytes)
{
    while (bytes.length > 0 && is_space(bytes.data[bytes.length - 1]))
        bytes.length--;
    return bytes;
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

static void read_whole(const struct gist *gist, struct buffer *buffer)
{
    unsigned char bytes[GIST_HEAD + GIST_TAIL];
    const size_t head = min_size((size_t)gist->total, GIST_HEAD);

    memcpy(bytes, gist->head, head);
    const size_t after = unroll(gist, bytes + head).length;
    add_text(buffer, trimmed((struct bytes){bytes, head + after}));
}

void gist_read(const struct gist *gist, struct buffer *buffer)
{
    unsigned char bytes[GIST_TAIL];

    if (gist->total <= GIST_HEAD + GIST_TAIL) {
        read_whole(gist, buffer);
        return;
    }
    const struct bytes head = text_whole_end((struct bytes){gist->head, GIST_HEAD});
    const struct bytes tail = text_whole_start(unroll(gist, bytes));
    add_text(buffer, trimmed(head));
    buffer_printf(buffer, "\n[... %" PRIu64 " bytes left out ...]\n",
                  gist->total - head.length - tail.length);
    add_text(buffer, trimmed(tail));
}

void gist_of(const char *text, struct buffer *buffer)
{
    struct gist gist = {0};

    gist_add(&gist, (struct bytes){(const unsigned char *)text, strlen(text)});
    gist_read(&gist, buffer);
}

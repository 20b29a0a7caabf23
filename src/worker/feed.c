/*
 * feed.c - the lines on their way to a program that stays, one whole line after the other.
 */
#include "worker/feed.h"

#include "worker/program.h"

#define KEPT ((size_t)1 << 20) /* of memory, for the next lines */

void feed_init(struct feed *feed, size_t limit)
{
    *feed = (struct feed){.waiting = BUFFER(limit), .sending = BUFFER(limit)};
}

void feed_done(struct feed *feed)
{
    buffer_done(&feed->waiting);
    buffer_done(&feed->sending);
}

static void empty(struct buffer *buffer)
{
    buffer_clear(buffer);
    if (buffer->capacity > KEPT)
        buffer_done(buffer);
}

void feed_reset(struct feed *feed)
{
    empty(&feed->waiting);
    empty(&feed->sending);
    feed->added = 0;
}

struct buffer *feed_line(struct feed *feed)
{
    return &feed->waiting;
}

uint64_t feed_end(const struct feed *feed)
{
    return feed->added + feed->waiting.length;
}

struct bytes feed_first(struct feed *feed)
{
    const struct buffer lines = feed->waiting;

    empty(&feed->sending);
    feed->waiting = feed->sending;
    feed->sending = lines;
    feed->added += lines.length;
    return (struct bytes){(const unsigned char *)lines.data, lines.length};
}

bool feed_push(struct feed *feed, struct program *program, struct error *err)
{
    if (feed->waiting.length == 0 || !program_takes_input(program))
        return true;
    return program_send(program, feed_first(feed), err);
}

uint64_t feed_sent(const struct feed *feed, const struct program *program)
{
    return feed->added - program->unsent.length;
}

uint64_t feed_read(const struct feed *feed, const struct program *program)
{
    return feed_sent(feed, program) - program_unread(program);
}

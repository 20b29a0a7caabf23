/*
 * feed.h - the lines on their way to a program that stays, one whole line after the other.
 *
 *     feed_line() --waiting--> feed_push() --being sent--> its pipe --> read
 *
 * A place in the stream is the number of bytes added before it since the program was started: so it
 * is known of each line whether anything of it was read.
 */
#ifndef WORKER_FEED_H
#define WORKER_FEED_H

#include "base/base.h"
#include "base/buffer.h"

struct error;
struct program;

struct feed {
    struct buffer waiting, sending;
    uint64_t added; /* of all bytes, except those that wait */
};

void feed_init(struct feed *feed, size_t limit);
void feed_done(struct feed *feed);

/* For the first program, and the next one: nothing of it was added. */
void feed_reset(struct feed *feed);

/* Where lines are added; the program gets them with the next push. */
struct buffer *feed_line(struct feed *feed);

/* Where the next line will begin. */
uint64_t feed_end(const struct feed *feed);

/* What waits, for a program that is about to start: it stays there until it is sent. */
struct bytes feed_first(struct feed *feed);

/* To one that runs, once it has been sent all before. */
bool feed_push(struct feed *feed, struct program *program, struct error *err) MUST_CHECK;

/* How far it was sent, and how far it was read. */
uint64_t feed_sent(const struct feed *feed, const struct program *program);
uint64_t feed_read(const struct feed *feed, const struct program *program);

#endif

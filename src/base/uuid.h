/*
 * uuid.h - UUIDv7: ids that sort by the time they were made.
 */
#ifndef BASE_UUID_H
#define BASE_UUID_H

#include "base/base.h"

#define UUID_TEXT_SIZE 37

struct uuid {
    unsigned char bytes[16];
};

/* Makes ids that strictly increase, even within one millisecond: between time and random bits
 * stands a 12-bit fraction of the millisecond, which counts on when ids are made faster than that
 * or the clock goes back. One maker per producer. */
struct uuid_maker {
    uint64_t last_tick; /* milliseconds << 12 | fraction of the newest id */
};

struct uuid uuid_make(struct uuid_maker *maker, usec_t now);

bool uuid_is_nil(const struct uuid *uuid);
int uuid_compare(const struct uuid *a, const struct uuid *b);

/* "0193f0a2-7c1d-7abc-8def-0123456789ab" */
const char *uuid_format(const struct uuid *uuid, char text[UUID_TEXT_SIZE]);

/* The 36 characters above, in either case; any UUID version. */
bool uuid_parse(const char *text, struct uuid *uuid_out) MUST_CHECK;

#endif

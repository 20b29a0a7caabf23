/*
 * uuid.c - UUIDv7: ids that sort by the time they were made (RFC 9562, section 5.7).
 *
 *     48 bits     4 bits   12 bits               2 bits    62 bits
 *     millisecond version  its 4096th, counting  variant   random
 *
 * Milliseconds and their 4096ths are one number, the tick. Every id takes the tick of `now` or,
 * if an earlier id had that one or a later one, the tick after the newest. So ids increase
 * whatever the clock does; made faster than four per microsecond, they run ahead of it.
 */
#include "base/uuid.h"

#include "base/random.h"
#include "base/timestamp.h"

#include <assert.h>
#include <string.h>

#define TICKS_PER_MSEC 4096
#define TEXT_LENGTH    (UUID_TEXT_SIZE - 1)

static uint64_t tick_of(usec_t now)
{
    const uint64_t msec = (uint64_t)(now / USEC_PER_MSEC);
    const uint64_t usec = (uint64_t)(now % USEC_PER_MSEC);

    return msec * TICKS_PER_MSEC + usec * TICKS_PER_MSEC / (uint64_t)USEC_PER_MSEC;
}

struct uuid uuid_make(struct uuid_maker *maker, usec_t now)
{
    struct uuid uuid;

    assert(now >= 0 && now <= TIMESTAMP_MAX);
    const uint64_t tick = tick_of(now);
    maker->last_tick = tick > maker->last_tick ? tick : maker->last_tick + 1;

    const uint64_t msec = maker->last_tick / TICKS_PER_MSEC;
    const uint64_t fraction = maker->last_tick % TICKS_PER_MSEC;
    for (int i = 0; i < 6; i++)
        uuid.bytes[i] = (unsigned char)(msec >> (40 - 8 * i));
    uuid.bytes[6] = (unsigned char)(0x70 | fraction >> 8);
    uuid.bytes[7] = (unsigned char)fraction;
    random_bytes(uuid.bytes + 8, 8);
    uuid.bytes[8] = (unsigned char)(0x80 | (uuid.bytes[8] & 0x3F));
    return uuid;
}

bool uuid_is_nil(const struct uuid *uuid)
{
    const struct uuid nil = {{0}};

    return uuid_compare(uuid, &nil) == 0;
}

int uuid_compare(const struct uuid *a, const struct uuid *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes);
}

static bool is_dash_place(size_t i)
{
    return i == 8 || i == 13 || i == 18 || i == 23;
}

const char *uuid_format(const struct uuid *uuid, char text[UUID_TEXT_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *byte = uuid->bytes;
    size_t i = 0;

    while (i < TEXT_LENGTH) {
        if (is_dash_place(i)) {
            text[i++] = '-';
            continue;
        }
        text[i++] = digits[*byte >> 4];
        text[i++] = digits[*byte & 15];
        byte++;
    }
    text[i] = '\0';
    return text;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool uuid_parse(const char *text, struct uuid *uuid_out)
{
    struct uuid uuid = {{0}};
    size_t digit = 0;

    if (strlen(text) != TEXT_LENGTH)
        return false;
    for (size_t i = 0; i < TEXT_LENGTH; i++) {
        if (is_dash_place(i)) {
            if (text[i] != '-')
                return false;
            continue;
        }
        const int value = hex_value(text[i]);
        if (value < 0)
            return false;
        uuid.bytes[digit / 2] = (unsigned char)(uuid.bytes[digit / 2] << 4 | value);
        digit++;
    }
    *uuid_out = uuid;
    return true;
}

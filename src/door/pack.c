/*
 * pack.c - what a call or an answer carries: fields, one after the other, in one piece of memory.
 *
 *     number, count   8 bytes, as the machine has them
 *     flag            1 byte, 0 or 1
 *     bytes, text     their length, the bytes, a NUL; absent: the length alone, which is ABSENT
 */
#include "door/pack.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/uuid.h"

#include <assert.h>
#include <string.h>

#define ABSENT UINT64_MAX

/* ---- writing ---- */

static void add_word(struct buffer *pack, uint64_t word)
{
    buffer_add(pack, &word, sizeof word);
}

void pack_number(struct buffer *pack, int64_t number)
{
    add_word(pack, (uint64_t)number);
}

void pack_flag(struct buffer *pack, bool flag)
{
    buffer_char(pack, flag ? 1 : 0);
}

void pack_uuid(struct buffer *pack, const struct uuid *uuid)
{
    buffer_add(pack, uuid->bytes, sizeof uuid->bytes);
}

void pack_bytes(struct buffer *pack, struct bytes bytes)
{
    add_word(pack, bytes.data ? bytes.length : ABSENT);
    if (!bytes.data)
        return;
    buffer_add(pack, bytes.data, bytes.length);
    buffer_char(pack, '\0');
}

void pack_text(struct buffer *pack, const char *text)
{
    pack_bytes(pack, (struct bytes){(const unsigned char *)text, text ? strlen(text) : 0});
}

void pack_count(struct buffer *pack, size_t count)
{
    add_word(pack, count);
}

void pack_error(struct buffer *pack, const struct error *err)
{
    pack_number(pack, err->code);
    pack_text(pack, err->text);
}

/* ---- reading ---- */

struct unpack unpack_begin(struct bytes pack)
{
    return (struct unpack){.next = pack.data, .left = pack.length};
}

/* The next `length` bytes; NULL when there are not so many, or something failed before. */
static const unsigned char *take(struct unpack *unpack, uint64_t length)
{
    const unsigned char *taken = unpack->next;

    if (unpack->failed || length > unpack->left) {
        unpack->failed = true;
        return NULL;
    }
    unpack->next += length;
    unpack->left -= length;
    return taken;
}

static uint64_t take_word(struct unpack *unpack)
{
    uint64_t word = 0;
    const unsigned char *taken = take(unpack, sizeof word);

    if (taken)
        memcpy(&word, taken, sizeof word);
    return word;
}

int64_t unpack_number(struct unpack *unpack, int64_t min, int64_t max)
{
    const int64_t number = (int64_t)take_word(unpack);

    if (!unpack->failed && number >= min && number <= max)
        return number;
    unpack->failed = true;
    return min;
}

bool unpack_flag(struct unpack *unpack)
{
    const unsigned char *taken = take(unpack, 1);

    if (taken && *taken > 1)
        unpack->failed = true;
    return taken && *taken == 1;
}

struct uuid unpack_uuid(struct unpack *unpack)
{
    struct uuid uuid = {0};
    const unsigned char *taken = take(unpack, sizeof uuid.bytes);

    if (taken)
        memcpy(uuid.bytes, taken, sizeof uuid.bytes);
    return uuid;
}

struct bytes unpack_bytes(struct unpack *unpack, size_t most)
{
    const uint64_t length = take_word(unpack);

    if (unpack->failed || length == ABSENT)
        return (struct bytes){0};
    const unsigned char *data = length <= most ? take(unpack, length) : NULL;
    const unsigned char *end = take(unpack, 1);
    if (data && end && *end == '\0')
        return (struct bytes){data, length};
    unpack->failed = true;
    return (struct bytes){0};
}

const char *unpack_text(struct unpack *unpack, size_t most)
{
    const struct bytes bytes = unpack_bytes(unpack, most);

    if (!bytes.data || !memchr(bytes.data, '\0', bytes.length))
        return (const char *)bytes.data;
    unpack->failed = true;
    return NULL;
}

const char *unpack_word(struct unpack *unpack, size_t most)
{
    const char *text = unpack_text(unpack, most);

    if (text)
        return text;
    unpack->failed = true;
    return "";
}

size_t unpack_count(struct unpack *unpack, size_t smallest, size_t most)
{
    const uint64_t count = take_word(unpack);

    assert(smallest > 0);
    if (!unpack->failed && count <= most && count <= unpack->left / smallest)
        return count;
    unpack->failed = true;
    return 0;
}

void unpack_error(struct unpack *unpack, struct error *err_out)
{
    const int64_t code = unpack_number(unpack, TH_E_INVALID, TH_E_INTERNAL);

    error_set(err_out, (enum th_error_code)code, "%s", unpack_word(unpack, ERROR_TEXT_SIZE - 1));
}

bool unpack_end(const struct unpack *unpack, const char *what, struct error *err)
{
    if (unpack->failed)
        return error_set(err, TH_E_INTERNAL, "%s: its pack is not what it should be", what);
    if (unpack->left > 0)
        return error_set(err, TH_E_INTERNAL, "%s: %zu bytes are left in its pack", what,
                         unpack->left);
    return true;
}

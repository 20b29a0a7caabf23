/*
 * fuzz_pack.c - whatever a pack has in it, its reader stays inside of it.
 *
 * The first bytes of the input say which fields are asked for, the rest is the pack. It is copied
 * into memory of just its size, so that a sanitizer sees a reader that goes beyond.
 */
#include "base/error.h"
#include "base/uuid.h"
#include "door/pack.h"
#include "fuzz.h"

#include <assert.h>

#define FIELDS 8

static void expect_within(struct bytes pack, const unsigned char *data, size_t length)
{
    assert(!data || (data >= pack.data && length < pack.length &&
                     data + length < pack.data + pack.length && data[length] == '\0'));
}

static void read_field(struct unpack *unpack, uint8_t kind, struct bytes pack)
{
    const size_t most = kind / 8U;
    struct bytes bytes;
    struct error got;
    const char *text;

    switch (kind % 8U) {
    case 0:
        assert(unpack_number(unpack, -(int64_t)most, 1000) >= -(int64_t)most);
        break;
    case 1:
        unpack_flag(unpack);
        break;
    case 2:
        unpack_uuid(unpack);
        break;
    case 3:
        bytes = unpack_bytes(unpack, most);
        assert(bytes.length <= most);
        expect_within(pack, bytes.data, bytes.length);
        break;
    case 4:
        text = unpack_text(unpack, most);
        assert(!text || strlen(text) <= most);
        expect_within(pack, (const unsigned char *)text, text ? strlen(text) : 0);
        break;
    case 5:
        assert(strlen(unpack_word(unpack, most)) <= most);
        break;
    case 6:
        assert(unpack_count(unpack, 1 + most, 1000) * (1 + most) <= pack.length);
        break;
    default:
        unpack_error(unpack, &got);
        assert(got.code >= TH_E_INVALID && got.code <= TH_E_INTERNAL);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err;

    if (size < FIELDS)
        return 0;
    unsigned char *exact = malloc(size > FIELDS ? size - FIELDS : 1);
    if (!exact)
        abort();
    memcpy(exact, data + FIELDS, size - FIELDS);
    const struct bytes pack = {exact, size - FIELDS};
    struct unpack unpack = unpack_begin(pack);
    for (size_t i = 0; i < FIELDS; i++)
        read_field(&unpack, data[i], pack);
    assert(unpack_end(&unpack, "it", &err) == (!unpack.failed && unpack.left == 0));
    free(exact);
    return 0;
}

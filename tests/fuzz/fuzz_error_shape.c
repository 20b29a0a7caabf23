/*
 * fuzz_error_shape.c - errors are whatever jobs say.
 */
#include "base/text.h"
#include "fuzz.h"
#include "job/error_shape.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char shape[ERROR_SHAPE_SIZE];

    memset(shape, 'x', sizeof shape);
    error_shape((struct bytes){data, size}, shape);
    assert(memchr(shape, '\0', sizeof shape));
    assert(text_is_utf8((struct bytes){(const unsigned char *)shape, strlen(shape)}));
    for (const char *at = shape; *at; at++)
        assert(*at < 0 || *at >= ' ');
    return 0;
}

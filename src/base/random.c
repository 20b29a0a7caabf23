/*
 * random.c - unpredictable bytes from the kernel.
 */
#include "base/random.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

void random_bytes(void *data, size_t length)
{
    unsigned char *rest = data;

    while (length > 0) {
        const ssize_t count = getrandom(rest, length, 0);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            abort();
        rest += count;
        length -= (size_t)count;
    }
}

double random_unit(void)
{
    uint64_t bits;

    /* The 53 bits that a double can hold: all results are exact and below 1. */
    random_bytes(&bits, sizeof bits);
    return (double)(bits >> 11) * 0x1p-53;
}

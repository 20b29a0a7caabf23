/*
 * fuzz.h - what a fuzz target is: a reader, fed with anything.
 *
 * Each fuzz_NAME.c has one. libFuzzer calls it with input that it makes up (scripts/fuzz), replay.c
 * with the files of corpus/NAME (a test). It fails by ending the process: by an assert() about what
 * was read, by a sanitizer, or by taking too long.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include "base/base.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input as text, for readers that take no other: up to its first NUL. Freed by the caller. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

#endif

/*
 * pattern.c - what a handler is for: a type, or with a trailing * all types with a prefix.
 */
#include "job/pattern.h"

#include "base/text.h"
#include "job/job.h"

#include <string.h>

int pattern_fit(const char *pattern, const char *type)
{
    const size_t length = strlen(pattern);

    if (text_equal(pattern, type))
        return JOB_NAME_MAX + 1;
    if (length == 0 || pattern[length - 1] != '*' || strncmp(pattern, type, length - 1) != 0)
        return -1;
    return (int)length - 1;
}

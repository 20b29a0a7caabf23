/*
 * base.h - the few words that C lacks.
 */
#ifndef BASE_BASE_H
#define BASE_BASE_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Microseconds: a moment since 1970 or since boot, or a duration. 0 is "absent" for moments. */
typedef int64_t usec_t;

#define USEC_PER_MSEC ((usec_t)1000)
#define USEC_PER_SEC  ((usec_t)1000000)
#define USEC_PER_MIN  (60 * USEC_PER_SEC)
#define USEC_PER_HOUR (60 * USEC_PER_MIN)
#define USEC_PER_DAY  (24 * USEC_PER_HOUR)
#define USEC_MAX      INT64_MAX

/* How many bytes: a size, a limit. */
typedef uint64_t bytes_t;

/* Bytes that somebody else owns. {NULL, 0} is "absent"; {"", 0} is "present and empty". */
struct bytes {
    const unsigned char *data;
    size_t length;
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#define PRINTF_LIKE(format_index, first) __attribute__((format(printf, format_index, first)))
#define MUST_CHECK                       __attribute__((warn_unused_result))

#endif

/*
 * headers.h - what a producer sends along with a job: a JSON object, kept and handed on as written.
 *
 * Nothing here knows what the names in it mean, but for those of a trace, which a handler also gets
 * by themselves: headers_get().
 */
#ifndef JOB_HEADERS_H
#define JOB_HEADERS_H

#include "base/base.h"

struct arena;
struct error;

#define HEADERS_MAX ((size_t)8 << 10) /* bytes */

/* NULL is fine: there are none. */
bool headers_check(const char *headers, struct error *err) MUST_CHECK;

/* The text that is called `name`, of several the last. NULL: there is none, it is not text, or
 * these are no headers. */
const char *headers_get(const char *headers, const char *name, struct arena *arena);

#endif

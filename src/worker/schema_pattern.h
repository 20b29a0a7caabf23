/*
 * schema_pattern.h - the keyword "pattern": regular expressions by PCRE2, with bounded work.
 *
 * A pattern may match anywhere in a text, unless it says ^ or $. It is Perl's language with what
 * JSON Schema takes from ECMAScript where the two differ: $ is the very end, \uXXXX is a character.
 */
#ifndef WORKER_SCHEMA_PATTERN_H
#define WORKER_SCHEMA_PATTERN_H

#include "base/base.h"

struct arena;
struct error;
struct schema_pattern;

enum schema_match {
    MATCH_FOUND,
    MATCH_NONE,
    MATCH_GIVEN_UP, /* it would have taken too much time or memory */
    MATCH_NO_MEMORY,
};

/* All of it lives in the arena. The text says what is wrong and where in the pattern. */
bool schema_pattern_compile(struct bytes text, struct arena *arena,
                            const struct schema_pattern **pattern_out,
                            struct error *err) MUST_CHECK;

/* In `text`, which is UTF-8. Takes what it costs off `steps` and gives up when there are no more.
 */
enum schema_match schema_pattern_find(const struct schema_pattern *pattern, struct bytes text,
                                      int64_t *steps);

#endif

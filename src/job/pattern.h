/*
 * pattern.h - what a handler is for: a type, or with a trailing * all types with a prefix.
 */
#ifndef JOB_PATTERN_H
#define JOB_PATTERN_H

/* How well a pattern fits a type: of several the one with the highest number is the type's. -1 when
 * it does not fit at all; an exact match beats any prefix. */
int pattern_fit(const char *pattern, const char *type);

#endif

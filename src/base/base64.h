/*
 * base64.h - bytes as text, standard alphabet with padding.
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/base.h"

struct arena;
struct buffer;

void base64_add(struct buffer *buffer, struct bytes bytes);

/* Refused: any other character, a wrong length, bits that the padding should have cleared. */
bool base64_parse(const char *text, struct arena *arena, struct bytes *bytes_out) MUST_CHECK;

#endif

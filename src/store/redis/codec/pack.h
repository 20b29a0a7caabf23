/*
 * pack.h - MessagePack, as much of it as a script needs to be told a list of texts.
 *
 * Numbers go as text: Lua would make doubles of them.
 */
#ifndef REDIS_PACK_H
#define REDIS_PACK_H

#include "base/base.h"
#include "base/buffer.h"

void redis_pack_list(struct buffer *out, uint16_t count);
void redis_pack_nothing(struct buffer *out);
void redis_pack_bytes(struct buffer *out, const void *data, size_t length);
void redis_pack_text(struct buffer *out, const char *text); /* NULL is nothing */
void redis_pack_int(struct buffer *out, int64_t number);

#endif

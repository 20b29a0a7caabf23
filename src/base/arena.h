/*
 * arena.h - memory that is freed together.
 *
 * Zeroed, aligned for anything, never moved. An arena that ran out of memory stays `failed`, and
 * text asked of it is "" from then on, so that a function that copies ten strings checks once.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/base.h"

struct arena_block;

struct arena {
    struct arena_block *blocks; /* owned; the first one has the room */
    bool failed;
};

/* NULL when out of memory. */
void *arena_alloc(struct arena *arena, size_t size) MUST_CHECK;

/* Copies. NULL text stays NULL, and {NULL, 0} stays that. A NUL is put after the bytes. */
const char *arena_text(struct arena *arena, const char *text);
const char *arena_text_of(struct arena *arena, const char *text, size_t length);
struct bytes arena_bytes(struct arena *arena, struct bytes bytes);

/* What `from` has is `into`'s, where it is; `from` is empty. */
void arena_join(struct arena *into, struct arena *from);

void arena_done(struct arena *arena);

#endif

/*
 * arena.c - memory that is freed together.
 *
 * A list of blocks, each filled from its start. Blocks come zeroed from calloc() and nothing is
 * ever given back before arena_done(), so what is handed out is zero without further work.
 *
 * Invariant: every offset handed out is a multiple of the strictest alignment.
 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE ((size_t)512) /* of the first block: most arenas hold one small job */
#define BLOCK_SIZE ((size_t)8 * 1024)
#define LARGE_SIZE (BLOCK_SIZE / 4)

/* More than any object can have; sums of what is below it do not overflow. */
#define SIZE_LIMIT (SIZE_MAX / 4)

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    alignas(max_align_t) unsigned char data[];
};

static size_t round_up(size_t size)
{
    const size_t alignment = alignof(max_align_t);

    return (size + alignment - 1) / alignment * alignment;
}

static bool has_room(const struct arena_block *block, size_t size)
{
    return block && block->size - block->used >= size;
}

static size_t block_size_for(const struct arena *arena, size_t size)
{
    if (size > LARGE_SIZE)
        return size;
    return arena->blocks || size > FIRST_SIZE ? BLOCK_SIZE : FIRST_SIZE;
}

/* What is large gets a block of its own, put after the first, whose room stays in use. */
static struct arena_block *add_block(struct arena *arena, size_t size)
{
    const bool is_large = size > LARGE_SIZE;
    const size_t block_size = block_size_for(arena, size);
    struct arena_block *block = calloc(1, sizeof *block + block_size);

    if (!block)
        return NULL;
    block->size = block_size;
    struct arena_block **place = is_large && arena->blocks ? &arena->blocks->next : &arena->blocks;
    block->next = *place;
    *place = block;
    return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    struct arena_block *block = NULL;

    if (!arena->failed && size <= SIZE_LIMIT) {
        size = round_up(size);
        block = has_room(arena->blocks, size) ? arena->blocks : add_block(arena, size);
    }
    if (!block) {
        arena->failed = true;
        return NULL;
    }

    void *memory = block->data + block->used;
    block->used += size;
    return memory;
}

const char *arena_text(struct arena *arena, const char *text)
{
    return text ? arena_text_of(arena, text, strlen(text)) : NULL;
}

const char *arena_text_of(struct arena *arena, const char *text, size_t length)
{
    if (!text)
        return NULL;

    /* A length that leaves no place for the NUL is refused by arena_alloc() as well. */
    char *copy = arena_alloc(arena, length < SIZE_LIMIT ? length + 1 : length);
    if (!copy)
        return "";
    memcpy(copy, text, length);
    return copy;
}

struct bytes arena_bytes(struct arena *arena, struct bytes bytes)
{
    const char *copy = arena_text_of(arena, (const char *)bytes.data, bytes.length);

    return (struct bytes){(const unsigned char *)copy, arena->failed ? 0 : bytes.length};
}

void arena_join(struct arena *into, struct arena *from)
{
    struct arena_block **end = &into->blocks;

    while (*end)
        end = &(*end)->next;
    *end = from->blocks;
    into->failed = into->failed || from->failed;
    *from = (struct arena){0};
}

void arena_done(struct arena *arena)
{
    while (arena->blocks) {
        struct arena_block *next = arena->blocks->next;

        free(arena->blocks);
        arena->blocks = next;
    }
    arena->failed = false;
}

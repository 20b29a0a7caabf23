/*
 * schema.c - a file to a schema.
 */
#include "worker/schema.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/io.h"
#include "worker/schema_node.h"

#include <stdarg.h>
#include <stdio.h>

#define FILE_MAX    ((size_t)1 << 20)
#define POINTER_MAX 256 /* of what is shown of it */

bool schema_refuse(const struct json_node *root, const struct json_node *place, struct error *err,
                   const char *format, ...)
{
    CLEANUP(buffer_done) struct buffer pointer = BUFFER(POINTER_MAX);
    char sentence[ERROR_TEXT_SIZE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    error_set(err, TH_E_INVALID, "%s", sentence);
    json_tree_add_pointer(&pointer, root, place);
    if (place != root)
        error_prefix(err, "%s%s", buffer_str(&pointer), pointer.failed ? "..." : "");
    return false;
}

static bool compile(struct bytes text, struct arena *arena, const struct schema_node **top_out,
                    struct error *err)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct schema_source source = {.arena = arena};

    if (!json_tree_parse(text, arena, &source.root, err))
        return false;
    source.nodes = arena_alloc(&scratch, source.root->size * sizeof(void *));
    if (!source.nodes)
        return error_no_memory(err);
    if (!schema_compile(&source, err) || !schema_link(&source, err))
        return false;
    *top_out = source.nodes[0];
    return true;
}

bool schema_load(const char *path, struct arena *arena, const struct schema **schema_out,
                 struct error *err)
{
    CLEANUP(buffer_done) struct buffer file = BUFFER(FILE_MAX);
    struct schema *schema = arena_alloc(arena, sizeof *schema);

    if (!schema)
        return error_no_memory(err);
    if (!io_read_regular(path, &file, err))
        return false;
    const struct bytes text = {(const unsigned char *)buffer_str(&file), file.length};
    if (!compile(text, arena, &schema->top, err))
        return error_prefix(err, "%s", path);
    *schema_out = schema;
    return true;
}

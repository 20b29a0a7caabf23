/*
 * json_tree.c - JSON text as values that can be walked.
 *
 * Two passes over the text, neither of them recursive: it is checked while the nodes are counted,
 * and then they are filled in. The strings of a copy of the text are decoded where they stand, and
 * the quote after each becomes its NUL.
 */
#include "base/json_tree.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/decimal.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/json.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH_MAX ((size_t)1 << 28) /* nodes are counted with 29 bits */

struct builder {
    struct json_scan scan; /* of the copy */
    struct json_node *nodes;
    size_t count;
    size_t open[JSON_DEPTH_MAX]; /* the arrays and objects around what comes next */
    size_t depth;
    struct arena *arena;
};

/* ---- members ---- */

int json_tree_compare_names(const struct json_node *a, const struct json_node *b)
{
    const uint32_t shorter = a->length < b->length ? a->length : b->length;
    const int order = memcmp(a->text, b->text, shorter);

    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

static int compare_places(const void *a, const void *b)
{
    return json_tree_compare_names(*(const struct json_node *const *)a,
                                   *(const struct json_node *const *)b);
}

static bool sort_names(struct json_node *object, struct arena *arena, struct error *err)
{
    char shown[EXCERPT_SIZE];
    const struct json_node *name = json_tree_first(object);

    if (object->length == 0)
        return true;
    object->names = arena_alloc(arena, object->length * sizeof(void *));
    if (!object->names)
        return error_no_memory(err);
    for (uint32_t i = 0; i < object->length; i++, name = json_tree_next(name + 1))
        object->names[i] = name;
    qsort(object->names, object->length, sizeof(void *), compare_places);
    for (uint32_t i = 1; i < object->length; i++) {
        if (compare_places(&object->names[i - 1], &object->names[i]) == 0)
            return error_set(err, TH_E_INVALID, "the name '%s' appears twice",
                             excerpt_of(object->names[i]->text, shown));
    }
    return true;
}

/* ---- the passes ---- */

/* The first pass also checks the text. */
static bool count_nodes(struct bytes text, size_t *count_out, struct error *err)
{
    struct json_scan scan = json_scan_of(text);

    *count_out = 0;
    do {
        if (!json_scan_next(&scan))
            return json_scan_report(&scan, err);
        if (scan.part != JSON_PART_CLOSE && scan.part != JSON_PART_END)
            (*count_out)++;
    } while (scan.part != JSON_PART_END);
    return true;
}

/* Of a value that starts with `c`. */
static enum json_kind kind_of(unsigned char c)
{
    switch (c) {
    case '{':
        return JSON_KIND_OBJECT;
    case '[':
        return JSON_KIND_ARRAY;
    case '"':
        return JSON_KIND_STRING;
    case 't':
        return JSON_KIND_TRUE;
    case 'f':
        return JSON_KIND_FALSE;
    case 'n':
        return JSON_KIND_NULL;
    default:
        return JSON_KIND_NUMBER;
    }
}

/* The text of a string or number, in the copy. */
static void set_text(struct json_node *node, struct bytes written)
{
    if (node->kind == JSON_KIND_NUMBER) {
        node->text = (const char *)written.data;
        node->length = (uint32_t)written.length;
    } else if (node->kind == JSON_KIND_STRING) {
        unsigned char *const start = (unsigned char *)written.data + 1;
        const size_t length = json_decode_string(start, written.length - 2);

        start[length] = '\0';
        node->text = (const char *)start;
        node->length = (uint32_t)length;
    }
}

static void add_node(struct builder *builder)
{
    const struct bytes written = builder->scan.text;
    const size_t index = builder->count++;
    struct json_node *node = &builder->nodes[index];

    node->kind = kind_of(written.data[0]);
    node->size = 1;
    set_text(node, written);
    if (builder->depth > 0)
        builder->nodes[builder->open[builder->depth - 1]].length++;
    if (builder->scan.part == JSON_PART_OPEN)
        builder->open[builder->depth++] = index;
}

static bool close_node(struct builder *builder, struct error *err)
{
    const size_t index = builder->open[--builder->depth];
    struct json_node *node = &builder->nodes[index];

    node->size = (unsigned)(builder->count - index) & 0x1FFFFFFF;
    if (node->kind != JSON_KIND_OBJECT)
        return true;
    node->length /= 2;
    return sort_names(node, builder->arena, err);
}

static bool build(struct builder *builder, struct error *err)
{
    while (json_scan_next(&builder->scan)) {
        switch (builder->scan.part) {
        case JSON_PART_NAME:
        case JSON_PART_SCALAR:
        case JSON_PART_OPEN:
            add_node(builder);
            break;
        case JSON_PART_CLOSE:
            if (!close_node(builder, err))
                return false;
            break;
        case JSON_PART_END:
            return true;
        }
    }
    abort(); /* it was JSON when the nodes were counted */
}

bool json_tree_parse(struct bytes text, struct arena *arena, const struct json_node **root_out,
                     struct error *err)
{
    struct builder builder = {.arena = arena};
    size_t count = 0;

    if (text.length > LENGTH_MAX)
        return error_set(err, TH_E_INVALID, "longer than %zu bytes", LENGTH_MAX);
    if (!count_nodes(text, &count, err))
        return error_prefix(err, "not JSON");
    builder.nodes = arena_alloc(arena, count * sizeof *builder.nodes);
    builder.scan = json_scan_of(arena_bytes(arena, text));
    if (arena->failed)
        return error_no_memory(err);
    if (!build(&builder, err))
        return false;
    *root_out = builder.nodes;
    return true;
}

/* ---- looking at it ---- */

const struct json_node *json_tree_member(const struct json_node *object,
                                         const struct json_node *name)
{
    if (object->length == 0)
        return NULL;
    const struct json_node **found =
        bsearch(&name, object->names, object->length, sizeof(void *), compare_places);

    return found ? *found + 1 : NULL;
}

static bool members_are_equal(const struct json_node *a, const struct json_node *b)
{
    for (uint32_t i = 0; i < a->length; i++) {
        if (json_tree_compare_names(a->names[i], b->names[i]) != 0 ||
            !json_tree_equal(a->names[i] + 1, b->names[i] + 1))
            return false;
    }
    return true;
}

static bool values_are_equal(const struct json_node *a, const struct json_node *b)
{
    const struct json_node *a_value = json_tree_first(a), *b_value = json_tree_first(b);

    for (uint32_t i = 0; i < a->length; i++) {
        if (!json_tree_equal(a_value, b_value))
            return false;
        a_value = json_tree_next(a_value);
        b_value = json_tree_next(b_value);
    }
    return true;
}

bool json_tree_equal(const struct json_node *a, const struct json_node *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case JSON_KIND_NULL:
    case JSON_KIND_FALSE:
    case JSON_KIND_TRUE:
        return true;
    case JSON_KIND_NUMBER:
        return decimal_compare(json_tree_bytes(a), json_tree_bytes(b)) == 0;
    case JSON_KIND_STRING:
        return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
    case JSON_KIND_ARRAY:
        return a->length == b->length && values_are_equal(a, b);
    case JSON_KIND_OBJECT:
        return a->length == b->length && members_are_equal(a, b);
    }
    abort(); /* a value of no known kind */
}

static void add_name(struct buffer *pointer, const char *name)
{
    char shown[EXCERPT_SIZE];

    buffer_char(pointer, '/');
    for (const char *c = excerpt_of(name, shown); *c != '\0'; c++) {
        if (*c == '~')
            buffer_text(pointer, "~0");
        else if (*c == '/')
            buffer_text(pointer, "~1");
        else
            buffer_char(pointer, *c);
    }
}

/* The part of `node` that has `wanted` inside it, or is it. */
static const struct json_node *step_towards(struct buffer *pointer, const struct json_node *node,
                                            const struct json_node *wanted)
{
    const bool has_names = node->kind == JSON_KIND_OBJECT;
    const struct json_node *value = json_tree_first(node) + (has_names ? 1 : 0);
    uint32_t index = 0;

    while (wanted >= json_tree_next(value)) {
        value = json_tree_next(value) + (has_names ? 1 : 0);
        index++;
    }
    if (has_names)
        add_name(pointer, value[-1].text);
    else
        buffer_printf(pointer, "/%" PRIu32, index);
    return wanted < value ? wanted : value; /* the name of a member stands for it */
}

void json_tree_add_pointer(struct buffer *pointer, const struct json_node *root,
                           const struct json_node *node)
{
    assert(node >= root && node < json_tree_next(root));
    while (root != node)
        root = step_towards(pointer, root, node);
}

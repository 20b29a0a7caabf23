/*
 * schema_link.c - where each "$ref" leads, and that no schema leads back to itself at once.
 *
 * A schema may contain itself: a comment has answers, which are comments. It may not be itself:
 * {"$ref": "#"} and {"allOf": [{"$ref": "#"}]} say nothing about any value, and checking them would
 * never end. Between a schema and itself there has to be "properties" or "items", which go one
 * value deeper; and the depth of payloads is limited.
 */
#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/text.h"
#include "worker/schema_node.h"

#include <string.h>

#define REF_MAX     4096
#define INDEX_MAX   INT32_MAX
#define BEING_FOUND (-1)

/* ---- pointers ---- */

static int hex_value(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = c != '\0' ? strchr(digits, c >= 'A' && c <= 'F' ? c | 0x20 : c) : NULL;

    return found ? (int)(found - digits) : -1;
}

/* The fragment of a URI, with its %XX decoded. A NUL is in neither. */
static bool decode_fragment(const char *fragment, struct buffer *pointer)
{
    for (; *fragment != '\0'; fragment++) {
        const int high = *fragment == '%' ? hex_value(fragment[1]) : 0;
        const int low = *fragment == '%' && high >= 0 ? hex_value(fragment[2]) : 0;

        if (high < 0 || low < 0 || (*fragment == '%' && high + low == 0))
            return false;
        if (*fragment == '%') {
            buffer_char(pointer, (char)(high << 4 | low));
            fragment += 2;
        } else {
            buffer_char(pointer, *fragment);
        }
    }
    return !pointer->failed;
}

/* One step of a pointer, up to the next slash, with ~0 and ~1 decoded. */
static bool decode_step(const char **at, struct buffer *step)
{
    buffer_clear(step);
    for (; **at != '\0' && **at != '/'; (*at)++) {
        if (**at != '~') {
            buffer_char(step, **at);
            continue;
        }
        (*at)++;
        if (**at != '0' && **at != '1')
            return false;
        buffer_char(step, **at == '0' ? '~' : '/');
    }
    return true;
}

static const struct json_node *find_item(const struct json_node *array, const char *index)
{
    const struct json_node *item = json_tree_first(array);
    int64_t wanted = 0;

    if ((index[0] == '0' && index[1] != '\0') || !text_to_int(index, 0, INDEX_MAX, &wanted) ||
        wanted >= array->length)
        return NULL;
    for (; wanted > 0; wanted--)
        item = json_tree_next(item);
    return item;
}

static const struct json_node *find_inside(const struct json_node *value, const struct buffer *step)
{
    const struct json_node name = {.text = buffer_str(step),
                                   .length = (uint32_t)step->length,
                                   .kind = JSON_KIND_STRING,
                                   .size = 1};

    if (value->kind == JSON_KIND_OBJECT)
        return json_tree_member(value, &name);
    return value->kind == JSON_KIND_ARRAY ? find_item(value, buffer_str(step)) : NULL;
}

/* What a pointer points to, or NULL. */
static const struct json_node *find_value(const struct json_node *root, const char *pointer)
{
    CLEANUP(buffer_done) struct buffer step = BUFFER(REF_MAX);
    const struct json_node *value = root;

    while (value && *pointer == '/') {
        pointer++;
        if (!decode_step(&pointer, &step))
            return NULL;
        value = find_inside(value, &step);
    }
    return *pointer == '\0' ? value : NULL;
}

/* ---- references ---- */

/* Or NULL, with the error. */
static struct schema_node *find_target(const struct schema_source *source,
                                       const struct json_node *ref, struct error *err)
{
    CLEANUP(buffer_done) struct buffer pointer = BUFFER(REF_MAX);
    char shown[EXCERPT_SIZE];

    excerpt_of(ref->text, shown);
    const bool is_decoded = strlen(ref->text) == ref->length && ref->text[0] == '#' &&
                            decode_fragment(ref->text + 1, &pointer);
    if (!is_decoded || (pointer.length > 0 && pointer.data[0] != '/')) {
        schema_refuse(source->root, ref, err,
                      "'%s' is not '#' or '#/...': only this file can be referred to", shown);
        return NULL;
    }
    const struct json_node *value = find_value(source->root, buffer_str(&pointer));
    struct schema_node *target = value ? source->nodes[value - source->root] : NULL;
    if (!target)
        schema_refuse(source->root, ref, err, "there is no schema at '%s'", shown);
    return target;
}

static bool refuse_loop(const struct schema_source *source, const struct schema_node *node,
                        struct error *err)
{
    return schema_refuse(source->root, node->source, err, "this schema is defined by itself");
}

static bool set_target(const struct schema_source *source, struct schema_node *node,
                       struct error *err)
{
    node->target = find_target(source, node->ref, err);
    return node->target != NULL;
}

/* All references of a chain lead to its end. One that is longer than there are nodes is a loop. */
static bool shorten_chain(const struct schema_source *source, struct schema_node *node,
                          struct error *err)
{
    size_t left = source->root->size;
    struct schema_node *end = node;

    for (; end->ref; end = end->target) {
        if (left-- == 0)
            return refuse_loop(source, node, err);
    }
    while (node != end) {
        struct schema_node *next = node->target;

        node->target = end;
        node = next;
    }
    return true;
}

typedef bool node_step(const struct schema_source *source, struct schema_node *node,
                       struct error *err);

static bool for_each_ref(const struct schema_source *source, node_step *step, struct error *err)
{
    for (size_t i = 0; i < source->root->size; i++) {
        struct schema_node *node = source->nodes[i];

        if (node && node->ref && !step(source, node, err))
            return false;
    }
    return true;
}

/* ---- loops ---- */

static bool measure(const struct schema_source *source, struct schema_node *node, int depth,
                    int *highest, struct error *err);

static bool measure_list(const struct schema_source *source, const struct schema_list *list,
                         int depth, int *highest, struct error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!measure(source, list->items[i], depth, highest, err))
            return false;
    }
    return true;
}

/* How many schemas apply to one value inside each other, with this as the outermost. */
static bool find_height(const struct schema_source *source, struct schema_node *node, int depth,
                        struct error *err)
{
    int highest = 0;

    node->nested = BEING_FOUND;
    if (!measure_list(source, &node->all_of, depth + 1, &highest, err) ||
        !measure_list(source, &node->any_of, depth + 1, &highest, err) ||
        !measure_list(source, &node->one_of, depth + 1, &highest, err) ||
        (node->negated && !measure(source, node->negated, depth + 1, &highest, err)))
        return false;
    node->nested = highest + 1;
    return true;
}

/* `depth` schemas are around it. Raises `highest` to its height. */
static bool measure(const struct schema_source *source, struct schema_node *node, int depth,
                    int *highest, struct error *err)
{
    if (node->target)
        node = node->target;
    if (node->nested == BEING_FOUND)
        return refuse_loop(source, node, err);
    if (node->nested == 0 && depth < SCHEMA_NESTED_MAX && !find_height(source, node, depth, err))
        return false;
    if (depth + node->nested > SCHEMA_NESTED_MAX || node->nested == 0)
        return schema_refuse(source->root, node->source, err,
                             "more than %d schemas inside each other apply to one value",
                             SCHEMA_NESTED_MAX);
    if (node->nested > *highest)
        *highest = node->nested;
    return true;
}

static bool measure_all(const struct schema_source *source, struct error *err)
{
    for (size_t i = 0; i < source->root->size; i++) {
        int highest = 0;

        if (source->nodes[i] && !measure(source, source->nodes[i], 0, &highest, err))
            return false;
    }
    return true;
}

bool schema_link(const struct schema_source *source, struct error *err)
{
    return for_each_ref(source, set_target, err) && for_each_ref(source, shorten_chain, err) &&
           measure_all(source, err);
}

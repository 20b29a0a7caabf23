/*
 * json_tree.h - JSON text as values that can be walked, for those who look at all of it.
 *
 * A value is one node, and what is inside it follows it at once; `size` nodes further is whatever
 * comes after it. In an object each value has its name, a string, before it:
 *
 *     {"a": [1, 2], "b": true}     object "a" array 1 2 "b" true
 *
 *     for (node = json_tree_first(object); node < json_tree_next(object); ...)
 *
 * Numbers stay as they are written (see decimal.h), strings are decoded, and a name that appears
 * twice in an object is refused: readers differ in which of the two they take.
 */
#ifndef BASE_JSON_TREE_H
#define BASE_JSON_TREE_H

#include "base/base.h"

struct arena;
struct buffer;
struct error;

enum json_kind {
    JSON_KIND_NULL,
    JSON_KIND_FALSE,
    JSON_KIND_TRUE,
    JSON_KIND_NUMBER,
    JSON_KIND_STRING,
    JSON_KIND_ARRAY,
    JSON_KIND_OBJECT,
};

/* Sixteen bytes, because a payload of 16 MiB may have eight million of them. */
struct json_node {
    union {
        const char *text;               /* of a string, followed by a NUL; of a number, not */
        const struct json_node **names; /* of an object, sorted */
    };
    uint32_t length; /* bytes of the text, values of an array, members of an object */
    enum json_kind kind : 3;
    unsigned size : 29; /* itself and all nodes inside it */
};

/* One JSON value, as json_check() accepts it. All of it lives in the arena: a copy of the text, and
 * at most eleven times its length besides. */
bool json_tree_parse(struct bytes text, struct arena *arena, const struct json_node **root_out,
                     struct error *err) MUST_CHECK;

/* What comes after a value. */
static inline const struct json_node *json_tree_next(const struct json_node *node)
{
    return node + node->size;
}

/* The first thing inside a value: the same as json_tree_next() when there is none. */
static inline const struct json_node *json_tree_first(const struct json_node *node)
{
    return node + 1;
}

static inline struct bytes json_tree_bytes(const struct json_node *node)
{
    return (struct bytes){(const unsigned char *)node->text, node->length};
}

/* An order of strings, for sorting and searching. */
int json_tree_compare_names(const struct json_node *a, const struct json_node *b);

/* The value that an object has under the name, or NULL. */
const struct json_node *json_tree_member(const struct json_node *object,
                                         const struct json_node *name);

/* The same value, however it is written: 1 and 1.0, "a" and "\u0061", members in any order. */
bool json_tree_equal(const struct json_node *a, const struct json_node *b);

/* Where `node` is inside `root`, as a JSON pointer that is safe to show: "" is all of it,
 * "/items/3" a part. Unprintable bytes of names are shown as \xNN and long names are cut. */
void json_tree_add_pointer(struct buffer *pointer, const struct json_node *root,
                           const struct json_node *node);

#endif

/*
 * schema_node.h - a schema as the check needs it; for schema*.c alone.
 *
 *   schema.c            a file to a schema
 *   schema_compile.c    the table of keywords
 *   schema_link.c       where each $ref leads; no schema is defined by itself
 *   schema_check.c      the check, with its work counted
 *   schema_pattern.c    "pattern", by PCRE2, with its work counted
 *
 * To add a keyword: a member here, a row in the table, its check, its line in man/jobs.yaml.5, and
 * its file in tests/unit/worker/test_schema_public.c.
 */
#ifndef WORKER_SCHEMA_NODE_H
#define WORKER_SCHEMA_NODE_H

#include "base/base.h"
#include "base/json_tree.h"

struct arena;
struct error;
struct schema_pattern;

/* How many schemas may apply to one value through allOf, anyOf, oneOf and not inside each other.
 * With the depth of a payload it bounds how deep the check recurses. */
#define SCHEMA_NESTED_MAX 32

/* Bits of schema_node.types. */
enum schema_type {
    SCHEMA_NULL = 1 << 0,
    SCHEMA_BOOLEAN = 1 << 1,
    SCHEMA_INTEGER = 1 << 2,
    SCHEMA_NUMBER = 1 << 3,
    SCHEMA_STRING = 1 << 4,
    SCHEMA_ARRAY = 1 << 5,
    SCHEMA_OBJECT = 1 << 6,
};

#define SCHEMA_TYPES 7
extern const char *const schema_type_names[SCHEMA_TYPES]; /* by bit */

struct schema_node;

struct schema_list {
    struct schema_node **items;
    size_t count;
};

struct schema_property {
    const struct json_node *name;
    struct schema_node *schema;
};

struct schema_names {
    const struct json_node **items;
    size_t count;
};

/* NULL and 0 mean that the keyword is absent, SIZE_MAX that there is no upper limit. */
struct schema_node {
    const struct json_node *source; /* where it stands in the file */
    const struct json_node *ref;    /* of "$ref", which makes all below meaningless */
    struct schema_node *target;     /* what it refers to, which refers to nothing */
    bool is_false;                  /* nothing fits */

    unsigned types;
    const struct json_node *values;   /* the array of "enum" */
    const struct json_node *constant; /* the value of "const" */
    const struct json_node *minimum, *maximum;
    size_t min_length, max_length;
    const struct schema_pattern *pattern;
    const struct json_node *pattern_source;
    size_t min_items, max_items;
    struct schema_node *every_item; /* "items" as a schema */
    struct schema_list first_items; /* or as an array of them */
    struct schema_names required;
    struct schema_property *properties; /* sorted by name */
    size_t property_count;
    struct schema_node *other_properties; /* "additionalProperties" */
    struct schema_list all_of, any_of, one_of;
    struct schema_node *negated; /* "not" */

    int nested; /* for schema_link.c: the height, 0 unknown, -1 being found out */
};

struct schema {
    const struct schema_node *top;
};

/* What a schema is made of while it is loaded. */
struct schema_source {
    const struct json_node *root;
    struct schema_node **nodes; /* by the place of their source in the tree; NULL: no schema */
    struct arena *arena;
};

/* False, with the place before the text. */
PRINTF_LIKE(4, 5)
bool schema_refuse(const struct json_node *root, const struct json_node *place, struct error *err,
                   const char *format, ...);

/* Fills source->nodes from source->root. */
bool schema_compile(struct schema_source *source, struct error *err) MUST_CHECK;

/* Finds the target of every "$ref", and refuses schemas that lead back to themselves without a
 * value in between. */
bool schema_link(const struct schema_source *source, struct error *err) MUST_CHECK;

#endif

/*
 * schema_compile.c - the values of a schema's file to nodes: the table of keywords.
 *
 * Every schema in the file becomes a node, whether something refers to it or not, so that all
 * that is wrong is seen when it loads. Where a "$ref" leads is found afterwards, by schema_link.c.
 */
#include "base/arena.h"
#include "base/decimal.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/text.h"
#include "worker/schema_node.h"
#include "worker/schema_pattern.h"

#include <stdlib.h>
#include <string.h>

const char *const schema_type_names[SCHEMA_TYPES] = {
    "null", "boolean", "integer", "number", "string", "array", "object",
};

/* Reads the value of a keyword into the member of the node that is for it. */
typedef bool keyword_reader(struct schema_source *source, const struct json_node *value,
                            void *member, struct error *err);

static bool compile(struct schema_source *source, const struct json_node *value,
                    struct schema_node **node_out, struct error *err);

/* ---- what values of keywords look like ---- */

/* A string that goes on after a NUL is not. */
static bool is_word(const struct json_node *string, const char *word)
{
    return strlen(word) == string->length && memcmp(string->text, word, string->length) == 0;
}

static bool expect_kind(enum json_kind kind, const char *what, const struct schema_source *source,
                        const struct json_node *value, struct error *err)
{
    return value->kind == kind || schema_refuse(source->root, value, err, "has to be %s", what);
}

static bool read_schema(struct schema_source *source, const struct json_node *value, void *member,
                        struct error *err)
{
    return compile(source, value, member, err);
}

/* An array of schemas, even an empty one. */
static bool read_schemas(struct schema_source *source, const struct json_node *value, void *member,
                         struct error *err)
{
    struct schema_list *list = member;
    const struct json_node *item = json_tree_first(value);

    list->items = arena_alloc(source->arena, (value->length + (size_t)1) * sizeof(void *));
    if (!list->items)
        return error_no_memory(err);
    for (; list->count < value->length; item = json_tree_next(item)) {
        if (!read_schema(source, item, &list->items[list->count++], err))
            return false;
    }
    return true;
}

static bool read_list(struct schema_source *source, const struct json_node *value, void *member,
                      struct error *err)
{
    if (value->kind != JSON_KIND_ARRAY || value->length == 0)
        return schema_refuse(source->root, value, err, "has to be a list of one schema or more");
    return read_schemas(source, value, member, err);
}

static bool read_items(struct schema_source *source, const struct json_node *value, void *member,
                       struct error *err)
{
    struct schema_node *node = member;

    return value->kind == JSON_KIND_ARRAY ? read_schemas(source, value, &node->first_items, err)
                                          : read_schema(source, value, &node->every_item, err);
}

/* Sorted, as the names of an object are. */
static bool read_properties(struct schema_source *source, const struct json_node *value,
                            void *member, struct error *err)
{
    struct schema_node *node = member;

    if (!expect_kind(JSON_KIND_OBJECT, "an object", source, value, err))
        return false;
    node->properties =
        arena_alloc(source->arena, (value->length + (size_t)1) * sizeof *node->properties);
    if (!node->properties)
        return error_no_memory(err);
    for (; node->property_count < value->length; node->property_count++) {
        struct schema_property *property = &node->properties[node->property_count];

        property->name = value->names[node->property_count];
        if (!read_schema(source, property->name + 1, &property->schema, err))
            return false;
    }
    return true;
}

/* Nothing of them is kept: they are there for those who refer to them. */
static bool read_definitions(struct schema_source *source, const struct json_node *value,
                             void *member, struct error *err)
{
    (void)member;
    if (!expect_kind(JSON_KIND_OBJECT, "an object", source, value, err))
        return false;
    for (uint32_t i = 0; i < value->length; i++) {
        struct schema_node *node = NULL;

        if (!compile(source, value->names[i] + 1, &node, err))
            return false;
    }
    return true;
}

static bool add_type(const struct schema_source *source, const struct json_node *value,
                     unsigned *types, struct error *err)
{
    char shown[EXCERPT_SIZE];

    if (!expect_kind(JSON_KIND_STRING, "a string", source, value, err))
        return false;
    for (unsigned i = 0; i < SCHEMA_TYPES; i++) {
        if (!is_word(value, schema_type_names[i]))
            continue;
        if (*types & 1U << i)
            return schema_refuse(source->root, value, err, "stands twice");
        *types |= 1U << i;
        return true;
    }
    const char *closest = text_closest(value->text, schema_type_names, SCHEMA_TYPES);
    return schema_refuse(source->root, value, err, "no such type '%s'%s%s%s",
                         excerpt_of(value->text, shown), closest ? " (did you mean '" : "",
                         closest ? closest : "", closest ? "'?)" : "");
}

static bool read_types(struct schema_source *source, const struct json_node *value, void *member,
                       struct error *err)
{
    const struct json_node *item = json_tree_first(value);

    if (value->kind == JSON_KIND_STRING)
        return add_type(source, value, member, err);
    if (value->kind != JSON_KIND_ARRAY || value->length == 0)
        return schema_refuse(source->root, value, err, "has to be a type or a list of types");
    for (; item < json_tree_next(value); item = json_tree_next(item)) {
        if (!add_type(source, item, member, err))
            return false;
    }
    return true;
}

static int compare_names(const void *a, const void *b)
{
    return json_tree_compare_names(*(const struct json_node *const *)a,
                                   *(const struct json_node *const *)b);
}

/* Sorted, equal names are neighbours. */
static bool check_names(const struct schema_source *source, const struct schema_names *names,
                        struct error *err)
{
    const size_t size = (names->count + 1) * sizeof(void *);
    const struct json_node **sorted = arena_alloc(source->arena, size);

    if (!sorted)
        return error_no_memory(err);
    memcpy(sorted, names->items, size);
    qsort(sorted, names->count, sizeof(void *), compare_names);
    for (size_t i = 1; i < names->count; i++) {
        if (json_tree_compare_names(sorted[i - 1], sorted[i]) == 0)
            return schema_refuse(source->root, sorted[i], err, "stands twice");
    }
    return true;
}

static bool read_names(struct schema_source *source, const struct json_node *value, void *member,
                       struct error *err)
{
    struct schema_names *names = member;
    const struct json_node *item = json_tree_first(value);

    if (!expect_kind(JSON_KIND_ARRAY, "a list of names", source, value, err))
        return false;
    names->items = arena_alloc(source->arena, (value->length + (size_t)1) * sizeof(void *));
    if (!names->items)
        return error_no_memory(err);
    for (; item < json_tree_next(value); item = json_tree_next(item)) {
        if (!expect_kind(JSON_KIND_STRING, "a string", source, item, err))
            return false;
        names->items[names->count++] = item;
    }
    return check_names(source, names, err);
}

static bool read_number(struct schema_source *source, const struct json_node *value, void *member,
                        struct error *err)
{
    *(const struct json_node **)member = value;
    return expect_kind(JSON_KIND_NUMBER, "a number", source, value, err);
}

static bool read_count(struct schema_source *source, const struct json_node *value, void *member,
                       struct error *err)
{
    if (value->kind == JSON_KIND_NUMBER && decimal_to_count(json_tree_bytes(value), member))
        return true;
    return schema_refuse(source->root, value, err, "has to be a whole number from 0 on");
}

static bool read_values(struct schema_source *source, const struct json_node *value, void *member,
                        struct error *err)
{
    *(const struct json_node **)member = value;
    return expect_kind(JSON_KIND_ARRAY, "a list of values", source, value, err);
}

static bool read_value(struct schema_source *source, const struct json_node *value, void *member,
                       struct error *err)
{
    (void)source;
    (void)err;
    *(const struct json_node **)member = value;
    return true;
}

static bool read_pattern(struct schema_source *source, const struct json_node *value, void *member,
                         struct error *err)
{
    struct schema_node *node = member;

    if (!expect_kind(JSON_KIND_STRING, "a string", source, value, err))
        return false;
    node->pattern_source = value;
    struct error fault;
    if (schema_pattern_compile(json_tree_bytes(value), source->arena, &node->pattern, &fault))
        return true;
    if (fault.code == TH_E_INVALID)
        return schema_refuse(source->root, value, err, "%s", fault.text);
    *err = fault;
    return false;
}

static bool read_ref(struct schema_source *source, const struct json_node *value, void *member,
                     struct error *err)
{
    *(const struct json_node **)member = value;
    return expect_kind(JSON_KIND_STRING, "a string", source, value, err);
}

/* At the top it is the file's name. Further inside it would change what a "$ref" refers to, unless
 * it is a mere fragment. */
static bool read_id(struct schema_source *source, const struct json_node *value, void *member,
                    struct error *err)
{
    const struct schema_node *node = member;

    if (!expect_kind(JSON_KIND_STRING, "a string", source, value, err))
        return false;
    if (node->source == source->root || text_starts_with(value->text, "#"))
        return true;
    return schema_refuse(source->root, value, err, "is supported only at the top of the file");
}

static bool ignore(struct schema_source *source, const struct json_node *value, void *member,
                   struct error *err)
{
    (void)source;
    (void)value;
    (void)member;
    (void)err;
    return true;
}

/* ---- the keywords ---- */

#define WHOLE_NODE     0
#define MEMBER(member) offsetof(struct schema_node, member)

/* clang-format off */
static const struct keyword {
    const char *name;
    keyword_reader *read;
    size_t offset; /* of the member */
} keywords[] = {
    {"type",                 read_types,       MEMBER(types)},
    {"enum",                 read_values,      MEMBER(values)},
    {"const",                read_value,       MEMBER(constant)},
    {"minimum",              read_number,      MEMBER(minimum)},
    {"maximum",              read_number,      MEMBER(maximum)},
    {"minLength",            read_count,       MEMBER(min_length)},
    {"maxLength",            read_count,       MEMBER(max_length)},
    {"pattern",              read_pattern,     WHOLE_NODE},
    {"items",                read_items,       WHOLE_NODE},
    {"minItems",             read_count,       MEMBER(min_items)},
    {"maxItems",             read_count,       MEMBER(max_items)},
    {"required",             read_names,       MEMBER(required)},
    {"properties",           read_properties,  WHOLE_NODE},
    {"additionalProperties", read_schema,      MEMBER(other_properties)},
    {"allOf",                read_list,        MEMBER(all_of)},
    {"anyOf",                read_list,        MEMBER(any_of)},
    {"oneOf",                read_list,        MEMBER(one_of)},
    {"not",                  read_schema,      MEMBER(negated)},
    {"definitions",          read_definitions, WHOLE_NODE},
    {"$ref",                 read_ref,         MEMBER(ref)},
    {"$id",                  read_id,          WHOLE_NODE},
    {"$schema",              ignore,           WHOLE_NODE},
    {"$comment",             ignore,           WHOLE_NODE},
    {"title",                ignore,           WHOLE_NODE},
    {"description",          ignore,           WHOLE_NODE},
    {"default",              ignore,           WHOLE_NODE},
    {"examples",             ignore,           WHOLE_NODE},
    {"format",               ignore,           WHOLE_NODE},
    {"readOnly",             ignore,           WHOLE_NODE},
    {"writeOnly",            ignore,           WHOLE_NODE},
};
/* clang-format on */

/* What draft 7 has and we do not: no misspellings of anything above. */
static const char *const unsupported[] = {
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "additionalItems",
    "uniqueItems",
    "contains",
    "minProperties",
    "maxProperties",
    "propertyNames",
    "patternProperties",
    "dependencies",
    "if",
    "then",
    "else",
    "contentEncoding",
    "contentMediaType",
};

static bool is_unsupported(const struct json_node *name)
{
    for (size_t i = 0; i < COUNT_OF(unsupported); i++) {
        if (is_word(name, unsupported[i]))
            return true;
    }
    return false;
}

static bool refuse_keyword(const struct schema_source *source, const struct json_node *name,
                           struct error *err)
{
    const char *names[COUNT_OF(keywords)];
    char shown[EXCERPT_SIZE];

    excerpt_of(name->text, shown);
    if (is_unsupported(name))
        return schema_refuse(source->root, name, err, "the keyword '%s' is not supported", shown);
    for (size_t i = 0; i < COUNT_OF(keywords); i++)
        names[i] = keywords[i].name;
    const char *closest = text_closest(name->text, names, COUNT_OF(names));
    if (!closest)
        return schema_refuse(source->root, name, err, "unknown keyword '%s'", shown);
    return schema_refuse(source->root, name, err, "unknown keyword '%s' (did you mean '%s'?)",
                         shown, closest);
}

static const struct keyword *find_keyword(const struct json_node *name)
{
    for (size_t i = 0; i < COUNT_OF(keywords); i++) {
        if (is_word(name, keywords[i].name))
            return &keywords[i];
    }
    return NULL;
}

/* Beside a "$ref" nothing counts; only what others may refer to is read. */
static bool is_meaningless(const struct keyword *keyword, bool has_ref)
{
    return has_ref &&
           (!keyword || (keyword->read != read_ref && keyword->read != read_definitions));
}

static bool has_ref(const struct json_node *value)
{
    static const struct json_node name = {
        .text = "$ref", .length = sizeof "$ref" - 1, .kind = JSON_KIND_STRING, .size = 1};

    return json_tree_member(value, &name) != NULL;
}

static bool read_keywords(struct schema_source *source, const struct json_node *value,
                          struct schema_node *node, struct error *err)
{
    const bool refers = has_ref(value);
    const struct json_node *name = json_tree_first(value);

    for (; name < json_tree_next(value); name = json_tree_next(name + 1)) {
        const struct keyword *keyword = find_keyword(name);

        if (is_meaningless(keyword, refers))
            continue;
        if (!keyword)
            return refuse_keyword(source, name, err);
        if (!keyword->read(source, name + 1, (char *)node + keyword->offset, err))
            return false;
    }
    return true;
}

/* As deep as the file is: JSON_DEPTH_MAX. */
static bool compile(struct schema_source *source, const struct json_node *value,
                    struct schema_node **node_out, struct error *err)
{
    struct schema_node *node = arena_alloc(source->arena, sizeof *node);

    if (!node)
        return error_no_memory(err);
    node->source = value;
    node->max_length = SIZE_MAX;
    node->max_items = SIZE_MAX;
    node->is_false = value->kind == JSON_KIND_FALSE;
    source->nodes[value - source->root] = node;
    *node_out = node;
    if (value->kind == JSON_KIND_OBJECT)
        return read_keywords(source, value, node, err);
    if (value->kind == JSON_KIND_TRUE || value->kind == JSON_KIND_FALSE)
        return true;
    return schema_refuse(source->root, value, err, "has to be a schema: an object, true or false");
}

bool schema_compile(struct schema_source *source, struct error *err)
{
    struct schema_node *top = NULL;

    return compile(source, source->root, &top, err);
}

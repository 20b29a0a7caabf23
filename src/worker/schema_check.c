/*
 * schema_check.c - a payload against a schema.
 *
 * Recursive: as deep as payloads are (JSON_DEPTH_MAX), times as many schemas as apply to one value
 * inside each other (SCHEMA_NESTED_MAX).
 *
 * Invariants:
 *   - The work is limited: every step is counted, and when there are none left the check is given
 *     up. A schema that tries two ways at each level of a payload has 2^depth of them.
 *   - What was given up does not fit, whatever is around it: "not" does not turn it into its
 *     opposite.
 *   - The fault that is reported is the first one that no alternative could have avoided.
 */
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/decimal.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/text.h"
#include "worker/schema.h"
#include "worker/schema_node.h"
#include "worker/schema_pattern.h"

#include <stdio.h>
#include <stdlib.h>

#define STEPS_MAX      INT64_C(100000000) /* a few seconds */
#define BYTES_PER_STEP 64
#define TYPES_TEXT     96

struct checking {
    const struct json_node *root; /* the payload */
    int64_t steps;                /* left */
    bool is_over;                 /* given up, or out of memory: the error says it */
    int trying; /* alternatives that we are inside: their faults are not reported */
    struct error *err;
};

/* ---- faults ---- */

/* False. Its arguments are looked at only if somebody wants to know. */
#define FAULT(checking, place, ...)                                                                \
    ((checking)->trying == 0 && !(checking)->is_over &&                                            \
     schema_refuse((checking)->root, (place), (checking)->err, __VA_ARGS__))

static bool give_up(struct checking *checking, const struct json_node *place, const char *why)
{
    if (!checking->is_over)
        schema_refuse(checking->root, place, checking->err, "%s", why);
    checking->is_over = true;
    return false;
}

/* Takes that many steps off those that are left. */
static bool spend(struct checking *checking, const struct json_node *place, uint64_t steps)
{
    checking->steps -= (int64_t)steps;
    return !checking->is_over &&
           (checking->steps >= 0 || give_up(checking, place, "takes too long to check"));
}

/* ---- any value ---- */

static unsigned type_of(const struct json_node *value)
{
    switch (value->kind) {
    case JSON_KIND_NULL:
        return SCHEMA_NULL;
    case JSON_KIND_FALSE:
    case JSON_KIND_TRUE:
        return SCHEMA_BOOLEAN;
    case JSON_KIND_NUMBER:
        return SCHEMA_NUMBER;
    case JSON_KIND_STRING:
        return SCHEMA_STRING;
    case JSON_KIND_ARRAY:
        return SCHEMA_ARRAY;
    case JSON_KIND_OBJECT:
        return SCHEMA_OBJECT;
    }
    abort(); /* a value of no known kind */
}

static const char *article_of(const char *type)
{
    if (text_equal(type, "null"))
        return "";
    return text_equal(type, "integer") || type[0] == 'a' || type[0] == 'o' ? "an " : "a ";
}

/* "a string or null" */
static const char *describe_types(unsigned types, char out[TYPES_TEXT])
{
    int length = 0;

    out[0] = '\0';
    for (unsigned i = 0; i < SCHEMA_TYPES; i++) {
        if (types & 1U << i)
            length += snprintf(out + length, TYPES_TEXT - (size_t)length, "%s%s%s",
                               length > 0 ? " or " : "", article_of(schema_type_names[i]),
                               schema_type_names[i]);
    }
    return out;
}

static bool check_type(struct checking *checking, const struct schema_node *schema,
                       const struct json_node *value)
{
    const unsigned type = type_of(value);
    char types[TYPES_TEXT];

    if (schema->types == 0 || schema->types & type)
        return true;
    if (type == SCHEMA_NUMBER && schema->types & SCHEMA_INTEGER &&
        decimal_is_whole(json_tree_bytes(value)))
        return true;
    return FAULT(checking, value, "is not %s", describe_types(schema->types, types));
}

/* What it costs at most to find out whether they are equal. */
static uint64_t cost_of_comparison(const struct json_node *a, const struct json_node *b)
{
    if (a->kind != b->kind)
        return 1;
    if (a->kind == JSON_KIND_NUMBER)
        return 1 + ((uint64_t)a->length + b->length) / BYTES_PER_STEP;
    return a->length != b->length ? 1 : (a->size < b->size ? a->size : b->size);
}

static bool is_equal(struct checking *checking, const struct json_node *value,
                     const struct json_node *wanted)
{
    return spend(checking, value, cost_of_comparison(value, wanted)) &&
           json_tree_equal(value, wanted);
}

static bool check_values(struct checking *checking, const struct schema_node *schema,
                         const struct json_node *value)
{
    if (schema->constant && !is_equal(checking, value, schema->constant))
        return FAULT(checking, value, "is not the value of 'const'");
    if (!schema->values)
        return true;
    const struct json_node *wanted = json_tree_first(schema->values);
    for (; wanted < json_tree_next(schema->values); wanted = json_tree_next(wanted)) {
        if (is_equal(checking, value, wanted))
            return true;
    }
    return FAULT(checking, value, "is none of the values of 'enum'");
}

/* ---- numbers and strings ---- */

static const char *show_number(const struct json_node *number, char out[EXCERPT_SIZE])
{
    char text[EXCERPT_SIZE];

    snprintf(text, sizeof text, "%.*s", (int)number->length, number->text);
    return excerpt_of(text, out);
}

static bool check_number(struct checking *checking, const struct schema_node *schema,
                         const struct json_node *value)
{
    const struct bytes number = json_tree_bytes(value);
    char shown[EXCERPT_SIZE];

    if (schema->minimum && decimal_compare(number, json_tree_bytes(schema->minimum)) < 0)
        return FAULT(checking, value, "is less than %s", show_number(schema->minimum, shown));
    if (schema->maximum && decimal_compare(number, json_tree_bytes(schema->maximum)) > 0)
        return FAULT(checking, value, "is more than %s", show_number(schema->maximum, shown));
    return true;
}

static size_t count_characters(const struct json_node *string)
{
    size_t count = 0;

    for (uint32_t i = 0; i < string->length; i++)
        count += ((unsigned char)string->text[i] & 0xC0) != 0x80;
    return count;
}

static bool check_pattern(struct checking *checking, const struct schema_node *schema,
                          const struct json_node *value)
{
    char shown[EXCERPT_SIZE];

    switch (schema_pattern_find(schema->pattern, json_tree_bytes(value), &checking->steps)) {
    case MATCH_FOUND:
        return true;
    case MATCH_NONE:
        return FAULT(checking, value, "does not match '%s'",
                     excerpt_of(schema->pattern_source->text, shown));
    case MATCH_GIVEN_UP:
        return give_up(checking, value, "takes too long to match with the pattern");
    case MATCH_NO_MEMORY:
        checking->is_over = true;
        return error_no_memory(checking->err);
    }
    abort(); /* a match of no known kind */
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static bool check_string(struct checking *checking, const struct schema_node *schema,
                         const struct json_node *value)
{
    if (schema->min_length > 0 || schema->max_length < SIZE_MAX) {
        const size_t length = count_characters(value);

        if (length < schema->min_length)
            return FAULT(checking, value, "is shorter than %zu character%s", schema->min_length,
                         plural(schema->min_length));
        if (length > schema->max_length)
            return FAULT(checking, value, "is longer than %zu character%s", schema->max_length,
                         plural(schema->max_length));
    }
    return !schema->pattern || check_pattern(checking, schema, value);
}

/* ---- arrays and objects ---- */

static bool check(struct checking *checking, const struct schema_node *schema,
                  const struct json_node *value);

static bool check_items(struct checking *checking, const struct schema_node *schema,
                        const struct json_node *value)
{
    const struct json_node *item = json_tree_first(value);
    const struct schema_list *first = &schema->first_items;
    const size_t checked =
        schema->every_item || first->count > value->length ? value->length : first->count;

    if (value->length < schema->min_items)
        return FAULT(checking, value, "has fewer than %zu item%s", schema->min_items,
                     plural(schema->min_items));
    if (value->length > schema->max_items)
        return FAULT(checking, value, "has more than %zu item%s", schema->max_items,
                     plural(schema->max_items));
    for (size_t i = 0; i < checked; i++, item = json_tree_next(item)) {
        if (!check(checking, schema->every_item ? schema->every_item : first->items[i], item))
            return false;
    }
    return true;
}

static bool check_required(struct checking *checking, const struct schema_names *required,
                           const struct json_node *value)
{
    char shown[EXCERPT_SIZE];

    if (!spend(checking, value, required->count))
        return false;
    for (size_t i = 0; i < required->count; i++) {
        if (!json_tree_member(value, required->items[i]))
            return FAULT(checking, value, "'%s' is missing",
                         excerpt_of(required->items[i]->text, shown));
    }
    return true;
}

static int compare_property(const void *name, const void *property)
{
    return json_tree_compare_names(name, ((const struct schema_property *)property)->name);
}

/* What a member has to fit, or NULL. */
static const struct schema_node *schema_of(const struct schema_node *schema,
                                           const struct json_node *name)
{
    const struct schema_property *property =
        schema->property_count == 0 ? NULL
                                    : bsearch(name, schema->properties, schema->property_count,
                                              sizeof *schema->properties, compare_property);

    return property ? property->schema : schema->other_properties;
}

static bool check_members(struct checking *checking, const struct schema_node *schema,
                          const struct json_node *value)
{
    const struct json_node *name = json_tree_first(value);

    if (!check_required(checking, &schema->required, value))
        return false;
    if (schema->property_count == 0 && !schema->other_properties)
        return true;
    if (!spend(checking, value, value->length))
        return false;
    for (; name < json_tree_next(value); name = json_tree_next(name + 1)) {
        const struct schema_node *wanted = schema_of(schema, name);

        if (wanted && !check(checking, wanted, name + 1))
            return false;
    }
    return true;
}

static bool check_contents(struct checking *checking, const struct schema_node *schema,
                           const struct json_node *value)
{
    switch (value->kind) {
    case JSON_KIND_NULL:
    case JSON_KIND_FALSE:
    case JSON_KIND_TRUE:
        return true;
    case JSON_KIND_NUMBER:
        return check_number(checking, schema, value);
    case JSON_KIND_STRING:
        return check_string(checking, schema, value);
    case JSON_KIND_ARRAY:
        return check_items(checking, schema, value);
    case JSON_KIND_OBJECT:
        return check_members(checking, schema, value);
    }
    abort(); /* a value of no known kind */
}

/* ---- schemas of schemas ---- */

/* Whether it would fit; no fault is reported. */
static bool would_fit(struct checking *checking, const struct schema_node *schema,
                      const struct json_node *value)
{
    checking->trying++;
    const bool fits = check(checking, schema, value);
    checking->trying--;
    return fits;
}

/* How many of them it fits, up to `enough`. */
static size_t count_fits(struct checking *checking, const struct schema_list *list,
                         const struct json_node *value, size_t enough)
{
    size_t count = 0;

    for (size_t i = 0; i < list->count && count < enough && !checking->is_over; i++)
        count += would_fit(checking, list->items[i], value);
    return count;
}

static bool check_all_of(struct checking *checking, const struct schema_list *list,
                         const struct json_node *value)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!check(checking, list->items[i], value))
            return false;
    }
    return true;
}

static bool check_one_of(struct checking *checking, const struct schema_list *list,
                         const struct json_node *value)
{
    if (list->count == 0)
        return true;
    const size_t fits = count_fits(checking, list, value, 2);
    if (fits == 1)
        return true;
    return FAULT(checking, value,
                 fits == 0 ? "fits no schema of 'oneOf'" : "fits more than one schema of 'oneOf'");
}

static bool check_combinations(struct checking *checking, const struct schema_node *schema,
                               const struct json_node *value)
{
    if (!check_all_of(checking, &schema->all_of, value))
        return false;
    if (schema->any_of.count > 0 && count_fits(checking, &schema->any_of, value, 1) == 0)
        return FAULT(checking, value, "fits no schema of 'anyOf'");
    if (!check_one_of(checking, &schema->one_of, value))
        return false;
    if (schema->negated && would_fit(checking, schema->negated, value))
        return FAULT(checking, value, "fits the schema of 'not'");
    return true;
}

static uint64_t cost_of(const struct json_node *value)
{
    const bool is_scalar = value->kind == JSON_KIND_STRING || value->kind == JSON_KIND_NUMBER;

    return 1 + (is_scalar ? value->length / BYTES_PER_STEP : 0);
}

static bool check(struct checking *checking, const struct schema_node *schema,
                  const struct json_node *value)
{
    if (schema->target)
        schema = schema->target;
    if (!spend(checking, value, cost_of(value)))
        return false;
    if (schema->is_false)
        return FAULT(checking, value, "is not allowed");
    return check_type(checking, schema, value) && check_values(checking, schema, value) &&
           check_contents(checking, schema, value) && check_combinations(checking, schema, value);
}

bool schema_check(const struct schema *schema, struct bytes payload, struct error *err)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct checking checking = {.steps = STEPS_MAX, .err = err};

    if (!json_tree_parse(payload, &arena, &checking.root, err))
        return false;
    return check(&checking, schema->top, checking.root) && !checking.is_over;
}

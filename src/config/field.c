/*
 * field.c - a table of keys fills a struct.
 *
 * Defaults are read like values: from the text in the row, by the same function. So a default
 * outside its own range is found by the first test that loads a config.
 */
#include "config/field.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/excerpt.h"
#include "base/text.h"
#include "config/value.h"

#include <string.h>

#define NAME_LIMIT     ((size_t)512)
#define CANDIDATES_MAX 64

/* "pool.lease"; at the top, "backend". */
static const char *full_name(const struct field_scope *scope, const char *key)
{
    CLEANUP(buffer_done) struct buffer name = BUFFER(NAME_LIMIT);

    if (scope->name[0] == '\0')
        return key;
    buffer_printf(&name, "%s.%s", scope->name, key);
    return arena_text(&scope->diagnostics->arena, buffer_str(&name));
}

static const struct field *find_field(const struct field *fields, const char *key)
{
    for (const struct field *field = fields; field->key; field++) {
        if (text_equal(field->key, key))
            return field;
    }
    return NULL;
}

static void complain_unknown(const struct field_scope *scope, const struct field *fields,
                             const struct node *key)
{
    const char *candidates[CANDIDATES_MAX];
    char shown[EXCERPT_SIZE];
    size_t count = 0;
    const bool top = scope->name[0] == '\0';

    for (const struct field *field = fields; field->key && count < CANDIDATES_MAX; field++)
        candidates[count++] = field->key;
    diagnostics_add(scope->diagnostics, key->place, "unknown key '%s'%s%s%s%s",
                    excerpt_of(key->text, shown), top ? "" : " in '", scope->name, top ? "" : "'",
                    diagnostics_hint(scope->diagnostics, key->text, candidates, count));
}

static void check_keys(const struct field_scope *scope, const struct field *fields,
                       const struct node *map)
{
    for (const struct node *member = map->first; member; member = member->next) {
        if (!find_field(fields, member->key->text))
            complain_unknown(scope, fields, member->key);
    }
}

static void fill_section(const struct field_scope *scope, const struct field *field,
                         const struct node *node, void *member)
{
    const struct field_scope inner = {.arena = scope->arena,
                                      .diagnostics = scope->diagnostics,
                                      .name = full_name(scope, field->key),
                                      .inherits = field->inherits};

    if (node && node->kind == NODE_LIST && field->fields[0].kind == FIELD_POLICY) {
        /* retry: [1s, 5s] is short for retry: {policy: [1s, 5s]} */
        field_fill(&inner, field->fields, NULL, member);
        value_read_policy(&inner, &field->fields[0], inner.name, node, member);
        return;
    }
    field_fill(&inner, field->fields, node, member);
}

/* Lists and maps have no default but the empty one. */
static bool has_default(const struct field *field)
{
    return field->fallback && field->fallback[0] != '\0' && field->fallback[0] != '[' &&
           field->fallback[0] != '{';
}

static void read_one(const struct field_scope *scope, const struct field *field, const char *name,
                     const struct node *node, void *section)
{
    if (field->kind == FIELD_POLICY)
        value_read_policy(scope, field, name, node, section);
    else
        value_read(scope, field, name, node, (char *)section + field->offset);
}

/* `node` NULL: left out. */
static void fill_field(const struct field_scope *scope, const struct field *field,
                       const struct node *map, const struct node *node, void *section)
{
    static const struct source none = {.name = "default", .folder = "."};
    const struct node fallback = {.place = {map ? map->place.source : &none, 0, 0},
                                  .text = field->fallback};

    if (field->kind == FIELD_ENTRIES)
        return;
    if (field->kind == FIELD_SECTION)
        fill_section(scope, field, node, (char *)section + field->offset);
    else if (node && !node->broken)
        read_one(scope, field, full_name(scope, field->key), node, section);
    else if (!node && !scope->inherits && has_default(field))
        read_one(scope, field, full_name(scope, field->key), &fallback, section);
    else if (!node && map && !field->fallback)
        diagnostics_add(scope->diagnostics, map->key ? map->key->place : map->place,
                        "'%s' needs '%s'", scope->name, field->key);
}

void field_fill(const struct field_scope *scope, const struct field *fields, const struct node *map,
                void *section)
{
    const bool is_map = map && map->kind == NODE_MAP;

    if (map && !is_map && !map->broken && !node_is_null(map))
        diagnostics_add(scope->diagnostics, map->place, "%s: expected a map, not %s", scope->name,
                        node_kind_name(map));
    if (map && !is_map && !node_is_null(map))
        map = NULL;
    if (is_map)
        check_keys(scope, fields, map);
    for (const struct field *field = fields; field->key; field++)
        fill_field(scope, field, map, node_find(map, field->key), section);
}

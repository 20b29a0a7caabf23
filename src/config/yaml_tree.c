/*
 * yaml_tree.c - libyaml to nodes that know their file, line and column.
 *
 * libyaml reads events; each one becomes a node under the innermost map or list that is open. The
 * stack of those is an array: YAML_DEPTH_MAX is what it holds.
 *
 * Invariants:
 *   - What is read costs memory in proportion to the file, never more: there are no aliases.
 *   - Nothing here is quadratic: keys are sorted to find those that are there twice.
 */
#include "config/yaml_tree.h"

#include "base/cleanup.h"
#include "base/excerpt.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct builder {
    const struct source *source;
    struct diagnostics *diagnostics;
    yaml_parser_t parser;
    struct node *root;
    struct node *open[YAML_DEPTH_MAX]; /* maps and lists that have not ended */
    size_t depth;
    struct node *key; /* read, and waiting for its value */
    size_t documents;
};

static struct place place_at(const struct source *source, const yaml_mark_t *mark)
{
    return (struct place){source, mark->line + 1, mark->column + 1};
}

/* Whether the byte is one that text has. libyaml would name the code of the others, one by one. */
static bool is_text_byte(unsigned char c)
{
    return (c >= 0x20 && c != 0x7f) || c == '\t' || c == '\n' || c == '\r';
}

static bool check_is_text(const struct source *source, struct diagnostics *diagnostics)
{
    struct place place = {source, 1, 1};
    struct bytes rest = source->text;

    while (rest.length > 0) {
        const size_t length = text_character_length(rest);

        if (length == 0 || !is_text_byte(rest.data[0]))
            return diagnostics_add(diagnostics, place,
                                   "this is not text (byte 0x%02x): a config is YAML in UTF-8",
                                   rest.data[0]);
        place.column++;
        if (rest.data[0] == '\n') {
            place.line++;
            place.column = 1;
        }
        rest.data += length;
        rest.length -= length;
    }
    return true;
}

static bool complain_no_memory(struct builder *builder)
{
    builder->diagnostics->failed = true;
    return false;
}

/* What somebody may have meant where libyaml only says what it did not find; NULL: nobody knows. */
static const char *advice_for(const yaml_parser_t *parser, const struct source *source)
{
    const size_t offset = parser->problem_mark.index;
    const int first = offset < source->text.length ? source->text.data[offset] : 0;

    if (first == '\t')
        return "indent with spaces, not with tabs";
    if (parser->context && text_equal(parser->context, "while scanning an alias"))
        return "what begins with * needs quotes, such as \"*\"";
    if (first == '@' || first == '`' || first == '%')
        return "what begins with this character needs quotes";
    return NULL;
}

static bool complain_syntax(struct builder *builder)
{
    const yaml_parser_t *parser = &builder->parser;

    if (parser->error == YAML_MEMORY_ERROR)
        return complain_no_memory(builder);
    const char *advice = advice_for(parser, builder->source);
    if (advice)
        return diagnostics_add(builder->diagnostics,
                               place_at(builder->source, &parser->problem_mark),
                               "this is not valid YAML: %s", advice);
    return diagnostics_add(builder->diagnostics, place_at(builder->source, &parser->problem_mark),
                           "this is not valid YAML: %s%s%s",
                           parser->problem ? parser->problem : "cannot be read",
                           parser->context ? " " : "", parser->context ? parser->context : "");
}

static bool add_to(struct builder *builder, struct node *node)
{
    struct node *parent = builder->depth == 0 ? NULL : builder->open[builder->depth - 1];

    if (!parent) {
        builder->root = node;
        return true;
    }
    if (parent->kind == NODE_MAP && !builder->key) {
        if (node->kind != NODE_SCALAR)
            return diagnostics_add(builder->diagnostics, node->place,
                                   "a key must be a word, not %s", node_kind_name(node));
        builder->key = node;
        return true;
    }
    node->key = builder->key;
    builder->key = NULL;
    if (!parent->first)
        parent->first = node;
    else
        parent->last->next = node;
    parent->last = node;
    return true;
}

static struct node *add_node(struct builder *builder, enum node_kind kind,
                             const yaml_event_t *event)
{
    struct node *node = arena_alloc(&builder->diagnostics->arena, sizeof *node);

    if (!node) {
        complain_no_memory(builder);
        return NULL;
    }
    *node = (struct node){
        .kind = kind, .place = place_at(builder->source, &event->start_mark), .text = ""};
    return add_to(builder, node) ? node : NULL;
}

static void refuse_extras(struct builder *builder, const yaml_event_t *event,
                          const yaml_char_t *anchor, const yaml_char_t *tag)
{
    char shown[EXCERPT_SIZE];
    struct place place = place_at(builder->source, &event->start_mark);

    if (anchor)
        diagnostics_add(builder->diagnostics, place, "anchors are not allowed: '&%s'",
                        excerpt_of((const char *)anchor, shown));
    if (tag)
        diagnostics_add(builder->diagnostics, place, "tags are not allowed: '%s'",
                        excerpt_of((const char *)tag, shown));
}

static bool on_scalar(struct builder *builder, const yaml_event_t *event)
{
    struct node *node = add_node(builder, NODE_SCALAR, event);
    const char *text = (const char *)event->data.scalar.value;
    const size_t length = event->data.scalar.length;

    if (!node)
        return false;
    refuse_extras(builder, event, event->data.scalar.anchor, event->data.scalar.tag);
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    node->text = arena_text_of(&builder->diagnostics->arena, text, length);
    if (strlen(node->text) == length)
        return true;
    node->broken = true;
    diagnostics_add(builder->diagnostics, node->place, "this text has a NUL byte in it");
    return true;
}

static bool on_alias(struct builder *builder, const yaml_event_t *event)
{
    char shown[EXCERPT_SIZE];
    struct node *node = add_node(builder, NODE_SCALAR, event);

    if (!node)
        return false;
    node->broken = true;
    diagnostics_add(builder->diagnostics, node->place,
                    "aliases are not allowed: write out what '*%s' stands for",
                    excerpt_of((const char *)event->data.alias.anchor, shown));
    return true;
}

static bool on_open(struct builder *builder, enum node_kind kind, const yaml_event_t *event)
{
    if (builder->depth == YAML_DEPTH_MAX)
        return diagnostics_add(builder->diagnostics, place_at(builder->source, &event->start_mark),
                               "this is nested more than %d levels deep", YAML_DEPTH_MAX);
    struct node *node = add_node(builder, kind, event);
    if (!node)
        return false;
    if (kind == NODE_MAP)
        refuse_extras(builder, event, event->data.mapping_start.anchor,
                      event->data.mapping_start.tag);
    else
        refuse_extras(builder, event, event->data.sequence_start.anchor,
                      event->data.sequence_start.tag);
    builder->open[builder->depth++] = node;
    return true;
}

/* For sorting. */
struct member {
    const struct node *key;
};

static size_t count_members(const struct node *map)
{
    size_t count = 0;

    for (const struct node *member = map->first; member; member = member->next)
        count++;
    return count;
}

static int compare_numbers(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int compare_members(const void *left, const void *right)
{
    const struct node *a = ((const struct member *)left)->key;
    const struct node *b = ((const struct member *)right)->key;
    int order = strcmp(a->text, b->text);

    if (order == 0)
        order = compare_numbers(a->place.source->order, b->place.source->order);
    if (order == 0)
        order = compare_numbers(a->place.line, b->place.line);
    return order != 0 ? order : compare_numbers(a->place.column, b->place.column);
}

static void complain_twice(const struct node *first, const struct node *second,
                           struct diagnostics *diagnostics)
{
    char shown[EXCERPT_SIZE];

    diagnostics_add(diagnostics, second->place, "key '%s' is here and at %s",
                    excerpt_of(second->text, shown), diagnostics_place(diagnostics, first->place));
}

/* Pairs of one file are found when that file is read, pairs of two when they are put together. */
static bool check_twice(const struct node *map, bool of_two_files, struct diagnostics *diagnostics)
{
    const size_t count = count_members(map);
    AUTO_FREE struct member *members = calloc(count + 1, sizeof *members);
    size_t at = 0;

    if (!members)
        return false;
    for (const struct node *member = map->first; member; member = member->next)
        members[at++].key = member->key;
    qsort(members, count, sizeof *members, compare_members);
    for (size_t i = 1; i < count; i++) {
        const struct node *first = members[i - 1].key, *second = members[i].key;

        if (text_equal(first->text, second->text) &&
            (first->place.source != second->place.source) == of_two_files)
            complain_twice(first, second, diagnostics);
    }
    return true;
}

static bool on_close(struct builder *builder)
{
    const struct node *node = builder->open[--builder->depth];

    if (node->kind == NODE_MAP && !check_twice(node, false, builder->diagnostics))
        return complain_no_memory(builder);
    return true;
}

static bool on_document(struct builder *builder, const yaml_event_t *event)
{
    if (builder->documents++ > 0)
        return diagnostics_add(builder->diagnostics, place_at(builder->source, &event->start_mark),
                               "a second document starts here: a config is one document");
    return true;
}

static bool on_event(struct builder *builder, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return on_document(builder, event);
    case YAML_SCALAR_EVENT:
        return on_scalar(builder, event);
    case YAML_ALIAS_EVENT:
        return on_alias(builder, event);
    case YAML_SEQUENCE_START_EVENT:
        return on_open(builder, NODE_LIST, event);
    case YAML_MAPPING_START_EVENT:
        return on_open(builder, NODE_MAP, event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return on_close(builder);
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        return true;
    }
    return true;
}

static bool read_events(struct builder *builder)
{
    bool ended = false;

    while (!ended) {
        yaml_event_t event;
        if (!yaml_parser_parse(&builder->parser, &event))
            return complain_syntax(builder);
        ended = event.type == YAML_STREAM_END_EVENT;
        const bool ok = on_event(builder, &event);
        yaml_event_delete(&event);
        if (!ok)
            return false;
    }
    return true;
}

/* An empty file, or one of comments only, is an empty map. */
static bool finish(struct builder *builder, struct node **root_out)
{
    struct node *root = builder->root;

    if (!root)
        root = arena_alloc(&builder->diagnostics->arena, sizeof *root);
    if (!root)
        return complain_no_memory(builder);
    if (!builder->root || node_is_null(root))
        *root = (struct node){
            .kind = NODE_MAP, .place = {builder->source, 1, 1}, .text = "", .broken = false};
    if (root->kind != NODE_MAP)
        return diagnostics_add(builder->diagnostics, root->place,
                               "a config is a map of keys, such as 'pool:', not %s",
                               node_kind_name(root));
    *root_out = root;
    return !builder->diagnostics->arena.failed || complain_no_memory(builder);
}

bool yaml_tree_parse(const struct source *source, struct diagnostics *diagnostics,
                     struct node **root_out)
{
    struct builder builder = {.source = source, .diagnostics = diagnostics};

    if (!check_is_text(source, diagnostics))
        return false;
    if (!yaml_parser_initialize(&builder.parser))
        return complain_no_memory(&builder);
    yaml_parser_set_encoding(&builder.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&builder.parser, source->text.data, source->text.length);
    const bool ok = read_events(&builder) && finish(&builder, root_out);
    yaml_parser_delete(&builder.parser);
    return ok;
}

void yaml_tree_check_files(const struct node *map, struct diagnostics *diagnostics)
{
    if (!check_twice(map, true, diagnostics))
        diagnostics->failed = true;
}

struct node *node_find(const struct node *map, const char *key)
{
    struct node *member = !map || map->kind != NODE_MAP ? NULL : map->first;

    while (member && !text_equal(member->key->text, key))
        member = member->next;
    return member;
}

bool node_is_null(const struct node *node)
{
    return node->kind == NODE_SCALAR && !node->quoted && !node->broken &&
           (node->text[0] == '\0' || text_equal(node->text, "~") || text_equal(node->text, "null"));
}

const char *node_kind_name(const struct node *node)
{
    switch (node->kind) {
    case NODE_SCALAR:
        return "a value";
    case NODE_LIST:
        return "a list";
    case NODE_MAP:
        return "a map";
    }
    abort(); /* a node of no known kind */
}

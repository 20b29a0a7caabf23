/*
 * json_tree.c - JSON text as values that can be walked.
 *
 * Three passes over the text, none of them recursive: it is checked, the nodes are counted, and
 * then they are filled in. The strings of a copy of the text are decoded where they stand, for
 * that never makes them longer, and the quote behind each becomes its NUL.
 */
#include "base/json_tree.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/json.h"
#include "base/json_number.h"
#include "base/json_scan.h"

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

/* ---- strings ---- */

static unsigned read_hex(const unsigned char *digits)
{
    unsigned value = 0;

    for (int i = 0; i < 4; i++) {
        const unsigned c = digits[i];

        value = value << 4 | (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
}

static size_t write_utf8(unsigned code, unsigned char *out)
{
    if (code < 0x80) {
        out[0] = (unsigned char)code;
        return 1;
    }
    const size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char marks[] = {[2] = 0xC0, [3] = 0xE0, [4] = 0xF0};

    for (size_t i = length - 1; i > 0; i--) {
        out[i] = (unsigned char)(0x80 | (code & 0x3F));
        code >>= 6;
    }
    out[0] = (unsigned char)(marks[length] | code);
    return length;
}

/* What stands behind \u; returns how much that is. */
static size_t decode_code_point(const unsigned char *at, unsigned *code_out)
{
    const unsigned first = read_hex(at);

    if (first < 0xD800 || first > 0xDFFF) {
        *code_out = first;
        return 4;
    }
    *code_out = 0x10000 + ((first - 0xD800) << 10 | (read_hex(at + 6) - 0xDC00));
    return 10;
}

static unsigned decode_letter(unsigned char letter)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    const char *found = strchr(from, letter);

    return found ? (unsigned char)to[found - from] : letter;
}

/* In place; returns the new length. */
static size_t decode_string(unsigned char *string, size_t length)
{
    const unsigned char *at = memchr(string, '\\', length);
    const unsigned char *const end = string + length;

    if (!at)
        return length;
    unsigned char *out = string + (at - string);
    while (at < end) {
        unsigned code = 0;

        if (*at != '\\') {
            *out++ = *at++;
            continue;
        }
        if (at[1] == 'u') {
            at += 2 + decode_code_point(at + 2, &code);
        } else {
            code = decode_letter(at[1]);
            at += 2;
        }
        out += write_utf8(code, out);
    }
    return (size_t)(out - string);
}

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

/* No fewer than there are: every value but the first, and every name, has one of these before it.
 */
static size_t count_nodes(struct bytes text)
{
    struct json_scan scan = json_scan_of(text);
    size_t count = 1;

    while (scan.at < scan.end) {
        if (*scan.at == '"') {
            json_scan_string(&scan);
            continue;
        }
        if (*scan.at == '[' || *scan.at == '{' || *scan.at == ',' || *scan.at == ':')
            count++;
        scan.at++;
    }
    return count;
}

static struct json_node *add_node(struct builder *builder, enum json_kind kind)
{
    struct json_node *node = &builder->nodes[builder->count++];

    node->kind = kind;
    node->size = 1;
    if (builder->depth > 0)
        builder->nodes[builder->open[builder->depth - 1]].length++;
    return node;
}

static void add_word(struct builder *builder, enum json_kind kind, const char *word)
{
    add_node(builder, kind);
    builder->scan.at += strlen(word);
}

static void add_number(struct builder *builder)
{
    struct json_node *node = add_node(builder, JSON_KIND_NUMBER);

    node->text = (const char *)builder->scan.at;
    json_scan_number(&builder->scan);
    node->length = (uint32_t)((const char *)builder->scan.at - node->text);
}

static void add_string(struct builder *builder)
{
    struct json_node *node = add_node(builder, JSON_KIND_STRING);
    unsigned char *const start = (unsigned char *)builder->scan.at + 1;

    json_scan_string(&builder->scan);
    const size_t length = decode_string(start, (size_t)(builder->scan.at - start) - 1);
    start[length] = '\0';
    node->text = (const char *)start;
    node->length = (uint32_t)length;
}

static void open_node(struct builder *builder, enum json_kind kind)
{
    const size_t index = builder->count;

    add_node(builder, kind);
    builder->open[builder->depth++] = index;
    builder->scan.at++;
}

static bool close_node(struct builder *builder, struct error *err)
{
    const size_t index = builder->open[--builder->depth];
    struct json_node *node = &builder->nodes[index];

    node->size = (unsigned)(builder->count - index) & 0x1FFFFFFF;
    builder->scan.at++;
    if (node->kind != JSON_KIND_OBJECT)
        return true;
    node->length /= 2;
    return sort_names(node, builder->arena, err);
}

static bool add_next(struct builder *builder, struct error *err)
{
    switch (*builder->scan.at) {
    case '{':
        open_node(builder, JSON_KIND_OBJECT);
        return true;
    case '[':
        open_node(builder, JSON_KIND_ARRAY);
        return true;
    case '}':
    case ']':
        return close_node(builder, err);
    case '"':
        add_string(builder);
        return true;
    case 't':
        add_word(builder, JSON_KIND_TRUE, "true");
        return true;
    case 'f':
        add_word(builder, JSON_KIND_FALSE, "false");
        return true;
    case 'n':
        add_word(builder, JSON_KIND_NULL, "null");
        return true;
    default:
        add_number(builder);
        return true;
    }
}

static bool is_between(unsigned char c)
{
    return json_scan_is_space(c) || c == ',' || c == ':';
}

static bool build(struct builder *builder, struct error *err)
{
    while (builder->scan.at < builder->scan.end) {
        if (is_between(*builder->scan.at))
            builder->scan.at++;
        else if (!add_next(builder, err))
            return false;
    }
    return true;
}

bool json_tree_parse(struct bytes text, struct arena *arena, const struct json_node **root_out,
                     struct error *err)
{
    if (text.length > LENGTH_MAX)
        return error_set(err, TH_E_INVALID, "longer than %zu bytes", LENGTH_MAX);
    if (!json_check(text, err))
        return error_prefix(err, "not JSON");

    struct builder builder = {.arena = arena};
    builder.nodes = arena_alloc(arena, count_nodes(text) * sizeof(*builder.nodes));
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
        return json_number_compare(json_tree_bytes(a), json_tree_bytes(b)) == 0;
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

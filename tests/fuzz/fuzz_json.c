/*
 * fuzz_json.c - JSON text: that the readers agree with each other and with the writer.
 */
#include "base/arena.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/decimal.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_tree.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "fuzz.h"

#include <assert.h>

/* A tree has room for whatever is JSON, and refuses only a name that stands twice. */
static const struct json_node *read_tree(struct bytes text, bool is_json, struct arena *arena)
{
    const struct json_node *root = NULL;
    struct error err = {0};

    if (json_tree_parse(text, arena, &root, &err)) {
        assert(is_json && json_tree_equal(root, root));
        return root;
    }
    assert(text_starts_with(err.text, "not JSON: ") == !is_json);
    return NULL;
}

static void try_split(struct bytes text, bool is_json, struct arena *arena)
{
    struct json_members members;
    struct json_values values;
    struct error err = {0};
    const char *decoded = NULL;
    int64_t number = 0;

    if (json_split_object(text, arena, &members, &err)) {
        assert(is_json);
        for (size_t i = 0; i < members.count; i++)
            assert(json_check(members.items[i].value, &err));
    }
    if (!json_split_array(text, arena, &values, &err))
        return;
    assert(is_json);
    for (size_t i = 0; i < values.count; i++) {
        assert(json_check(values.items[i], &err));
        assert(!json_to_text(values.items[i], arena, &decoded) ||
               !json_to_int(values.items[i], &number));
    }
}

static int sign(int number)
{
    return (number > 0) - (number < 0);
}

/* Whatever two numbers there are, they have an order. */
static void compare_numbers(const struct json_node *root)
{
    const struct json_node *before = NULL;

    for (size_t i = 0; i < root->size; i++) {
        size_t count = 0;

        if (root[i].kind != JSON_KIND_NUMBER)
            continue;
        const struct bytes number = json_tree_bytes(&root[i]);
        const struct bytes other = json_tree_bytes(before ? before : &root[i]);

        assert(sign(decimal_compare(number, other)) == -sign(decimal_compare(other, number)));
        assert(!decimal_to_count(number, &count) || decimal_is_whole(number));
        before = &root[i];
    }
}

/* What is JSON is that without its space, and the same value. */
static void try_compact(struct bytes text, const struct json_node *root, struct arena *arena)
{
    CLEANUP(buffer_done) struct buffer compact = BUFFER(text.length + 1);
    const struct json_node *again = NULL;
    struct error err;

    json_add_compact(&compact, text);
    assert(compact.length <= text.length);
    if (!root)
        return;
    const struct bytes written = {(const unsigned char *)buffer_str(&compact), compact.length};
    assert(json_tree_parse(written, arena, &again, &err));
    assert(json_tree_equal(root, again));
}

/* Any bytes become a string; those that are UTF-8 come back as they were. */
static void try_writer(struct bytes text, struct arena *arena)
{
    CLEANUP(buffer_done) struct buffer out = BUFFER(6 * text.length + 2);
    struct json_writer json = {.out = &out};
    const struct json_node *root = NULL;
    struct error err;

    json_write_lossy_text(&json, NULL, text);
    assert(buffer_ok(&out, &err));
    const struct bytes written = {(const unsigned char *)buffer_str(&out), out.length};
    assert(json_tree_parse(written, arena, &root, &err) && root->kind == JSON_KIND_STRING);
    if (text_is_utf8(text))
        assert(root->length == text.length && memcmp(root->text, text.data, text.length) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const struct bytes text = {data ? data : (const uint8_t *)"", size};
    struct error err;
    const bool is_json = json_check(text, &err);
    const struct json_node *root = read_tree(text, is_json, &arena);

    try_split(text, is_json, &arena);
    if (root)
        compare_numbers(root);
    try_compact(text, root, &arena);
    try_writer(text, &arena);
    return 0;
}

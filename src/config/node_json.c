/*
 * node_json.c - a part of the config as the JSON that says the same.
 */
#include "config/node_json.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/text.h"

#include <string.h>

static const char *name_of(const struct node *node)
{
    return node->key ? node->key->text : NULL;
}

/* true, false or a number; quoted, it would not be plain. */
static bool is_json_word(const struct node *node)
{
    struct bytes text = {(const unsigned char *)node->text, strlen(node->text)};
    struct error ignored;

    return !node->quoted &&
           (node->text[0] == '-' || (node->text[0] >= '0' && node->text[0] <= '9') ||
            text_equal(node->text, "true") || text_equal(node->text, "false")) &&
           json_check(text, &ignored);
}

static void write_scalar(struct json_writer *json, const char *name, const struct node *node)
{
    if (node_is_null(node))
        json_write_null(json, name);
    else if (is_json_word(node))
        json_write_raw(json, name,
                       (struct bytes){(const unsigned char *)node->text, strlen(node->text)});
    else
        json_write_text(json, name, node->text);
}

static void write_node(struct json_writer *json, const char *name, const struct node *node)
{
    const bool is_map = node->kind == NODE_MAP;

    if (node->kind == NODE_SCALAR) {
        write_scalar(json, name, node);
        return;
    }
    json_write_open(json, name, is_map ? '{' : '[');
    for (const struct node *child = node->first; child; child = child->next)
        write_node(json, name_of(child), child);
    json_write_close(json, is_map ? '}' : ']');
}

void node_json_add(struct buffer *out, const struct node *node)
{
    struct json_writer json = {.out = out};

    write_node(&json, NULL, node);
}

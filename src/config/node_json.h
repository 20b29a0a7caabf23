/*
 * node_json.h - a part of the config as the JSON that says the same.
 */
#ifndef CONFIG_NODE_JSON_H
#define CONFIG_NODE_JSON_H

#include "config/yaml_tree.h"

struct buffer;

/* Plain scalars that JSON knows (null, true, false, numbers) are that; all others are strings. So
 * `0x10` and `yes` are strings, and a number keeps its digits. */
void node_json_add(struct buffer *out, const struct node *node);

#endif

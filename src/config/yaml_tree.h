/*
 * yaml_tree.h - libyaml to nodes that know their file, line and column.
 *
 * A small, safe part of YAML: one document of maps, lists and scalars, up to 1 MiB and 32 levels
 * deep. Aliases, anchors and tags are refused, so that no file can grow when it is read; a key that
 * is there twice is an error, because nobody can tell which one was meant.
 */
#ifndef CONFIG_YAML_TREE_H
#define CONFIG_YAML_TREE_H

#include "base/base.h"
#include "config/diagnostics.h"

#define YAML_SIZE_MAX  ((size_t)1 << 20)
#define YAML_DEPTH_MAX 32

enum node_kind {
    NODE_SCALAR,
    NODE_LIST,
    NODE_MAP,
};

struct node {
    enum node_kind kind;
    struct place place;
    const char *text;       /* of a scalar; "" for others */
    bool quoted;            /* it is text, even if it reads like a number or null */
    bool broken;            /* has been reported: its value means nothing */
    const struct node *key; /* of a member of a map; NULL elsewhere */
    struct node *first;     /* item or member */
    struct node *last;
    struct node *next; /* in the list or map that this is in */
};

/* Reads `source` into a tree that lives as long as the diagnostics. An empty file is an empty map.
 * False when there is no tree; lesser faults are added and the tree goes on without them. */
bool yaml_tree_parse(const struct source *source, struct diagnostics *diagnostics,
                     struct node **root_out) MUST_CHECK;

/* Complains about keys of the map that are in two files. */
void yaml_tree_check_files(const struct node *map, struct diagnostics *diagnostics);

/* The value of a key; NULL when it is not there, or `map` is not a map. */
struct node *node_find(const struct node *map, const char *key);

/* A plain, empty scalar, ~ or null: "key:" with nothing after it. */
bool node_is_null(const struct node *node);

/* "a list", "a map", "a value" */
const char *node_kind_name(const struct node *node);

#endif

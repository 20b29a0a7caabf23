/*
 * environment.c - ${NAME} and ${NAME:-default} in the values of a config.
 *
 * Messages show names and never values: that is where secrets come from.
 */
#include "config/environment.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/excerpt.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define NAME_START   "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
#define NAME_LETTERS NAME_START "0123456789"

struct expansion {
    struct node *node;
    struct diagnostics *diagnostics;
    struct buffer text; /* what the value becomes */
};

/* "${NAME:-default}" taken apart. */
struct reference {
    const char *name;
    const char *fallback; /* NULL: none */
    const char *end;      /* after the brace */
};

static bool refuse(struct expansion *expansion, const char *text, const char *reason)
{
    char shown[EXCERPT_SIZE];

    expansion->node->broken = true;
    return diagnostics_add(expansion->diagnostics, expansion->node->place, "'%s' %s",
                           excerpt_of(text, shown), reason);
}

/* `text` is at the dollar. */
static bool take_apart(struct expansion *expansion, const char *text, struct reference *parts_out)
{
    struct arena *arena = &expansion->diagnostics->arena;
    const char *name = text + 2;
    const char *brace = strchr(name, '}');
    const size_t length =
        name[0] != '\0' && strchr(NAME_START, name[0]) ? strspn(name, NAME_LETTERS) : 0;

    if (!brace)
        return refuse(expansion, text, "has no closing brace (a dollar itself is $$)");
    *parts_out = (struct reference){.name = arena_text_of(arena, name, length), .end = brace + 1};
    if (length > 0 && name + length == brace)
        return true;
    if (length == 0 || strncmp(name + length, ":-", 2) != 0)
        return refuse(expansion, arena_text_of(arena, text, (size_t)(brace + 1 - text)),
                      "is not ${NAME} or ${NAME:-default} (a dollar itself is $$)");
    const char *fallback = name + length + 2;
    parts_out->fallback = arena_text_of(arena, fallback, (size_t)(brace - fallback));
    return true;
}

/* As in the shell: with a default, an empty variable counts as one that is not set. */
static bool add_variable(struct expansion *expansion, const struct reference *reference)
{
    const char *value = getenv(reference->name);

    if (reference->fallback && (!value || value[0] == '\0'))
        value = reference->fallback;
    if (!value)
        return refuse(expansion, reference->name,
                      "is not set in the environment (${NAME:-default} gives a default)");
    buffer_text(&expansion->text, value);
    return true;
}

/* Leaves `*at` after what it has expanded. */
static bool expand_dollar(struct expansion *expansion, const char **at)
{
    struct reference reference = {.name = "", .end = *at};

    if ((*at)[1] != '{') {
        *at += (*at)[1] == '$' ? 2 : 1;
        buffer_char(&expansion->text, '$');
        return true;
    }
    if (!take_apart(expansion, *at, &reference) || !add_variable(expansion, &reference))
        return false;
    *at = reference.end;
    return true;
}

static bool expand_text(struct expansion *expansion)
{
    const char *at = expansion->node->text;

    while (*at != '\0') {
        const size_t plain = strcspn(at, "$");

        buffer_add(&expansion->text, at, plain);
        at += plain;
        if (*at == '$' && !expand_dollar(expansion, &at))
            return false;
    }
    return true;
}

static void expand_scalar(struct node *node, struct diagnostics *diagnostics)
{
    struct expansion expansion = {
        .node = node, .diagnostics = diagnostics, .text = BUFFER(YAML_SIZE_MAX)};

    if (strchr(node->text, '$') && expand_text(&expansion)) {
        if (expansion.text.failed)
            refuse(&expansion, node->text, "becomes too long");
        node->text = arena_text(&diagnostics->arena, buffer_str(&expansion.text));
    }
    buffer_done(&expansion.text);
}

/* As deep as the tree, which has a limit. */
static void expand(struct node *node, struct diagnostics *diagnostics)
{
    if (node->kind == NODE_SCALAR)
        expand_scalar(node, diagnostics);
    for (struct node *child = node->first; child; child = child->next)
        expand(child, diagnostics);
}

/* Of a handler: what /bin/sh runs. */
static bool is_for_shell(const struct node *node)
{
    return node->kind == NODE_SCALAR &&
           (text_equal(node->key->text, "command") || text_equal(node->key->text, "resident"));
}

static void expand_handler(struct node *handler, struct diagnostics *diagnostics)
{
    if (handler->kind != NODE_MAP) {
        expand(handler, diagnostics);
        return;
    }
    for (struct node *node = handler->first; node; node = node->next) {
        if (!is_for_shell(node))
            expand(node, diagnostics);
    }
}

static void expand_handlers(struct node *handlers, struct diagnostics *diagnostics)
{
    for (struct node *handler = handlers->first; handler; handler = handler->next)
        expand_handler(handler, diagnostics);
}

void environment_expand(struct node *root, struct diagnostics *diagnostics)
{
    for (struct node *section = root->first; section; section = section->next) {
        if (section->kind == NODE_MAP && text_equal(section->key->text, "handlers"))
            expand_handlers(section, diagnostics);
        else
            expand(section, diagnostics);
    }
}

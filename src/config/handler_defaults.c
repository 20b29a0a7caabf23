/*
 * handler_defaults.c - what `defaults:` says of processes.
 */
#include "config/handler_defaults.h"

#include "base/text.h"

static bool has_pair(const struct text_pairs *pairs, const char *name)
{
    for (size_t i = 0; i < pairs->count; i++) {
        if (text_equal(pairs->items[i].name, name))
            return true;
    }
    return false;
}

static bool has_text(const struct text_list *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++) {
        if (text_equal(list->items[i], text))
            return true;
    }
    return false;
}

/* Whether the handler itself says where this variable comes from. */
static bool is_own(const struct handler_config *handler, const char *name)
{
    return has_pair(&handler->env, name) || has_text(&handler->pass_env, name);
}

static struct text_pairs merge_env(const struct text_pairs *defaults,
                                   const struct handler_config *handler, struct arena *arena)
{
    const size_t most = defaults->count + handler->env.count;
    struct text_pair *items = arena_alloc(arena, (most + 1) * sizeof *items);
    struct text_pairs merged = {items, 0};

    for (size_t i = 0; items && i < defaults->count; i++) {
        if (!is_own(handler, defaults->items[i].name))
            items[merged.count++] = defaults->items[i];
    }
    for (size_t i = 0; items && i < handler->env.count; i++)
        items[merged.count++] = handler->env.items[i];
    return merged;
}

static struct text_list merge_pass_env(const struct text_list *defaults,
                                       const struct handler_config *handler, struct arena *arena)
{
    const size_t most = defaults->count + handler->pass_env.count;
    const char **items = arena_alloc(arena, (most + 1) * sizeof *items);
    struct text_list merged = {items, 0};

    for (size_t i = 0; items && i < defaults->count; i++) {
        if (!is_own(handler, defaults->items[i]))
            items[merged.count++] = defaults->items[i];
    }
    for (size_t i = 0; items && i < handler->pass_env.count; i++)
        items[merged.count++] = handler->pass_env.items[i];
    return merged;
}

void handler_defaults_begin(const struct defaults_config *defaults, struct handler_config *handler)
{
    handler->retry = defaults->retry;
    handler->user = defaults->user;
    handler->limits = defaults->limits;
}

void handler_defaults_end(const struct defaults_config *defaults, const struct node *entry,
                          struct handler_config *handler, struct arena *arena)
{
    if (handler->plugin) {
        handler->user = NULL;
        handler->limits = (struct limits_config){0};
        return;
    }
    if (defaults->cwd && !node_find(entry, "cwd"))
        handler->cwd = defaults->cwd;
    if (defaults->env.count + defaults->pass_env.count == 0)
        return;
    const struct text_pairs env = merge_env(&defaults->env, handler, arena);
    handler->pass_env = merge_pass_env(&defaults->pass_env, handler, arena);
    handler->env = env;
}

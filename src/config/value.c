/*
 * value.c - a node of the config as the kind of value that its key wants.
 *
 * Lists, maps and commands are made of scalars, which scalar.c reads. A list with several faults
 * has them all reported.
 */
#include "config/value.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/excerpt.h"
#include "config/node_json.h"
#include "config/scalar.h"
#include "job/job.h"

#include <stdlib.h>
#include <string.h>

#define SHELL "/bin/sh"

/* Zeroed memory for the children of a node, and one more. */
static void *alloc_children(const struct reader *reader, const struct node *node, size_t size)
{
    size_t count = 1;

    for (const struct node *child = node->first; child; child = child->next)
        count++;
    void *memory = arena_alloc(reader->scope->arena, count * size);
    if (!memory)
        reader->scope->diagnostics->failed = true;
    return memory;
}

typedef bool read_item(const struct reader *reader, const struct node *node, const char **text_out);

/* A broken value has been reported. */
static bool read_unless_broken(const struct reader *reader, const struct node *node,
                               read_item *read, const char **text_out)
{
    return node->broken || read(reader, node, text_out);
}

/* One text stands for a list of one, and nothing for an empty one. */
static bool read_list(const struct reader *reader, const struct node *node, read_item *read,
                      struct text_list *list_out)
{
    if (node->kind == NODE_MAP)
        return reader_refuse_kind(reader, node);

    const char **items = alloc_children(reader, node, sizeof *items);
    struct text_list list = {items, 0};
    bool ok = items != NULL;
    if (ok && node->kind == NODE_SCALAR && !node_is_null(node))
        ok = read(reader, node, &items[list.count++]);
    for (const struct node *item = node->first; items && item; item = item->next)
        ok = read_unless_broken(reader, item, read, &items[list.count++]) && ok;
    if (ok && list.count > 0)
        *list_out = list;
    return ok;
}

static bool read_numbers(const struct reader *reader, const struct node *node,
                         struct number_list *list_out)
{
    if (node->kind != NODE_LIST)
        return reader_refuse_kind(reader, node);

    int *items = alloc_children(reader, node, sizeof *items);
    struct number_list list = {items, 0};
    bool ok = items != NULL;
    for (const struct node *item = node->first; items && item; item = item->next)
        ok = (item->broken || scalar_count(reader, item, &items[list.count++])) && ok;
    if (ok)
        *list_out = list;
    return ok;
}

static bool read_pair(const struct reader *reader, const struct node *node, struct text_pair *pair)
{
    const char *name = node->key->text;
    char shown[EXCERPT_SIZE];

    if (name[0] == '\0' || strchr(name, '='))
        return diagnostics_add(reader->scope->diagnostics, node->key->place,
                               "%s: '%s' is not the name of a variable", reader->name,
                               excerpt_of(name, shown));
    if (node->kind != NODE_SCALAR)
        return diagnostics_add(reader->scope->diagnostics, node->place,
                               "%s.%s: expected text, not %s", reader->name,
                               excerpt_of(name, shown), node_kind_name(node));
    pair->name = arena_text(reader->scope->arena, name);
    pair->value = arena_text(reader->scope->arena, node_is_null(node) ? "" : node->text);
    return true;
}

static bool read_pairs(const struct reader *reader, const struct node *node,
                       struct text_pairs *pairs_out)
{
    if (node->kind != NODE_MAP && !node_is_null(node))
        return reader_refuse_kind(reader, node);

    struct text_pair *items = alloc_children(reader, node, sizeof *items);
    struct text_pairs pairs = {items, 0};
    bool ok = items != NULL;
    for (const struct node *at = node->first; items && at; at = at->next)
        ok = read_pair(reader, at, &items[pairs.count++]) && ok;
    if (ok && pairs.count > 0)
        *pairs_out = pairs;
    return ok;
}

/* An argument may be empty; text that is not there may not. */
static bool read_argument(const struct reader *reader, const struct node *node,
                          const char **text_out)
{
    if (!reader_expect_scalar(reader, node))
        return false;
    *text_out = arena_text(reader->scope->arena, node->text);
    return true;
}

static bool read_shell(const struct reader *reader, const struct node *node,
                       struct command_line *command_out)
{
    const char **argv = arena_alloc(reader->scope->arena, 4 * sizeof *argv);

    if (!argv || !scalar_text(reader, node, &argv[2]))
        return false;
    argv[0] = SHELL;
    argv[1] = "-c";
    *command_out = (struct command_line){argv, 3, true};
    return true;
}

/* A program without a slash is looked for in PATH, one with a slash is a path like any other. */
static bool read_program(const struct reader *reader, const struct node *node,
                         const char **text_out)
{
    return strchr(node->text, '/') ? scalar_path(reader, node, text_out)
                                   : scalar_text(reader, node, text_out);
}

static bool read_command(const struct reader *reader, const struct node *node,
                         struct command_line *command_out)
{
    if (node->kind == NODE_SCALAR)
        return read_shell(reader, node, command_out);
    if (node->kind == NODE_MAP)
        return reader_refuse_kind(reader, node);
    if (!node->first)
        return reader_refuse(reader, node, "the list is empty: name a program");

    const char **argv = alloc_children(reader, node, sizeof *argv);
    bool ok = argv != NULL;
    size_t count = 0;
    for (const struct node *item = node->first; argv && item; item = item->next) {
        read_item *read = count == 0 ? read_program : read_argument;
        ok = read_unless_broken(reader, item, read, &argv[count++]) && ok;
    }
    if (ok)
        *command_out = (struct command_line){argv, count, false};
    return ok;
}

static bool read_json(const struct reader *reader, const struct node *node, struct bytes *json_out)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(JOB_PAYLOAD_MAX);

    node_json_add(&text, node);
    if (text.failed)
        return reader_refuse(reader, node, "is too large");
    *json_out = arena_bytes(reader->scope->arena,
                            (struct bytes){(const unsigned char *)buffer_str(&text), text.length});
    return true;
}

static bool read_delays(const struct reader *reader, const struct node *node,
                        struct retry_policy *policy)
{
    if (!node->first)
        return reader_refuse(reader, node, "the list of delays is empty");

    usec_t *delays = alloc_children(reader, node, sizeof *delays);
    size_t count = 0;
    bool ok = delays != NULL;
    for (const struct node *item = node->first; delays && item; item = item->next)
        ok = (item->broken || scalar_duration(reader, item, &delays[count++])) && ok;
    if (!ok)
        return false;
    policy->kind = RETRY_LIST;
    policy->delays = delays;
    policy->delay_count = count;
    return true;
}

bool value_read_policy(const struct field_scope *scope, const struct field *field, const char *name,
                       const struct node *node, struct retry_policy *policy)
{
    const struct reader reader = {scope, field, name};
    unsigned kind;

    if (node->kind == NODE_LIST)
        return read_delays(&reader, node, policy);
    if (!scalar_choice(&reader, node, &kind))
        return false;
    policy->kind = (enum retry_kind)kind;
    return true;
}

bool value_read(const struct field_scope *scope, const struct field *field, const char *name,
                const struct node *node, void *member)
{
    const struct reader reader = {scope, field, name};

    switch (field->kind) {
    case FIELD_COUNT:
        return scalar_count(&reader, node, member);
    case FIELD_FRACTION:
        return scalar_fraction(&reader, node, member);
    case FIELD_MODE:
        return scalar_mode(&reader, node, member);
    case FIELD_DURATION:
        return scalar_duration(&reader, node, member);
    case FIELD_SIZE:
        return scalar_size(&reader, node, member);
    case FIELD_RATE:
        return scalar_rate(&reader, node, member);
    case FIELD_TEXT:
        return scalar_text(&reader, node, member);
    case FIELD_NAME:
        return scalar_name(&reader, node, member);
    case FIELD_PATH:
        return scalar_path(&reader, node, member);
    case FIELD_FLAG:
        return scalar_flag(&reader, node, member);
    case FIELD_CHOICE:
        return scalar_choice(&reader, node, member);
    case FIELD_TEXTS:
        return read_list(&reader, node, scalar_text, member);
    case FIELD_PATHS:
        return read_list(&reader, node, scalar_path, member);
    case FIELD_NUMBERS:
        return read_numbers(&reader, node, member);
    case FIELD_PAIRS:
        return read_pairs(&reader, node, member);
    case FIELD_COMMAND:
        return read_command(&reader, node, member);
    case FIELD_JSON:
        return read_json(&reader, node, member);
    case FIELD_POLICY:
    case FIELD_SECTION:
    case FIELD_ENTRIES:
        break;
    }
    abort(); /* a kind that others see to */
}

/*
 * reference.c - every key with its default and its line of help, as a config.
 */
#include "config/reference.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "config/sections.h"

#include <string.h>

#define HELP_COLUMN 40
#define LINE_LIMIT  ((size_t)4096 * 3)
#define PLAIN       "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:/._@?=&+-"

static const char head[] =
    "# jobs.yaml - every key of TaskHarbor's config, with its default.\n"
    "#\n"
    "# Nothing here has to be written: a key that is left out has the value shown. Keys that are\n"
    "# comments have no default; what stands there is an example. 'thctl init' writes a short "
    "config\n"
    "# to start with, 'man jobs.yaml' tells more.\n"
    "#\n"
    "# Durations: 500ms 10s 5m 2h 7d. Sizes: 64K 512M 1G. ${NAME} and ${NAME:-default} read the\n"
    "# environment, $$ is a dollar; a command written as one text is left to the shell as it is.\n"
    "# Relative paths start at this file's folder.\n";

/* Where in the tables the walk is. */
struct walk {
    struct buffer *out;
    const char *backend; /* NULL: the default one */
    size_t depth;
    bool comment;
};

static void add_fields(const struct walk *walk, const struct field *fields);

static void add_range(struct buffer *line, const struct field *field)
{
    if (field->kind == FIELD_NAME)
        return;
    if (field->min && field->max)
        buffer_printf(line, " (%s to %s)", field->min, field->max);
    else if (field->min || field->max)
        buffer_printf(line, " (at %s %s)", field->min ? "least" : "most",
                      field->min ? field->min : field->max);
}

/* "key: value   # help", or all of it as a comment. `help` NULL: none. */
static void add_line(const struct walk *walk, bool comment, const char *key, const char *value,
                     const struct field *help)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(LINE_LIMIT);

    buffer_printf(&line, "%*s%s%s:%s%s", (int)(2 * walk->depth), "", comment ? "# " : "", key,
                  value[0] != '\0' ? " " : "", value);
    if (help) {
        buffer_printf(&line, "%*s  # %s",
                      line.length < HELP_COLUMN ? (int)(HELP_COLUMN - line.length) : 0, "",
                      help->help);
        add_range(&line, help);
    }
    buffer_printf(walk->out, "%s\n", buffer_str(&line));
}

static bool is_unset(const struct field *field)
{
    return !field->fallback || field->fallback[0] == '\0';
}

static void add_value(const struct walk *walk, const struct field *field)
{
    CLEANUP(buffer_done) struct buffer value = BUFFER(LINE_LIMIT);

    if (walk->backend && walk->depth == 0 && text_equal(field->key, "backend"))
        reference_add_text(&value, walk->backend);
    else
        buffer_text(&value, is_unset(field) ? field->example : field->fallback);
    add_line(walk, walk->comment || is_unset(field), field->key, buffer_str(&value), field);
}

static void add_section(const struct walk *walk, const struct field *field)
{
    struct walk inner = *walk;

    inner.comment = walk->comment || field->optional;
    inner.depth++;
    add_line(walk, inner.comment, field->key, "", field);
    if (field->kind == FIELD_ENTRIES) {
        add_line(&inner, inner.comment, field->example, "", NULL);
        inner.depth++;
    }
    add_fields(&inner, field->fields);
}

static void add_fields(const struct walk *walk, const struct field *fields)
{
    for (const struct field *field = fields; field->key; field++) {
        const bool after_section = field > fields && field[-1].fields;

        if (walk->depth == 0 && (after_section || field->fields))
            buffer_char(walk->out, '\n');
        if (field->fields)
            add_section(walk, field);
        else
            add_value(walk, field);
    }
}

void reference_add(struct buffer *out, const char *backend)
{
    const struct walk walk = {.out = out, .backend = backend};

    buffer_text(out, head);
    buffer_char(out, '\n');
    add_fields(&walk, top_fields);
}

void reference_add_text(struct buffer *out, const char *text)
{
    const bool plain = text[0] != '\0' && text[strspn(text, PLAIN)] == '\0' &&
                       !strchr("-?&@=:", text[0]) && text[strlen(text) - 1] != ':';

    if (plain) {
        buffer_text(out, text);
        return;
    }
    buffer_char(out, '\'');
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\'' || *c == '$')
            buffer_char(out, *c);
        buffer_char(out, *c);
    }
    buffer_char(out, '\'');
}

/*
 * diagnostics.c - what is wrong with a config, all of it, each with its place.
 */
#include "config/diagnostics.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A broken file can have an error in every line. What is shown is the first of the sorted list, so
 * more are kept than are shown. */
#define KEPT_MAX     500
#define TEXT_MAX     ((size_t)1024)
#define LINE_BYTES   160 /* of the source, shown */
#define GUTTER_WIDTH 5

static bool append(struct diagnostics *diagnostics, struct diagnostic item)
{
    struct diagnostic *items = diagnostics->items;

    if (!items) {
        items = calloc(KEPT_MAX, sizeof *items);
        diagnostics->items = items;
    }
    if (!items || !item.text || diagnostics->arena.failed) {
        diagnostics->failed = true;
        return false;
    }
    items[diagnostics->count++] = item;
    return false;
}

bool diagnostics_add_text(struct diagnostics *diagnostics, struct place place, bool is_warning,
                          const char *text)
{
    if (diagnostics->count == KEPT_MAX) {
        diagnostics->left_out++;
        return false;
    }
    text = arena_text(&diagnostics->arena, text);
    return append(diagnostics, (struct diagnostic){place, text, is_warning});
}

bool diagnostics_add(struct diagnostics *diagnostics, struct place place, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return diagnostics_add_text(diagnostics, place, false, text);
}

const char *diagnostics_hint(struct diagnostics *diagnostics, const char *word,
                             const char *const *candidates, size_t count)
{
    CLEANUP(buffer_done) struct buffer hint = BUFFER(TEXT_MAX);

    if (diagnostics->count == KEPT_MAX)
        return "";
    const char *closest = text_closest(word, candidates, count);
    if (!closest)
        return "";
    buffer_printf(&hint, " (did you mean '%s'?)", closest);
    return arena_text(&diagnostics->arena, buffer_str(&hint));
}

static void add_place(struct buffer *out, struct place place)
{
    buffer_text(out, place.source->name);
    if (place.line > 0)
        buffer_printf(out, ":%zu:%zu", place.line, place.column);
}

const char *diagnostics_place(struct diagnostics *diagnostics, struct place place)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(TEXT_MAX);

    add_place(&text, place);
    return arena_text(&diagnostics->arena, buffer_str(&text));
}

bool diagnostics_is_empty(const struct diagnostics *diagnostics)
{
    return diagnostics->count == 0 && !diagnostics->failed;
}

static int compare_numbers(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

/* Ties are broken by the text, so that the same config always gives the same list. */
static int compare(const void *left, const void *right)
{
    const struct diagnostic *a = left, *b = right;
    int order = compare_numbers(a->place.source->order, b->place.source->order);

    if (order == 0)
        order = compare_numbers(a->place.line, b->place.line);
    if (order == 0)
        order = compare_numbers(a->place.column, b->place.column);
    return order != 0 ? order : strcmp(a->text, b->text);
}

void diagnostics_sort(struct diagnostics *diagnostics)
{
    if (diagnostics->count > 0)
        qsort(diagnostics->items, diagnostics->count, sizeof *diagnostics->items, compare);
}

/* The line of the source, without its end; absent when there is no such line. */
static struct bytes line_at(const struct place *place)
{
    struct bytes rest = place->source->text;

    for (size_t line = 1; line < place->line; line++) {
        const unsigned char *end = rest.length == 0 ? NULL : memchr(rest.data, '\n', rest.length);
        if (!end)
            return (struct bytes){NULL, 0};
        rest.length -= (size_t)(end + 1 - rest.data);
        rest.data = end + 1;
    }
    const unsigned char *end = rest.length == 0 ? NULL : memchr(rest.data, '\n', rest.length);
    if (end)
        rest.length = (size_t)(end - rest.data);
    if (rest.length > 0 && rest.data[rest.length - 1] == '\r')
        rest.length--;
    return rest;
}

/* Errs on the side of silence. */
static bool may_have_secret(struct bytes line)
{
    static const char *const signs[] = {"://",        "pass",    "secret", "token",
                                        "credential", "backend", "key="};
    CLEANUP(buffer_done) struct buffer text = BUFFER(line.length);

    buffer_add(&text, line.data, line.length);
    for (size_t i = 0; i < COUNT_OF(signs); i++) {
        if (strcasestr(buffer_str(&text), signs[i]))
            return true;
    }
    return false;
}

/* A tab is one column here, as it is in the place. */
static void add_source_line(struct buffer *out, struct bytes line)
{
    for (size_t i = 0; i < line.length; i++) {
        const unsigned char c = line.data[i];

        if (c < 0x20 || c == 0x7f)
            buffer_char(out, ' ');
        else
            buffer_add(out, &line.data[i], 1);
    }
}

static void add_caret(struct buffer *out, struct bytes line, size_t column)
{
    size_t at = 0;

    for (size_t i = 0; i < line.length && at + 1 < column; i++) {
        if ((line.data[i] & 0xC0) == 0x80)
            continue; /* the rest of a character */
        buffer_char(out, ' ');
        at++;
    }
    buffer_text(out, "^\n");
}

static void add_excerpt(struct buffer *out, const struct place *place)
{
    struct bytes line = line_at(place);

    if (place->line == 0 || line.length == 0 || line.length > LINE_BYTES || !text_is_utf8(line) ||
        may_have_secret(line))
        return;
    buffer_printf(out, "%*zu | ", GUTTER_WIDTH, place->line);
    add_source_line(out, line);
    buffer_printf(out, "\n%*s | ", GUTTER_WIDTH, "");
    add_caret(out, line, place->column);
}

void diagnostics_print(const struct diagnostics *diagnostics, bool for_people, struct buffer *out)
{
    const size_t total = diagnostics->count + diagnostics->left_out;

    for (size_t i = 0; i < diagnostics->count && i < DIAGNOSTICS_SHOWN; i++) {
        const struct diagnostic *item = &diagnostics->items[i];

        add_place(out, item->place);
        buffer_printf(out, ": %s%s\n", item->is_warning ? "warning: " : "", item->text);
        if (for_people)
            add_excerpt(out, &item->place);
    }
    if (total > DIAGNOSTICS_SHOWN)
        buffer_printf(out, "and %zu more errors\n", total - DIAGNOSTICS_SHOWN);
    if (diagnostics->failed)
        buffer_text(out, "out of memory while reading the config\n");
}

void diagnostics_done(struct diagnostics *diagnostics)
{
    arena_done(&diagnostics->arena);
    free(diagnostics->items);
    *diagnostics = (struct diagnostics){0};
}

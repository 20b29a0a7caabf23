/*
 * display.c - text from anywhere, for a terminal: made harmless, measured, cut.
 */
#include "cli/display.h"

#include "base/buffer.h"
#include "base/text.h"

#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

/* One character of the text. */
struct character {
    wchar_t code;
    size_t length; /* in bytes */
    bool is_valid; /* UTF-8; otherwise it is a single byte */
};

static struct character next_character(struct bytes text)
{
    mbstate_t state = {0};
    wchar_t code = 0;
    size_t length = mbrtowc(&code, (const char *)text.data, text.length, &state);

    if (length == 0)
        return (struct character){.code = 0, .length = 1, .is_valid = true};
    if (length > text.length)
        return (struct character){.code = (wchar_t)text.data[0], .length = 1, .is_valid = false};
    return (struct character){.code = code, .length = length, .is_valid = true};
}

static bool is_printable(const struct character *character)
{
    if (character->code >= 0x20 && character->code < 0x7f)
        return true;
    return character->is_valid && character->code >= 0xa0 && iswprint((wint_t)character->code) &&
           !text_is_deceptive((uint32_t)character->code);
}

static void add_escaped(struct buffer *out, const struct character *character)
{
    switch (character->code) {
    case '\n':
        buffer_text(out, "\\n");
        return;
    case '\r':
        buffer_text(out, "\\r");
        return;
    case '\t':
        buffer_text(out, "\\t");
        return;
    default:
        break;
    }
    buffer_printf(out, character->is_valid && character->code > 0x7f ? "\\u%04x" : "\\x%02x",
                  (unsigned)character->code);
}

void display_init(void)
{
    if (!setlocale(LC_CTYPE, "") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        setlocale(LC_CTYPE, "C.UTF-8");
}

void display_add(struct buffer *out, struct bytes text)
{
    while (text.length > 0) {
        struct character character = next_character(text);

        if (is_printable(&character))
            buffer_add(out, text.data, character.length);
        else
            add_escaped(out, &character);
        text.data += character.length;
        text.length -= character.length;
    }
}

void display_add_text(struct buffer *out, const char *text)
{
    display_add(out, (struct bytes){(const unsigned char *)text, strlen(text)});
}

void display_add_lines(struct buffer *out, struct bytes text, size_t indent)
{
    for (;;) {
        size_t length = 0;

        while (length < text.length && text.data[length] != '\n' && text.data[length] != '\t')
            length++;
        display_add(out, (struct bytes){text.data, length});
        if (length == text.length)
            return;
        if (text.data[length] == '\t')
            buffer_char(out, '\t');
        else
            buffer_printf(out, "\n%*s", (int)indent, "");
        text.data += length + 1;
        text.length -= length + 1;
    }
}

/* Walks as far as `columns` allow; returns the bytes, and the columns they take. */
static size_t walk(const char *text, size_t columns, size_t *width_out)
{
    struct bytes rest = {(const unsigned char *)text, strlen(text)};

    *width_out = 0;
    while (rest.length > 0) {
        struct character character = next_character(rest);
        int width = wcwidth(character.code);
        size_t taken = width < 0 ? 1 : (size_t)width;

        if (*width_out + taken > columns)
            break;
        *width_out += taken;
        rest.data += character.length;
        rest.length -= character.length;
    }
    return (size_t)((const char *)rest.data - text);
}

size_t display_width(const char *text)
{
    size_t width;

    walk(text, SIZE_MAX / 2, &width);
    return width;
}

size_t display_fit(const char *text, size_t columns)
{
    size_t width;

    return walk(text, columns, &width);
}

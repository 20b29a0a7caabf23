/*
 * anchor.c - paths in the options of a URL.
 */
#include "store/anchor.h"

#include "base/text.h"

#include <string.h>

/* Of Redis, and of libpq. */
static const char *const path_options[] = {
    "cafile", "cert", "key", "sslrootcert", "sslcert", "sslkey", "sslcrl", "sslcrldir", "passfile"};

void anchor_add_escaped(struct buffer *url, const char *text)
{
    for (; *text != '\0'; text++) {
        const unsigned char byte = (unsigned char)*text;

        if (strchr("%?#&+", byte) || byte < 0x20 || byte == 0x7f)
            buffer_printf(url, "%%%02X", byte);
        else
            buffer_char(url, *text);
    }
}

static bool is_path_option(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(path_options); i++)
        if (strlen(path_options[i]) == length && memcmp(path_options[i], name, length) == 0)
            return true;
    return false;
}

static bool is_word(const char *value, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(value, word, length) == 0;
}

/* libpq knows sslrootcert=system, and keys in devices: engine:name. */
static bool is_relative(const char *value, size_t length)
{
    return length > 0 && value[0] != '/' && strncasecmp(value, "%2f", 3) != 0 &&
           !memchr(value, ':', length) && !is_word(value, length, "system");
}

/* NAME=VALUE, as it stands in the URL. */
static void add_option(struct buffer *url, const char *option, size_t length, const char *folder)
{
    const char *equals = memchr(option, '=', length);
    const size_t name = equals ? (size_t)(equals - option) : length;
    const char *value = option + name + (equals != NULL);
    size_t rest = length - (size_t)(value - option);

    buffer_add(url, option, length - rest);
    if (is_path_option(option, name) && is_relative(value, rest)) {
        anchor_add_escaped(url, folder);
        buffer_char(url, '/');
        for (; rest > 2 && text_starts_with(value, "./"); rest -= 2)
            value += 2;
    }
    buffer_add(url, value, rest);
}

void anchor_url(const char *text, const char *folder, struct buffer *url)
{
    const size_t location = strcspn(text, "?");
    const char *rest = text + location;

    if (!folder) {
        buffer_text(url, text);
        return;
    }
    buffer_add(url, text, location);
    while (*rest != '\0') { /* at '?' or '&' */
        const size_t length = strcspn(rest + 1, "&");
        buffer_char(url, *rest);
        add_option(url, rest + 1, length, folder);
        rest += 1 + length;
    }
}

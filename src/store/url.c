/*
 * url.c - takes a backend URL apart.
 */
#include "store/url.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"

#include <string.h>

#define URL_LENGTH_MAX  4096
#define URL_OPTIONS_MAX 32
#define HIDDEN          "***"

/* A part of the text that is being parsed. */
struct span {
    const char *start;
    size_t length;
};

static struct span span_until(const char *text, const char *stops)
{
    return (struct span){text, strcspn(text, stops)};
}

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = c == '\0' ? NULL : strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c);

    return !found ? -1 : (int)(found - digits);
}

/* The byte that a %XX escape stands for; -1 when it is broken or NUL. */
static int escaped_byte(const char *escape, size_t left)
{
    int high = left < 3 ? -1 : hex_digit(escape[1]);
    int low = high < 0 ? -1 : hex_digit(escape[2]);

    return low < 0 || high * 16 + low == 0 ? -1 : high * 16 + low;
}

static bool decode(struct span span, struct arena *arena, const char **text_out, struct error *err)
{
    CLEANUP(buffer_done) struct buffer text = BUFFER(URL_LENGTH_MAX);

    for (size_t i = 0; i < span.length; i++) {
        int byte = (unsigned char)span.start[i];
        if (byte == '%') {
            byte = escaped_byte(span.start + i, span.length - i);
            if (byte < 0)
                return error_set(err, TH_E_INVALID,
                                 "backend URL: '%%' must be followed by two hex digits, not 00");
            i += 2;
        }
        buffer_char(&text, (char)byte);
    }
    if (!buffer_ok(&text, err))
        return false;
    *text_out = arena_text(arena, buffer_str(&text));
    return true;
}

static bool parse_option(struct span pair, struct store_url *url, struct error *err)
{
    struct url_option *option = &url->options[url->option_count];
    const char *equals = memchr(pair.start, '=', pair.length);

    if (!equals || equals == pair.start)
        return error_set(err, TH_E_INVALID, "backend URL: options are NAME=VALUE, joined by '&'");
    struct span name = {pair.start, (size_t)(equals - pair.start)};
    struct span value = {equals + 1, pair.length - name.length - 1};
    if (!decode(name, &url->arena, &option->name, err) ||
        !decode(value, &url->arena, &option->value, err))
        return false;
    url->option_count++;
    return true;
}

static bool parse_options(const char *text, struct store_url *url, struct error *err)
{
    url->options = arena_alloc(&url->arena, URL_OPTIONS_MAX * sizeof *url->options);
    if (!url->options)
        return error_no_memory(err);
    while (*text != '\0') {
        struct span pair = span_until(text, "&");
        if (url->option_count == URL_OPTIONS_MAX)
            return error_set(err, TH_E_INVALID, "backend URL: more than %d options",
                             URL_OPTIONS_MAX);
        if (!parse_option(pair, url, err))
            return false;
        text += pair.length;
        text += *text == '&';
    }
    return true;
}

/* In //user:password@host everything between the first ':' and the last '@' is the secret. */
static void show_location(struct buffer *shown, struct span location)
{
    const char *end = location.start + location.length;
    bool has_authority = location.length > 2 && memcmp(location.start, "//", 2) == 0;
    const char *user = location.start + 2;
    size_t authority = has_authority ? strcspn(user, "/?") : 0;
    const char *at = has_authority ? memrchr(user, '@', authority) : NULL;
    const char *colon = !at ? NULL : memchr(user, ':', (size_t)(at - user));

    if (!colon) {
        buffer_add(shown, location.start, location.length);
        return;
    }
    buffer_add(shown, location.start, (size_t)(colon + 1 - location.start));
    buffer_text(shown, HIDDEN);
    buffer_add(shown, at, (size_t)(end - at));
}

static bool is_secret(const char *option)
{
    return strcasestr(option, "pass") || strcasestr(option, "secret") ||
           strcasestr(option, "token");
}

static bool show(struct store_url *url, struct span location, struct error *err)
{
    CLEANUP(buffer_done) struct buffer shown = BUFFER((size_t)2 * URL_LENGTH_MAX);

    buffer_printf(&shown, "%s:", url->scheme);
    show_location(&shown, location);
    for (size_t i = 0; i < url->option_count; i++) {
        const struct url_option *option = &url->options[i];
        buffer_printf(&shown, "%c%s=%s", i == 0 ? '?' : '&', option->name,
                      is_secret(option->name) ? HIDDEN : option->value);
    }
    if (!buffer_ok(&shown, err))
        return false;
    url->shown = arena_text(&url->arena, buffer_str(&shown));
    return true;
}

static bool check_text(const char *text, struct error *err)
{
    if (strlen(text) > URL_LENGTH_MAX)
        return error_set(err, TH_E_INVALID, "backend URL: longer than %d bytes", URL_LENGTH_MAX);
    for (const char *c = text; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return error_set(err, TH_E_INVALID, "backend URL: has a control character");
    return true;
}

static bool parse_scheme(const char *text, struct store_url *url, struct error *err)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789+-.");

    if (text[0] < 'a' || text[0] > 'z' || text[length] != ':')
        return error_set(err, TH_E_INVALID,
                         "backend URL: has no scheme; write sqlite:./jobs.db, for instance");
    url->scheme = arena_text_of(&url->arena, text, length);
    return true;
}

/* A '/' in a password ends the authority for everybody who reads the URL: part of the password
 * would be taken for a host or a database, and be shown. */
static bool check_location(struct span location, struct error *err)
{
    const char *end = location.start + location.length;
    bool has_authority = location.length > 2 && memcmp(location.start, "//", 2) == 0;
    const char *slash = has_authority ? memchr(location.start + 2, '/', location.length - 2) : NULL;

    if (!slash || slash == location.start + 2 || !memchr(slash, '@', (size_t)(end - slash)))
        return true;
    return error_set(err, TH_E_INVALID,
                     "backend URL: has a '@' after a '/': in a password write %%2F for '/' and "
                     "%%40 for '@'");
}

static bool parse(const char *text, struct store_url *url, struct error *err)
{
    if (!check_text(text, err) || !parse_scheme(text, url, err))
        return false;
    struct span location = span_until(text + strlen(url->scheme) + 1, "?");
    const char *options = location.start + location.length;
    if (!check_location(location, err))
        return false;
    url->text = arena_text(&url->arena, text);
    return decode(location, &url->arena, &url->path, err) &&
           parse_options(options + (*options == '?'), url, err) && show(url, location, err) &&
           (!url->arena.failed || error_no_memory(err));
}

bool url_parse(const char *text, struct store_url *url_out, struct error *err)
{
    *url_out = (struct store_url){0};
    if (parse(text, url_out, err))
        return true;
    url_done(url_out);
    return false;
}

const char *url_option(const struct store_url *url, const char *name)
{
    for (size_t i = 0; i < url->option_count; i++)
        if (text_equal(url->options[i].name, name))
            return url->options[i].value;
    return NULL;
}

static bool is_known(const char *name, const char *const *known, size_t known_count)
{
    for (size_t i = 0; i < known_count; i++)
        if (text_equal(name, known[i]))
            return true;
    return false;
}

bool url_check_options(const struct store_url *url, const char *const *known, size_t known_count,
                       struct error *err)
{
    for (size_t i = 0; i < url->option_count; i++) {
        const char *name = url->options[i].name;
        if (is_known(name, known, known_count))
            continue;
        const char *closest = text_closest(name, known, known_count);
        return error_set(err, TH_E_INVALID, "%s: unknown option '%s'%s%s%s", url->shown, name,
                         !closest ? "" : " (did you mean '", !closest ? "" : closest,
                         !closest ? "" : "'?)");
    }
    return true;
}

bool url_decode(const char *text, size_t length, struct arena *arena, const char **text_out,
                struct error *err)
{
    return decode((struct span){text, length}, arena, text_out, err);
}

void url_done(struct store_url *url)
{
    arena_done(&url->arena);
    *url = (struct store_url){0};
}

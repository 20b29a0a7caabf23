/*
 * conninfo.c - our URL as libpq wants it.
 */
#include "store/postgres/net/conninfo.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"

#include <libpq-fe.h>
#include <string.h>

#define OUR_OPTION  "schema="
#define SCHEMA_MAX  63
#define URL_ROOM    8192
#define FIRST_CHARS "abcdefghijklmnopqrstuvwxyz_"

char *pg_conninfo_make(const char *url)
{
    CLEANUP(buffer_done) struct buffer conninfo = BUFFER(URL_ROOM);
    size_t location = strcspn(url, "?");
    const char *option = url + location;
    char separator = '?';

    buffer_add(&conninfo, url, location);
    while (*option != '\0') {
        size_t length = strcspn(++option, "&");
        if (!text_starts_with(option, OUR_OPTION) && length > 0) {
            buffer_char(&conninfo, separator);
            buffer_add(&conninfo, option, length);
            separator = '&';
        }
        option += length;
    }
    return strdup(buffer_str(&conninfo));
}

bool pg_conninfo_schema(const struct store_url *url, const char **schema_out, struct error *err)
{
    const char *schema = url_option(url, "schema");

    *schema_out = schema ? schema : SCHEMA_DEFAULT;
    size_t first = strspn(*schema_out, FIRST_CHARS);
    size_t length = strspn(*schema_out, FIRST_CHARS "0123456789");
    return (first > 0 && (*schema_out)[length] == '\0' && length <= SCHEMA_MAX &&
            !text_starts_with(*schema_out, "pg_")) ||
           error_set(err, TH_E_INVALID,
                     "%s: schema is 1 to %d of a-z 0-9 _, and starts neither with a digit nor "
                     "with pg_",
                     url->shown, SCHEMA_MAX);
}

/* The name of an option that libpq does not know, or NULL. */
static const char *unknown_option(const struct store_url *url)
{
    PQconninfoOption *known = PQconndefaults();
    const char *unknown = NULL;

    for (size_t i = 0; known && !unknown && i < url->option_count; i++) {
        const char *name = url->options[i].name;
        const PQconninfoOption *option = known;
        while (option->keyword && !text_equal(option->keyword, name))
            option++;
        if (!option->keyword && !text_equal(name, "schema") && !text_equal(name, "ssl"))
            unknown = name;
    }
    PQconninfoFree(known);
    return unknown;
}

/* For libpq a password ends at the first '@': the rest of one would be a host, and be shown. */
static bool has_two_logins(const char *conninfo)
{
    const char *at = strchr(conninfo, '@');

    return at && memchr(at + 1, '@', strcspn(at + 1, "?"));
}

bool pg_conninfo_check(const struct store_url *url, struct error *err)
{
    AUTO_FREE char *conninfo = pg_conninfo_make(url->text);
    char *words = NULL;
    const char *unknown;

    if (!conninfo)
        return error_no_memory(err);
    if (!text_starts_with(url->path, "//"))
        return error_set(err, TH_E_INVALID, "%s: write %s://user@host/database", url->shown,
                         url->scheme);
    if (has_two_logins(conninfo))
        return error_set(err, TH_E_INVALID, "%s: in a password write %%40 for '@'", url->shown);
    PQconninfoOption *parsed = PQconninfoParse(conninfo, &words);
    PQfreemem(words);
    if (parsed) {
        PQconninfoFree(parsed);
        return true;
    }
    const char *ssl =
        url_option(url, "ssl"); /* libpq knows ssl=true, for those who come from Java */
    if (ssl && !text_equal(ssl, "true"))
        return error_set(err, TH_E_INVALID,
                         "%s: neither TaskHarbor nor libpq knows the option 'ssl=%s': write "
                         "sslmode=require",
                         url->shown, ssl);
    unknown = unknown_option(url);
    if (unknown)
        return error_set(err, TH_E_INVALID,
                         "%s: neither TaskHarbor nor libpq knows the option '%s'", url->shown,
                         unknown);
    return error_set(err, TH_E_INVALID,
                     "%s: is not a PostgreSQL URL: write %s://user@host/database", url->shown,
                     url->scheme);
}

/*
 * query.c - the parameters after a "?".
 */
#include "http/query.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "http/escape.h"

#include <string.h>

static bool unescape(const char *text, size_t length, struct arena *arena, const char **out,
                     struct error *err)
{
    char *copy = arena_alloc(arena, length + 1);

    if (!copy)
        return error_no_memory(err);
    if (!http_unescape(text, length, HTTP_PLUS_IS_SPACE, copy))
        return error_set(err, TH_E_INVALID, "the query has a broken escape, or a NUL");
    *out = copy;
    return true;
}

/* "name=value" */
static bool add(const char *text, size_t length, struct arena *arena, struct http_query *query,
                struct error *err)
{
    const char *equals = memchr(text, '=', length);
    const size_t name_length = equals ? (size_t)(equals - text) : length;
    const size_t value_length = equals ? length - name_length - 1 : 0;
    struct http_parameter parameter = {0};

    if (query->count == HTTP_QUERY_PARAMETERS)
        return error_set(err, TH_E_INVALID, "the query has more than %d parameters",
                         HTTP_QUERY_PARAMETERS);
    if (!unescape(text, name_length, arena, &parameter.name, err) ||
        !unescape(text + length - value_length, value_length, arena, &parameter.value, err))
        return false;
    if (http_query_value(query, parameter.name))
        return error_set(err, TH_E_INVALID, "the query has \"%s\" twice", parameter.name);
    query->parameters[query->count++] = parameter;
    return true;
}

bool http_query_parse(const char *query, struct arena *arena, struct http_query *query_out,
                      struct error *err)
{
    query_out->count = 0;
    while (*query != '\0') {
        const size_t length = strcspn(query, "&");

        if (length > 0 && !add(query, length, arena, query_out, err))
            return false;
        query += length + (query[length] == '&');
    }
    return true;
}

const char *http_query_value(const struct http_query *query, const char *name)
{
    for (size_t i = 0; i < query->count; i++) {
        if (text_equal(query->parameters[i].name, name))
            return query->parameters[i].value;
    }
    return NULL;
}

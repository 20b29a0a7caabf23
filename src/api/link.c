/*
 * link.c - where a list goes on, as a Link header says it.
 */
#include "api/link.h"

#include "base/buffer.h"
#include "base/text.h"
#include "http/query.h"

#include <ctype.h>
#include <string.h>

/* What may stand in a parameter of a query as it is. */
static bool is_plain(unsigned char c)
{
    return c < 0x80 && (isalnum(c) || (c != '\0' && strchr("-._~:/@!$*", c)));
}

static void add_escaped(struct buffer *out, const char *text)
{
    for (; *text; text++) {
        if (is_plain((unsigned char)*text))
            buffer_char(out, *text);
        else
            buffer_printf(out, "%%%02X", (unsigned char)*text);
    }
}

static void add_parameter(struct buffer *out, const char *name, const char *value)
{
    add_escaped(out, name);
    buffer_char(out, '=');
    add_escaped(out, value);
}

void link_add_next(struct buffer *out, const struct http_query *query, const char *after)
{
    buffer_text(out, "<?");
    for (size_t i = 0; i < query->count; i++) {
        if (text_equal(query->parameters[i].name, "after"))
            continue;
        add_parameter(out, query->parameters[i].name, query->parameters[i].value);
        buffer_char(out, '&');
    }
    add_parameter(out, "after", after);
    buffer_text(out, ">; rel=\"next\"");
}

/*
 * origin.c - whether a request is meant for us, and not made by a page of somebody else.
 */
#include "api/origin.h"

#include "base/text.h"
#include "config/config.h"

#include <string.h>
#include <strings.h>

static const char *const always[] = {"localhost", "127.0.0.1", "[::1]"};

/* How long the name is in name:port, 1.2.3.4:port or [::1]:port; 0: it is none of them. */
static size_t name_length(const char *host)
{
    const char *bracket = host[0] == '[' ? strchr(host, ']') : NULL;
    const size_t length = bracket ? (size_t)(bracket - host) + 1 : strcspn(host, ":");
    const char *port = host + length;

    if (*port != '\0' && (*port != ':' || port[1 + strspn(port + 1, "0123456789")] != '\0'))
        return 0;
    return length;
}

static bool is_same_name(const char *a, const char *b)
{
    const size_t length = name_length(a);

    return length > 0 && length == name_length(b) && strncasecmp(a, b, length) == 0;
}

bool origin_host_is_ours(const struct http_config *config, const char *host)
{
    if (!host)
        return false;
    for (size_t i = 0; i < COUNT_OF(always); i++) {
        if (is_same_name(host, always[i]))
            return true;
    }
    for (size_t i = 0; i < config->hosts.count; i++) {
        if (is_same_name(host, config->hosts.items[i]))
            return true;
    }
    return is_same_name(host, config->listen);
}

/* A browser that is too old for Sec-Fetch-Site sends Origin with what it changes; what sends
 * neither is no browser. */
bool origin_is_ours(const char *host, const char *fetch_site, const char *origin)
{
    const char *scheme_end = origin ? strstr(origin, "://") : NULL;

    if (fetch_site)
        return text_equal(fetch_site, "same-origin") || text_equal(fetch_site, "none");
    if (!origin)
        return true;
    return scheme_end && host && strcasecmp(scheme_end + strlen("://"), host) == 0;
}

/*
 * origin.h - whether a request is meant for us, and not made by a page of somebody else.
 *
 * A browser that was lured to such a page reaches us from inside. It tells whose name it asked for
 * (Host: a page may let its own name lead here), and where the page is from (Sec-Fetch-Site,
 * Origin), and lets no page lie about that. X-Forwarded-... anybody may send: it says nothing.
 */
#ifndef API_ORIGIN_H
#define API_ORIGIN_H

#include "base/base.h"

struct http_config;

/* NULL is none. The port does not matter: one that is forwarded is another. */
bool origin_host_is_ours(const struct http_config *config, const char *host);

/* What a browser says of whoever wants to change something here; NULL: it does not say it. */
bool origin_is_ours(const char *host, const char *fetch_site, const char *origin);

#endif

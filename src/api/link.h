/*
 * link.h - where a list goes on, as a Link header says it (RFC 8288).
 */
#ifndef API_LINK_H
#define API_LINK_H

struct buffer;
struct http_query;

/* <?state=dead&after=...>; rel="next": the same query with another `after`. It begins at the path
 * that was asked for, whatever a proxy calls that. */
void link_add_next(struct buffer *out, const struct http_query *query, const char *after);

#endif

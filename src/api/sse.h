/*
 * sse.h - server-sent events, as a browser's EventSource reads them.
 */
#ifndef API_SSE_H
#define API_SSE_H

#include "base/base.h"

struct buffer;
struct http_response;

/* `json` is on one line. */
void sse_add(struct buffer *out, uint64_t id, const char *event, struct bytes json);

/* The last event of a stream: {"reason": ...}. */
void sse_add_end(struct buffer *out, uint64_t id, const char *reason);

/* Says nothing, and keeps whatever is between us and the client from closing. */
#define SSE_PING       ": ping\n\n"
#define SSE_PING_EVERY (15 * USEC_PER_SEC)

struct http_response sse_head(void);

#endif

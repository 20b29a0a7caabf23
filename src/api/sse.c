/*
 * sse.c - server-sent events, as a browser's EventSource reads them.
 */
#include "api/sse.h"

#include "base/buffer.h"
#include "http/response.h"

void sse_add(struct buffer *out, uint64_t id, const char *event, struct bytes json)
{
    buffer_printf(out, "id: %" PRIu64 "\nevent: %s\ndata: ", id, event);
    buffer_add(out, json.data, json.length);
    buffer_text(out, "\n\n");
}

void sse_add_end(struct buffer *out, uint64_t id, const char *reason)
{
    buffer_printf(out, "id: %" PRIu64 "\nevent: end\ndata: {\"reason\":\"%s\"}\n\n", id, reason);
}

struct http_response sse_head(void)
{
    struct http_response head = {.status = 200, .type = "text/event-stream"};

    http_response_add(&head, "Cache-Control", "no-store");
    http_response_add(&head, "X-Accel-Buffering", "no");
    return head;
}

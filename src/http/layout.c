/*
 * layout.c - a head as libmicrohttpd left it in its memory.
 *
 *   G E T \0 / a \0 H T T P / 1 . 1 \0 \0 H o s t \0 (space) b \0 \0 \0 \0
 *
 * Each CRLF is two NULs; space, "?" and ":" are one.
 */
#include "http/layout.h"

#include <microhttpd.h>
#include <string.h>

#define LINE_END 2

struct reading {
    struct http_head *head;
    const char *at; /* where the next line has to begin */
    enum http_layout layout;
};

static enum MHD_Result read_header(void *context, enum MHD_ValueKind kind, const char *name,
                                   const char *value)
{
    struct reading *reading = context;
    struct http_head *head = reading->head;

    (void)kind;
    if (head->count == HTTP_HEAD_HEADERS) {
        reading->layout = HTTP_LAYOUT_LONG;
        return MHD_NO;
    }
    const char *colon = name + strlen(name);

    if (name != reading->at || value != colon + 1 + strspn(colon + 1, " \t")) {
        reading->layout = HTTP_LAYOUT_TORN;
        return MHD_NO;
    }
    head->headers[head->count++] = (struct http_header){name, value};
    reading->at = value + strlen(value) + LINE_END;
    return MHD_YES;
}

enum http_layout http_layout_read(struct MHD_Connection *mhd, const char *url,
                                  struct http_head *head)
{
    const size_t size =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size;
    struct reading reading = {.head = head, .at = head->version + strlen(head->version) + LINE_END};

    if (size > HTTP_HEAD_LENGTH)
        return HTTP_LAYOUT_LONG;
    if (url != head->method + strlen(head->method) + 1 ||
        head->version != url + strlen(head->target) + 1)
        return HTTP_LAYOUT_TORN;
    MHD_get_connection_values(mhd, MHD_HEADER_KIND, read_header, &reading);
    if (reading.layout != HTTP_LAYOUT_WHOLE)
        return reading.layout;
    return reading.at + LINE_END == head->method + size ? HTTP_LAYOUT_WHOLE : HTTP_LAYOUT_TORN;
}

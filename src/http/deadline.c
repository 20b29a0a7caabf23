/*
 * deadline.c - how long a connection may take for what it is doing.
 */
#include "http/deadline.h"

usec_t http_deadline(const struct http_limits *limits, enum http_phase phase, usec_t since,
                     bytes_t moved)
{
    switch (phase) {
    case HTTP_FRESH:
    case HTTP_HEAD:
        return since + limits->head;
    case HTTP_IDLE:
        return since + limits->idle;
    case HTTP_BODY:
    case HTTP_SENDING:
        return since + limits->body + (usec_t)(moved / limits->pace) * USEC_PER_SEC;
    case HTTP_STREAMING:
        return moved > 0 ? since + limits->idle : USEC_MAX;
    case HTTP_HELD:
    case HTTP_CLOSING:
        return USEC_MAX;
    }
    return USEC_MAX;
}

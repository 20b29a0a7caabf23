/*
 * deadline.h - how long a connection may take for what it is doing.
 *
 *   phase       waits for                      until
 *   fresh       the first head                 head, since it was accepted
 *   idle        the next request line          idle
 *   head        the rest of the head           head
 *   body        the rest of the body           body + 1 s for each `pace` bytes received
 *   held        the handler                    -
 *   sending     the client to read its answer  body + 1 s for each `pace` bytes of the answer
 *   streaming   the client to read             idle, while something is unsent
 *   closing     the kernel                     -
 */
#ifndef HTTP_DEADLINE_H
#define HTTP_DEADLINE_H

#include "base/base.h"

enum http_phase {
    HTTP_FRESH,
    HTTP_IDLE,
    HTTP_HEAD,
    HTTP_BODY,
    HTTP_HELD,
    HTTP_SENDING,
    HTTP_STREAMING,
    HTTP_CLOSING,
};

struct http_limits {
    usec_t head, body, idle;
    bytes_t pace;
};

/* clang-format off */
#define HTTP_LIMITS {.head = 10 * USEC_PER_SEC, .body = 30 * USEC_PER_SEC, .idle = 60 * USEC_PER_SEC, .pace = (bytes_t)64 * 1024}
/* clang-format on */

/* When a connection is to be cut off; USEC_MAX: never. `moved` is what the phase counts in bytes:
 * received, to be sent, or unsent. */
usec_t http_deadline(const struct http_limits *limits, enum http_phase phase, usec_t since,
                     bytes_t moved);

#endif

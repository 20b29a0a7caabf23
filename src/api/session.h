/*
 * session.h - the cookie of whoever has logged in: instead of the token, which no browser keeps.
 *
 *     taskharbor_5d41402abc4b2a76=1795000000.7d793037a0760186574b0282f2f435e7...
 *
 * Its end, and that signed under the token: nothing is stored, so it is good for each thd that has
 * the token, and ends with it. The name tells the token's servers from others on the same host.
 */
#ifndef API_SESSION_H
#define API_SESSION_H

#include "base/base.h"

struct buffer;
struct digest;

#define SESSION_LIFE (604800 * USEC_PER_SEC) /* seven days */

enum session_state {
    SESSION_ABSENT,
    SESSION_OPEN,
    SESSION_OVER,
    SESSION_FORGED,
};

/* The value of a Set-Cookie header; `is_secure`: never without TLS. False: out of memory. */
bool session_begin(const struct digest *token, usec_t now, bool is_secure,
                   struct buffer *cookie) MUST_CHECK;
bool session_end(const struct digest *token, bool is_secure, struct buffer *cookie) MUST_CHECK;

/* `cookies` is a Cookie header; NULL: there is none. */
enum session_state session_check(const struct digest *token, const char *cookies, usec_t now);

#endif

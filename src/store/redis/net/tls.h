/*
 * tls.h - TLS on a connected socket, for rediss://.
 *
 *   link.c --bytes--> tls.c, OpenSSL --records--> the socket
 *
 * Nothing here waits: what cannot go on says so as recv() and send() do, and redis_tls_events()
 * says what to poll for.
 */
#ifndef REDIS_TLS_H
#define REDIS_TLS_H

#include "base/base.h"
#include "base/error.h"

#include <sys/types.h>

/* What a URL says. */
struct redis_tls_settings {
    bool wanted;
    const char *cafile;     /* whom to trust; NULL: whom the system trusts */
    const char *cert, *key; /* our own, if the server wants to know; key NULL: it is in `cert` */
    const char *servername; /* whose certificate it must be; NULL: that of the host */
};

struct redis_tls;

/* Whether the files can be used; TH_E_INVALID when not. */
bool redis_tls_check(const struct redis_tls_settings *settings, struct error *err) MUST_CHECK;

/* Reads the files, which may have been renewed since the last time; TH_E_UNAVAILABLE when they
 * cannot be used. `fd` stays the caller's. */
bool redis_tls_open(const struct redis_tls_settings *settings, const char *host, int fd,
                    struct redis_tls **tls_out, struct error *err) MUST_CHECK;
void redis_tls_close(struct redis_tls **tls);

/* All three: -1 with EAGAIN when it has to wait, with another errno when the connection failed, and
 * with EPROTO when TLS did: redis_tls_reason() has that in words. The first is 0 when it is done.
 */
int redis_tls_handshake(struct redis_tls *tls);
ssize_t redis_tls_read(struct redis_tls *tls, void *bytes, size_t size); /* 0: it was closed */
ssize_t redis_tls_write(struct redis_tls *tls, const void *bytes, size_t size);

bool redis_tls_is_ready(const struct redis_tls *tls); /* the handshake is done */

/* For poll(): what the last calls waited for. */
short redis_tls_events(const struct redis_tls *tls, bool sends);

const char *redis_tls_reason(const struct redis_tls *tls);

/* The other end has gone; only to be asked while no answer is awaited. */
bool redis_tls_is_down(struct redis_tls *tls);

#endif

/*
 * tls_files.h - the certificates and the key that a URL names, as OpenSSL has them.
 */
#ifndef REDIS_TLS_FILES_H
#define REDIS_TLS_FILES_H

#include "base/error.h"
#include "store/redis/net/tls.h"

#include <openssl/ssl.h>

/* TH_E_INVALID, with the file and what to do, when one of them cannot be used. */
bool redis_tls_files_load(const struct redis_tls_settings *settings, SSL_CTX *context,
                          struct error *err) MUST_CHECK;

#endif

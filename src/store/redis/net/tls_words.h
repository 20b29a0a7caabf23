/*
 * tls_words.h - why there is no TLS with a server, in one sentence.
 */
#ifndef REDIS_TLS_WORDS_H
#define REDIS_TLS_WORDS_H

#include "base/buffer.h"
#include "store/redis/net/tls.h"

#include <openssl/x509_vfy.h>

/* The server's certificate was not accepted; `name` is whose it should be. */
void redis_tls_words_distrust(X509_STORE_CTX *verified, const struct redis_tls_settings *settings,
                              const char *name, struct buffer *words);

/* `code` is OpenSSL's; 0 when it has none. */
void redis_tls_words_failure(unsigned long code, const struct redis_tls_settings *settings,
                             struct buffer *words);

#endif

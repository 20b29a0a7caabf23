/*
 * digest.c - SHA-256, by OpenSSL.
 */
#include "base/digest.h"

#include "base/error.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <stdio.h>

bool digest_prepare(struct error *err)
{
    struct digest digest = {{0}};
    const struct bytes bytes = {digest.bytes, sizeof digest.bytes};

    return (digest_of(bytes, &digest) && digest_keyed(&digest, bytes, &digest)) ||
           error_no_memory(err);
}

bool digest_of(struct bytes bytes, struct digest *digest_out)
{
    return SHA256(bytes.data, bytes.length, digest_out->bytes) != NULL;
}

bool digest_keyed(const struct digest *key, struct bytes bytes, struct digest *digest_out)
{
    return HMAC(EVP_sha256(), key->bytes, sizeof key->bytes, bytes.data, bytes.length,
                digest_out->bytes, NULL) != NULL;
}

bool digest_equal(const struct digest *a, const struct digest *b)
{
    return CRYPTO_memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

const char *digest_hex(const struct digest *digest, char hex[DIGEST_HEX_SIZE])
{
    for (size_t i = 0; i < sizeof digest->bytes; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest->bytes[i]);
    return hex;
}

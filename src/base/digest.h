/*
 * digest.h - SHA-256, for secrets: what is kept of them, and how they are compared.
 */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include "base/base.h"

struct error;

#define DIGEST_SIZE     32
#define DIGEST_HEX_SIZE (2 * DIGEST_SIZE + 1)

struct digest {
    unsigned char bytes[DIGEST_SIZE];
};

/* For a process that will be confined: the first digest opens files. */
bool digest_prepare(struct error *err) MUST_CHECK;

/* Both fail only for want of memory. */
bool digest_of(struct bytes bytes, struct digest *digest_out) MUST_CHECK;
bool digest_keyed(const struct digest *key, struct bytes bytes,
                  struct digest *digest_out) MUST_CHECK; /* HMAC */

/* Takes the same time wherever they differ. */
bool digest_equal(const struct digest *a, const struct digest *b);

/* Returns `hex`. */
const char *digest_hex(const struct digest *digest, char hex[DIGEST_HEX_SIZE]);

#endif

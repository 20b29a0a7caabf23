/*
 * idempotency.c - one enqueue, however often it is sent.
 */
#include "job/idempotency.h"

#include "base/text.h"

bool idempotency_key_counts(const char *key)
{
    return !text_is_blank(key);
}

bool idempotency_holds(usec_t expires_at, usec_t now)
{
    return now < expires_at;
}

/*
 * lease.c - who holds a running job, and until when.
 *
 * Invariants:
 *   - At its expiry a lease has ended: there is no moment at which two are valid.
 *   - An expired lease is reported as expired, whoever holds the job's token by now.
 */
#include "job/lease.h"

#include <string.h>

struct lease_token lease_token_make(const struct batch_token *batch, uint32_t index)
{
    struct lease_token token;

    memcpy(token.bytes, batch->bytes, sizeof batch->bytes);
    for (size_t i = 0; i < 4; i++)
        token.bytes[sizeof batch->bytes + i] = (unsigned char)(index >> (24 - 8 * i));
    return token;
}

uint32_t lease_token_index(const struct lease_token *token)
{
    uint32_t index = 0;

    for (size_t i = sizeof(struct batch_token); i < sizeof token->bytes; i++)
        index = index << 8 | token->bytes[i];
    return index;
}

int lease_token_compare_batches(const struct lease_token *a, const struct lease_token *b)
{
    return memcmp(a->bytes, b->bytes, sizeof(struct batch_token));
}

/* Takes the same time wherever the first difference is: tokens also arrive from outside, and
 * how long a refusal takes must not tell how much of a guess was right. */
bool lease_token_equal(const struct lease_token *a, const struct lease_token *b)
{
    unsigned difference = 0;

    for (size_t i = 0; i < sizeof a->bytes; i++)
        difference |= (unsigned)(a->bytes[i] ^ b->bytes[i]);
    return difference == 0;
}

const char *lease_token_format(const struct lease_token *token, char text[LEASE_TOKEN_TEXT_SIZE])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < sizeof token->bytes; i++) {
        text[2 * i] = digits[token->bytes[i] >> 4];
        text[2 * i + 1] = digits[token->bytes[i] & 15];
    }
    text[LEASE_TOKEN_TEXT_SIZE - 1] = '\0';
    return text;
}

usec_t lease_length(usec_t lease_for, usec_t timeout, usec_t lease_default)
{
    if (lease_for != 0)
        return lease_for;
    return timeout != 0 ? timeout : lease_default;
}

bool lease_has_expired(usec_t expires_at, usec_t now)
{
    return now >= expires_at;
}

enum th_error_code lease_check(enum job_state state, usec_t expires_at,
                               const struct lease_token *held, const struct lease_token *given,
                               usec_t now)
{
    if (state != JOB_RUNNING)
        return TH_E_NOT_RUNNING;
    if (lease_has_expired(expires_at, now))
        return TH_E_LEASE_EXPIRED;
    if (!lease_token_equal(held, given))
        return TH_E_LEASE_MISMATCH;
    return TH_OK;
}

usec_t lease_stop_at(usec_t ends_at, usec_t lease_for)
{
    return ends_at - lease_for / 3;
}

usec_t lease_ends_at(usec_t stop_at, usec_t lease_for)
{
    return stop_at + lease_for / 3;
}

bool lease_can_wait(usec_t stop_at, usec_t lease_for, usec_t next_look)
{
    return next_look <= stop_at - lease_for / 3;
}

bool lease_is_half_over(usec_t stop_at, usec_t lease_for, usec_t now)
{
    return now > stop_at - lease_for / 6;
}

usec_t lease_grace(usec_t stop_at, usec_t lease_for, usec_t kill_grace, usec_t now)
{
    const usec_t left = lease_ends_at(stop_at, lease_for) - lease_for / 6 - now;

    if (left <= 0)
        return 0;
    return left < kill_grace ? left : kill_grace;
}

usec_t lease_deadline(usec_t lease_for)
{
    return lease_for / 6;
}

usec_t lease_renewal_interval(usec_t heartbeat_interval, usec_t lease_for)
{
    usec_t third = lease_for / 3;

    return heartbeat_interval < third ? heartbeat_interval : third;
}

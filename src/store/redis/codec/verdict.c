/*
 * verdict.c - verdicts as the scripts answer them, by the names of protocol.h.
 */
#include "store/redis/codec/verdict.h"

#include "store/redis/protocol.h"

/* clang-format off */
static const struct {
    const char *answer;
    enum th_error_code verdict;
} verdicts[] = {
    {REDIS_SAYS_OK, TH_OK},
    {REDIS_SAYS_CANCELLING, TH_OK},
    {REDIS_SAYS_WATCHED, TH_OK},
    {REDIS_SAYS_BOTH, TH_OK},
    {REDIS_SAYS_NOT_FOUND, TH_E_NOT_FOUND},
    {REDIS_SAYS_NOT_RUNNING, TH_E_NOT_RUNNING},
    {REDIS_SAYS_EXPIRED, TH_E_LEASE_EXPIRED},
    {REDIS_SAYS_MISMATCH, TH_E_LEASE_MISMATCH},
    {REDIS_SAYS_CONFLICT, TH_E_CONFLICT},
};
/* clang-format on */

enum th_error_code redis_verdict_of(char answer)
{
    for (size_t i = 0; i < COUNT_OF(verdicts); i++)
        if (verdicts[i].answer[0] == answer)
            return verdicts[i].verdict;
    return TH_E_INTERNAL;
}

enum th_error_code redis_verdict_join(enum th_error_code known, char answer)
{
    enum th_error_code verdict = redis_verdict_of(answer);

    return verdict != TH_E_NOT_FOUND ? verdict : known;
}

/*
 * verdict.c - verdicts as scripts/parts/base.lua has them.
 */
#include "store/redis/codec/verdict.h"

/* clang-format off */
static const struct {
    char answer;
    enum th_error_code verdict;
} verdicts[] = {
    {'o', TH_OK},
    {'k', TH_OK}, /* extended, and asked to cancel */
    {'w', TH_OK}, /* extended, and watched */
    {'b', TH_OK}, /* both */
    {'f', TH_E_NOT_FOUND},
    {'r', TH_E_NOT_RUNNING},
    {'x', TH_E_LEASE_EXPIRED},
    {'m', TH_E_LEASE_MISMATCH},
    {'c', TH_E_CONFLICT},
};
/* clang-format on */

enum th_error_code redis_verdict_of(char answer)
{
    for (size_t i = 0; i < COUNT_OF(verdicts); i++)
        if (verdicts[i].answer == answer)
            return verdicts[i].verdict;
    return TH_E_INTERNAL;
}

enum th_error_code redis_verdict_join(enum th_error_code known, char answer)
{
    enum th_error_code verdict = redis_verdict_of(answer);

    return verdict != TH_E_NOT_FOUND ? verdict : known;
}

/*
 * refusal.c - the calls that need a lease and do not have it.
 */
#include "refusal.h"

enum th_error_code refusal_expected(enum situation situation)
{
    switch (situation) {
    case UNKNOWN_ID:
        return TH_E_NOT_FOUND;
    case NOT_INFLIGHT:
    case AFTER_DONE:
    case AFTER_DEAD:
        return TH_E_NOT_RUNNING;
    case EXPIRED:
    case EXPIRED_AND_WRONG_TOKEN:
        return TH_E_LEASE_EXPIRED;
    case WRONG_TOKEN:
        return TH_E_LEASE_MISMATCH;
    }
    abort(); /* a situation of no known kind */
}

/* As like the right one as can be: the neighbour in its batch. */
static void spoil_token(struct claim *claim)
{
    claim->token.bytes[sizeof claim->token.bytes - 1] ^= 1;
}

struct claim refusal_stage(struct scene *scene, enum situation situation, usec_t *now)
{
    scene_add(scene);
    struct claim claim = scene_take(scene, NOW);

    *now = NOW + 1;
    switch (situation) {
    case UNKNOWN_ID:
        claim.id = uuid_make(&scene->ids, NOW);
        claim.ref = 0;
        break;
    case NOT_INFLIGHT:
        scene_finish(scene, &claim, SETTLE_RELEASE, NOW);
        break;
    case EXPIRED_AND_WRONG_TOKEN:
        spoil_token(&claim);
        *now = claim.expires_at;
        break;
    case EXPIRED:
        *now = claim.expires_at;
        break;
    case WRONG_TOKEN:
        spoil_token(&claim);
        break;
    case AFTER_DONE:
        scene_finish(scene, &claim, SETTLE_ACK, NOW);
        break;
    case AFTER_DEAD:
        scene_finish(scene, &claim, SETTLE_FAIL, NOW);
        break;
    }
    return claim;
}

static void assert_refused_by_ref(enum settlement_kind kind, enum situation situation, bool by_ref)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    usec_t now = 0;
    struct claim claim = refusal_stage(&scene, situation, &now);
    AUTO_FREE char *before = scene_snapshot_queue(&scene);

    if (!by_ref)
        claim.ref = 0;
    struct settlement settlement = claim_settlement(&claim, kind);
    settlement.has_run = kind == SETTLE_RELEASE; /* what was never started needs no valid lease */
    ASSERT_VERDICT(scene_settle(&scene, &settlement, now), refusal_expected(situation));
    assert_queue_unchanged(&scene, before);
}

void assert_refused(enum settlement_kind kind, enum situation situation)
{
    assert_refused_by_ref(kind, situation, false);
    assert_refused_by_ref(kind, situation, true);
}

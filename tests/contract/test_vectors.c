/*
 * test_vectors.c - rules that are written in C, in SQL and in Lua: each store is held to the tables
 * that job/ is held to by tests/unit/job/.
 */
#include "../vectors/lease.h"
#include "../vectors/merge.h"
#include "../vectors/place.h"
#include "../vectors/rate.h"
#include "bring.h"
#include "contract.h"

#include <string.h>

/* ---- rate ---- */

#define MOST 120 /* jobs that are asked for at once */

static size_t take_at_rate(struct scene *scene, struct units_rate rate, size_t max, usec_t now,
                           struct share_limit *limit_out)
{
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct reservation wanted = scene_wants(scene, max);

    scene->share.rate = rate;
    wanted.limits_out = limit_out;
    scene_reserve(scene, &wanted, now, &taken);
    return taken.count;
}

/* A queue with jobs enough, whose spent_until is as the row says: one job was started, a second
 * before it, at a rate of one a second. */
static struct scene scene_spent(const struct rate_vector *vector)
{
    struct scene scene = scene_open();
    struct share_limit limit;
    struct uuid ids[MOST + 1];

    scene_add_many(&scene, COUNT_OF(ids), ids);
    ck_assert_uint_eq(take_at_rate(&scene, (struct units_rate){1, USEC_PER_SEC}, 1,
                                   NOW + vector->ahead - USEC_PER_SEC, &limit),
                      1);
    ASSERT_TIME(scene_stats(&scene).spent_until, NOW + vector->ahead);
    return scene;
}

START_TEST(a_rate_lets_start_what_its_row_says)
{
    const struct rate_vector *vector = &rate_vectors[_i];
    CLEANUP(scene_close) struct scene scene = scene_spent(vector);
    const size_t wanted = vector->allowed < MOST ? (size_t)vector->allowed + 1 : MOST;
    struct share_limit limit = {0};

    const size_t taken = take_at_rate(&scene, vector->rate, wanted, NOW, &limit);
    ck_assert_msg(taken == (vector->allowed < MOST ? (size_t)vector->allowed : MOST),
                  "%s, but %zu were taken", vector->rule, taken);
    if (vector->allowed == 0)
        ck_assert_msg(limit.limited_until == NOW + vector->wait, "%s, but it may go on in %" PRId64,
                      vector->rule, limit.limited_until - NOW);
    else
        ck_assert((limit.limited_until > NOW) == (taken < wanted));
}
END_TEST

START_TEST(a_start_costs_what_its_row_says)
{
    const struct rate_vector *vector = &rate_vectors[_i];
    CLEANUP(scene_close) struct scene scene = scene_spent(vector);
    struct share_limit limit = {0};

    ck_assert_uint_eq(take_at_rate(&scene, vector->rate, (size_t)vector->count, NOW, &limit),
                      (size_t)vector->count);
    const usec_t spent = scene_stats(&scene).spent_until - NOW;
    ck_assert_msg(spent == vector->spent, "%s, but %" PRId64 " is spent", vector->rule, spent);
}
END_TEST

/* ---- keyed ---- */

#define OLD "\"old\""
#define NEW "\"new\""

static struct job keyed_job(struct scene *scene, const struct keyed_fields *fields,
                            const char *payload, const char *key)
{
    struct job job = scene_job(scene);

    job.key = key;
    job.payload = (struct bytes){(const unsigned char *)payload, strlen(payload)};
    job.priority = fields->priority;
    job.run_at = fields->run_at;
    job.timeout = fields->timeout;
    job.max_attempts = fields->max_attempts;
    job.max_stalls = fields->max_stalls;
    job.attempts = fields->attempts;
    job.stalls = fields->stalls;
    return job;
}

static void assert_merged(const struct job *job, const struct keyed_fields *expected, bool payload,
                          const char *rule)
{
    ck_assert_msg(job->run_at == expected->run_at && job->due == expected->due,
                  "%s: run_at %" PRId64 ", due NOW%+" PRId64, rule, job->run_at, job->due - NOW);
    ck_assert_msg(job->state == (expected->run_at == 0 ? JOB_READY : JOB_SCHEDULED), "%s: it is %s",
                  rule, job_state_name(job->state));
    ck_assert_uint_eq(job->payload.length, strlen(OLD));
    ck_assert_msg(memcmp(job->payload.data, payload ? NEW : OLD, job->payload.length) == 0,
                  "%s: the payload is %.*s", rule, (int)job->payload.length, job->payload.data);
    ck_assert_int_eq(job->priority, expected->priority);
    ASSERT_TIME(job->timeout, expected->timeout);
    ck_assert_int_eq(job->max_attempts, expected->max_attempts);
    ck_assert_int_eq(job->max_stalls, expected->max_stalls);
    ck_assert_int_eq(job->attempts, expected->attempts);
    ck_assert_int_eq(job->stalls, expected->stalls);
}

START_TEST(a_waiting_job_takes_from_a_newcomer_what_its_row_says)
{
    const struct merge_vector *vector = &merge_vectors[_i];
    const struct keyed_fields old = merge_fields(&merge_waiting, vector->waiting, NOW, NOW);
    const struct keyed_fields new = merge_fields(&merge_newcomer, vector->newcomer, NOW, NOW + 1);
    CLEANUP(scene_close) struct scene scene = scene_open();

    for (int number = 0; number < MERGE_FLAGS; number++) {
        CLEANUP(job_list_done) struct job_list list = {0};
        const struct keyed_flags flags = merge_flags(vector, number);
        const struct keyed_fields expected = merge_expected(vector, &old, &new, flags);
        char key[] = {(char)('0' + number), '\0'};
        struct job waiting = keyed_job(&scene, &old, OLD, key);
        struct job newcomer = keyed_job(&scene, &new, NEW, key);

        newcomer.update = flags;
        scene_enqueue(&scene, waiting, NOW);
        ck_assert(scene_enqueue(&scene, newcomer, NOW + 1).updated);
        assert_merged(scene_get(&scene, &waiting.id, &list), &expected, flags.payload,
                      vector->rule);
    }
}
END_TEST

/* ---- lease ---- */

/* The claim that the row is about, and the moment at which it is used. */
static struct claim claim_in(struct scene *scene, const struct lease_vector *vector, usec_t *now)
{
    struct brought brought = bring(scene, vector->state);
    struct claim claim = brought.claim;

    claim.id = brought.id;
    claim.queue = scene->queue;
    if (claim.expires_at == 0)
        claim.expires_at = NOW + LEASE;
    if (!vector->is_ours)
        claim.token.bytes[sizeof claim.token.bytes - 1] ^= 1;
    *now = claim.expires_at + vector->late;
    return claim;
}

START_TEST(a_lease_is_extended_as_its_row_says)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    usec_t now;
    const struct claim claim = claim_in(&scene, &lease_vectors[_i], &now);
    const struct lease_beat lease = {.job = claim.id,
                                     .queue = claim.queue,
                                     .token = claim.token,
                                     .ref = claim.ref,
                                     .progress_percent = -1};
    const struct heartbeat heartbeat = {
        .pool = POOL, .leases = &lease, .lease_count = 1, .lease_for = LEASE};
    struct lease_answer answer = {.verdict = TH_E_INTERNAL};
    struct error err = {0};
    struct pool_answer told;

    MUST(store_heartbeat(scene.store, &heartbeat, 1, now, &answer, &told, &err));
    ck_assert_msg(answer.verdict == lease_vectors[_i].verdict, "%s, but it answers %s",
                  lease_vectors[_i].rule, error_code_name(answer.verdict));
}
END_TEST

START_TEST(a_job_is_settled_as_the_row_of_its_lease_says)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    usec_t now;
    const struct claim claim = claim_in(&scene, &lease_vectors[_i], &now);
    const struct settlement settlement = claim_settlement(&claim, SETTLE_RETRY);
    const enum th_error_code verdict = scene_settle(&scene, &settlement, now);

    ck_assert_msg(verdict == lease_vectors[_i].verdict, "%s, but it answers %s",
                  lease_vectors[_i].rule, error_code_name(verdict));
}
END_TEST

/* ---- place ---- */

START_TEST(what_is_given_back_waits_where_its_row_says)
{
    const struct place_vector *vector = &place_vectors[_i];
    CLEANUP(scene_close) struct scene scene = scene_open();
    CLEANUP(job_list_done) struct job_list list = {0};
    struct job job = scene_job(&scene);

    job.run_at = NOW - PLACE_BEFORE;
    scene_enqueue(&scene, job, NOW - PLACE_BEFORE);
    const struct claim claim = scene_take(&scene, NOW);
    struct settlement settlement = claim_settlement(&claim, vector->kind);
    settlement.run_at = place_moment(vector->run_at, NOW);
    ASSERT_VERDICT(scene_settle(&scene, &settlement, NOW), TH_OK);
    const struct job *stored = scene_get(&scene, &job.id, &list);
    ck_assert_msg(stored->state == vector->state, "%s, but it is %s", vector->rule,
                  job_state_name(stored->state));
    ck_assert_msg(stored->run_at == place_moment(vector->stored_run_at, NOW),
                  "%s, but run_at is %" PRId64, vector->rule, stored->run_at);
    ck_assert_msg(stored->due == NOW + vector->due, "%s, but it is due at NOW%+" PRId64,
                  vector->rule, stored->due - NOW);
}
END_TEST

Suite *vectors_suite(void)
{
    Suite *suite = suite_create("vectors");
    TCase *group = contract_group(suite, "vectors");

    tcase_add_loop_test(group, a_rate_lets_start_what_its_row_says, 0, COUNT_OF(rate_vectors));
    tcase_add_loop_test(group, a_start_costs_what_its_row_says, 0, COUNT_OF(rate_vectors));
    tcase_add_loop_test(group, a_waiting_job_takes_from_a_newcomer_what_its_row_says, 0,
                        COUNT_OF(merge_vectors));
    tcase_add_loop_test(group, a_lease_is_extended_as_its_row_says, 0, COUNT_OF(lease_vectors));
    tcase_add_loop_test(group, a_job_is_settled_as_the_row_of_its_lease_says, 0,
                        COUNT_OF(lease_vectors));
    tcase_add_loop_test(group, what_is_given_back_waits_where_its_row_says, 0,
                        COUNT_OF(place_vectors));
    return suite;
}

/*
 * test_damage.c - one record of any kind is damaged in any way, and everything else goes on.
 *
 * A queue has a job in every state. One record is damaged past the driver; then all that pools and
 * people do is done to the whole queue, until nothing is left to do. Every call works, every job
 * that was not hit comes to its end, and a new one is run.
 *
 * Only stores whose records have no form that the database itself holds have such a backdoor.
 */
#include "asides.h"
#include "contract.h"
#include "scene.h"

#define KEY         "a key"
#define IDEMPOTENCY "once"
#define LONG        5000
#define ROUNDS      4
#define A_ROUND     SECONDS(700) /* longer than leases hold and than LATER is ahead */
#define WELL(call)  ck_assert_msg(call, "%s: %s", damage->what, err.text)

enum member {
    READY,
    OTHER,
    LARGE,
    ONCE,
    ASIDE,
    SHELVED,
    SCHEDULED,
    RETRY,
    RUNNING,
    KEYED,
    BLOCKED,
    DONE,
    DEAD,
    CANCELLED,
    MEMBERS
};

static const enum damage_victim victims[MEMBERS] = {
    [READY] = VICTIM_READY,         [OTHER] = VICTIM_NONE,          [LARGE] = VICTIM_LARGE,
    [ASIDE] = VICTIM_ASIDE,         [SHELVED] = VICTIM_NONE,        [ONCE] = VICTIM_ONCE,
    [SCHEDULED] = VICTIM_SCHEDULED, [RETRY] = VICTIM_RETRY,         [RUNNING] = VICTIM_RUNNING,
    [KEYED] = VICTIM_KEYED,         [BLOCKED] = VICTIM_BLOCKED,     [DONE] = VICTIM_DONE,
    [DEAD] = VICTIM_DEAD,           [CANCELLED] = VICTIM_CANCELLED,
};

struct cast {
    struct scene scene;
    struct uuid ids[MEMBERS];
    struct claim claims[2]; /* of RUNNING and KEYED */
};

static void cast_close(struct cast *cast)
{
    scene_close(&cast->scene);
}

static struct uuid end_one(struct scene *scene, enum settlement_kind kind)
{
    struct uuid id = scene_add(scene);
    struct claim claim = scene_take(scene, NOW);
    struct settlement settlement = claim_settlement(&claim, kind);

    settlement.error = kind == SETTLE_ACK ? NULL : "it broke";
    ASSERT_VERDICT(scene_settle(scene, &settlement, NOW), TH_OK);
    return id;
}

static struct uuid add_keyed(struct scene *scene)
{
    struct job job = scene_job(scene);

    job.key = KEY;
    return scene_enqueue(scene, job, NOW).id;
}

static struct uuid add_scheduled(struct scene *scene)
{
    static const char *const tags[] = {"first", "second"};
    struct job job = scene_job(scene);

    job.headers = "{\"a\":1}";
    job.tags = (struct tags){tags, 2};

    job.run_at = LATER;
    return scene_enqueue(scene, job, NOW).id;
}

static struct uuid add_once(struct scene *scene)
{
    struct job job = scene_job(scene);

    job.idempotency_key = IDEMPOTENCY;
    job.idempotency_expires = NOW + SECONDS(100);
    return scene_enqueue(scene, job, NOW).id;
}

static struct uuid add_large(struct scene *scene)
{
    static unsigned char payload[LONG];
    struct job job = scene_job(scene);

    job.encoding = JOB_RAW;
    job.payload = (struct bytes){payload, sizeof payload};
    return scene_enqueue(scene, job, NOW).id;
}

static struct cast cast_open(void)
{
    struct cast cast = {.scene = scene_open_fresh()};
    struct scene *scene = &cast.scene;
    struct error err = {0};

    MUST(store_cron_mark(scene->store, "daily", NOW, NOW, &err));
    cast.ids[DONE] = end_one(scene, SETTLE_ACK);
    cast.ids[DEAD] = end_one(scene, SETTLE_FAIL);
    cast.ids[CANCELLED] = scene_add(scene);
    ASSERT_VERDICT(scene_cancel(scene, &cast.ids[CANCELLED], NOW), TH_OK);
    cast.ids[RETRY] = end_one(scene, SETTLE_RETRY);
    cast.ids[ASIDE] = asides_bring(scene, "strange", ASIDE_NO_HANDLER, NOW);
    cast.ids[SHELVED] = asides_bring(scene, "broken", ASIDE_CANNOT_START, NOW);
    cast.ids[RUNNING] = scene_add(scene);
    cast.claims[0] = scene_take(scene, NOW);
    cast.ids[KEYED] = add_keyed(scene);
    cast.claims[1] = scene_take(scene, NOW);
    cast.ids[BLOCKED] = add_keyed(scene);
    cast.ids[SCHEDULED] = add_scheduled(scene);
    cast.ids[ONCE] = add_once(scene);
    cast.ids[LARGE] = add_large(scene);
    cast.ids[READY] = scene_add(scene);
    cast.ids[OTHER] = scene_add(scene);
    return cast;
}

/* ---- what pools do ---- */

static void beat(struct cast *cast, const struct damage *damage, usec_t now)
{
    struct lease_beat leases[2];
    struct lease_answer answers[2];
    struct error err = {0};
    struct pool_answer told;

    for (size_t i = 0; i < COUNT_OF(leases); i++)
        leases[i] = (struct lease_beat){.job = cast->claims[i].id,
                                        .queue = cast->scene.queue,
                                        .token = cast->claims[i].token,
                                        .ref = cast->claims[i].ref,
                                        .worker = 1,
                                        .progress_percent = 50,
                                        .progress_text = "half"};
    const struct heartbeat heartbeat = {
        .pool = POOL, .leases = leases, .lease_count = COUNT_OF(leases), .lease_for = LEASE};
    WELL(store_heartbeat(cast->scene.store, &heartbeat, 1, now, answers, &told, &err));
}

static void settle(struct cast *cast, const struct damage *damage, const struct job *job,
                   usec_t now)
{
    struct settlement settlement;
    struct claim claim = claim_of(&cast->scene, job);
    enum th_error_code verdict;
    struct error err = {0};

    if (!settlement_instead_of_run(job, &job_limits_default, &settlement))
        settlement = claim_settlement(&claim, SETTLE_ACK);
    const struct settlement_list finished = {&settlement, 1};
    WELL(store_settle(cast->scene.store, &finished, now, &verdict, &err));
    ck_assert_msg(verdict == TH_OK, "%s: %s", damage->what, error_code_name(verdict));
}

static size_t drain_once(struct cast *cast, const struct damage *damage, usec_t now)
{
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct reservation wanted = scene_wants(&cast->scene, MANY);
    struct error err = {0}, away = {0};

    wanted.away_out = &away;
    WELL(store_reserve(cast->scene.store, &wanted, now, &taken, &err));
    ck_assert_msg(away.code == TH_OK, "%s: %s", damage->what, away.text);
    for (size_t i = 0; i < taken.count; i++)
        settle(cast, damage, &taken.items[i], now);
    return taken.count;
}

static void keep_up(struct cast *cast, const struct damage *damage, usec_t now)
{
    const struct retention keep = {.done = USEC_MAX, .done_max = SIZE_MAX, .dead = USEC_MAX};
    struct store *store = cast->scene.store;
    struct error err = {0};
    usec_t next;
    size_t count = 1;

    while (count > 0)
        WELL(store_reclaim(store, now, MANY, &count, &err));
    WELL(store_promote(store, JOB_SCHEDULED, now, MANY, &count, &next, &err));
    WELL(store_promote(store, JOB_RETRY, now, MANY, &count, &next, &err));
    WELL(store_prune(store, &keep, now, MANY, &count, &err));
}

static void bring_back(struct cast *cast, const struct damage *damage)
{
    CLEANUP(aside_list_done) struct aside_list types = {0};
    struct store *store = cast->scene.store;
    struct error err = {0};
    size_t moved;

    WELL(store_aside(store, NULL, 0, &types, &err));
    for (size_t i = 0; i < types.count; i++)
        WELL(store_bring_back(store, &types.items[i], 0, MANY, &moved, &err));
}

static void work(struct cast *cast, const struct damage *damage, usec_t now)
{
    for (int round = 0; round < ROUNDS; round++, now += A_ROUND) {
        keep_up(cast, damage, now);
        bring_back(cast, damage);
        for (int turns = 0; drain_once(cast, damage, now) > 0; turns++)
            ck_assert_msg(turns < MEMBERS * 2, "%s: it loops", damage->what);
    }
}

/* ---- what people do ---- */

static void list(struct cast *cast, const struct damage *damage)
{
    struct error err = {0};

    for (int state = 0; state <= JOB_STATES; state++) {
        CLEANUP(job_list_done) struct job_list found = {0};
        const struct job_filter filter = {.by_state = state < JOB_STATES,
                                          .state = state < JOB_STATES ? (enum job_state)state : 0,
                                          .error = state % 2 == 0 ? "broke" : NULL,
                                          .limit = MANY};
        struct job_cursor next = {0};
        WELL(store_list(cast->scene.store, &filter, &found, &next, &err));
        ck_assert_msg(!next.is_set, "%s: the list has no end", damage->what);
    }
}

static void look(struct cast *cast, const struct damage *damage)
{
    CLEANUP(job_list_done) struct job_list held = {0};
    CLEANUP(job_list_done) struct job_list failures = {0};
    CLEANUP(queue_stats_list_done) struct queue_stats_list stats = {0};
    CLEANUP(pool_list_done) struct pool_list pools = {0};
    struct store *store = cast->scene.store;
    struct error err = {0};

    list(cast, damage);
    WELL(store_held(store, POOL, &held, &err));
    WELL(store_failures(store, 10, &failures, &err));
    WELL(store_stats(store, &stats, &err));
    WELL(store_pools(store, &pools, &err));
    for (size_t i = 0; i < MEMBERS; i++) {
        CLEANUP(job_list_done) struct job_list found = {0};
        bool got = store_get(store, &cast->ids[i], &found, &err);
        ck_assert_msg(got || err.code == TH_E_NOT_FOUND, "%s: %s", damage->what, err.text);
    }
}

static void enqueue_more(struct cast *cast, const struct damage *damage, usec_t now)
{
    struct store *store = cast->scene.store;
    struct enqueued enqueued[2];
    struct job jobs[2] = {scene_job(&cast->scene), scene_job(&cast->scene)};
    struct error err = {0};
    bool stored;

    WELL(store_enqueue(store, jobs, 1, now, enqueued, &err));
    jobs[0] = scene_job(&cast->scene);
    jobs[0].key = KEY;
    jobs[1].idempotency_key = IDEMPOTENCY;
    jobs[1].idempotency_expires = now + SECONDS(100);
    WELL(store_enqueue(store, jobs, COUNT_OF(jobs), now, enqueued, &err));
    jobs[0] = scene_job(&cast->scene);
    WELL(store_cron_enqueue(store, "daily", now + SECONDS(86400), &jobs[0], now, &stored, &err));
}

static void repair(struct cast *cast, const struct damage *damage, usec_t now)
{
    struct store *store = cast->scene.store;
    enum th_error_code verdicts[MEMBERS];
    struct error err = {0};

    WELL(store_requeue(store, cast->ids, MEMBERS, 0, now, verdicts, &err));
    WELL(store_run_now(store, cast->ids, MEMBERS, now, verdicts, &err));
    WELL(store_cancel(store, cast->ids, MEMBERS, now, verdicts, &err));
    WELL(store_remove(store, cast->ids, MEMBERS, verdicts, &err));
}

/* ---- what is left ---- */

/* The twins may be merged, or meet their end otherwise. */
static bool has_end(enum member member, const struct job *job)
{
    bool is_twin = member == KEYED || member == BLOCKED;

    return job->ended_at != 0 &&
           (is_twin || member == DEAD || member == CANCELLED || job->state == JOB_DONE);
}

static void check_others(struct cast *cast, const struct damage *damage)
{
    struct error err = {0};

    for (enum member i = 0; i < MEMBERS; i++) {
        CLEANUP(job_list_done) struct job_list found = {0};
        if (victims[i] == damage->victim)
            continue;
        WELL(store_get(cast->scene.store, &cast->ids[i], &found, &err));
        ck_assert_msg(has_end(i, &found.items[0]), "%s: job %d is %s", damage->what, i,
                      job_state_name(found.items[0].state));
    }
}

static void check_nothing_waits(struct cast *cast, const struct damage *damage)
{
    static const enum job_state open[] = {JOB_READY, JOB_RUNNING, JOB_RETRY, JOB_SCHEDULED};
    struct queue_stats stats = scene_stats(&cast->scene);

    for (size_t i = 0; i < COUNT_OF(open); i++)
        ck_assert_msg(stats.jobs[open[i]] == 0, "%s: %d jobs are %s", damage->what,
                      (int)stats.jobs[open[i]], job_state_name(open[i]));
}

static void run_new_one(struct cast *cast, usec_t now)
{
    struct uuid id = scene_add(&cast->scene);
    struct claim claim = scene_take(&cast->scene, now);

    ASSERT_SAME_ID(&claim.id, &id);
    scene_finish(&cast->scene, &claim, SETTLE_ACK, now);
    ASSERT_STATE(&cast->scene, &id, JOB_DONE);
}

START_TEST(a_damaged_record_holds_up_nobody_else)
{
    const struct backdoor *backdoor = scene_backend()->backdoor;
    const struct damage *damage = backdoor->damage((size_t)_i);
    CLEANUP(cast_close) struct cast cast = cast_open();
    struct uuid victim = {{0}};
    usec_t now = NOW + SECONDS(1);

    for (size_t i = 0; i < MEMBERS; i++)
        if (victims[i] == damage->victim)
            victim = cast.ids[i];
    backdoor->do_damage(cast.scene.url, cast.scene.queue, &victim, damage);
    beat(&cast, damage, now);
    look(&cast, damage);
    enqueue_more(&cast, damage, now);
    work(&cast, damage, now);
    look(&cast, damage);
    now += ROUNDS * A_ROUND;
    if (!damage->takes_all) {
        check_others(&cast, damage);
        check_nothing_waits(&cast, damage);
    }
    repair(&cast, damage, now);
    work(&cast, damage, now + A_ROUND);
    run_new_one(&cast, now + ROUNDS * A_ROUND + A_ROUND);
}
END_TEST

static int count_damages(void)
{
    const struct backdoor *backdoor = scene_backend()->backdoor;
    int count = 0;

    while (backdoor->damage && backdoor->damage((size_t)count))
        count++;
    return count;
}

Suite *damage_suite(void)
{
    Suite *suite = suite_create("damage");
    TCase *records = contract_group(suite, "records");

    tcase_add_loop_test(records, a_damaged_record_holds_up_nobody_else, 0, count_damages());
    return suite;
}

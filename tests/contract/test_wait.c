/*
 * test_wait.c - sleep and wake: whoever waits is woken after the commit, and never missed.
 *
 * Nothing here is about how long it takes. A timeout is so long that only a wake-up that never
 * came can reach it, or so short that it is reached at once.
 */
#include "base/clock.h"
#include "bring.h"
#include "companion.h"
#include "contract.h"

#include <poll.h>
#include <string.h>

#define LONG  (60 * USEC_PER_SEC)
#define SHORT USEC_PER_MSEC

static bool wait_for(struct scene *scene, usec_t timeout)
{
    struct error err = {0};
    bool rang = false;

    MUST(store_wait(scene->store, timeout, &rang, &err));
    return rang;
}

/* Until nothing has rung since. */
static void quiet(struct scene *scene)
{
    while (wait_for(scene, 0))
        ;
}

/* The same in another process, and the look without which it may miss what came meanwhile. */
static void come_to_rest(struct store *store, const struct scene *scene)
{
    const struct queue_share share = {.queue = scene->queue, .max = 1};
    const struct reservation wanted = {.queues = &share,
                                       .queue_count = 1,
                                       .pool = "the-waiter",
                                       .batch = batch_fresh(),
                                       .lease_for = LEASE};
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct error err = {0};
    bool rang = true;

    while (rang)
        child_must(store_wait(store, 0, &rang, &err), &err);
    child_must(store_reserve(store, &wanted, NOW, &taken, &err), &err);
    child_must(taken.count == 0 || error_set(&err, TH_E_INTERNAL, "there is a job already"), &err);
}

/* What makes a job ready. `prepare` leaves one that is not; nothing else is ready then. */
struct waker {
    const char *name;
    struct brought (*prepare)(struct scene *scene);
    void (*make_ready)(struct scene *scene, const struct brought *brought);
};

static struct brought prepare_nothing(struct scene *scene)
{
    (void)scene;
    return (struct brought){0};
}

static struct brought prepare_scheduled(struct scene *scene)
{
    return bring(scene, JOB_SCHEDULED);
}

static struct brought prepare_retry(struct scene *scene)
{
    return bring(scene, JOB_RETRY);
}

static struct brought prepare_running(struct scene *scene)
{
    return bring(scene, JOB_RUNNING);
}

static struct brought prepare_blocked(struct scene *scene)
{
    return bring(scene, JOB_BLOCKED);
}

static struct brought prepare_dead(struct scene *scene)
{
    return bring(scene, JOB_DEAD);
}

static struct brought prepare_paused(struct scene *scene)
{
    struct error err = {0};
    struct brought ready = bring(scene, JOB_READY);

    MUST(store_pause(scene->store, scene->queue, NULL, NOW, &err));
    return ready;
}

static void by_enqueue(struct scene *scene, const struct brought *brought)
{
    (void)brought;
    scene_add(scene);
}

static void by_cron(struct scene *scene, const struct brought *brought)
{
    struct job job = scene_job(scene);
    struct error err = {0};
    bool stored = false;

    (void)brought;
    MUST(store_cron_enqueue(scene->store, "cron", NOW, &job, NOW, &stored, &err));
    ck_assert(stored);
}

static void by_promote_scheduled(struct scene *scene, const struct brought *brought)
{
    (void)brought;
    ck_assert_uint_eq(scene_promote(scene, JOB_SCHEDULED, LATER), 1);
}

static void by_promote_retry(struct scene *scene, const struct brought *brought)
{
    (void)brought;
    ck_assert_uint_eq(scene_promote(scene, JOB_RETRY, LATER), 1);
}

static void by_release(struct scene *scene, const struct brought *brought)
{
    scene_finish(scene, &brought->claim, SETTLE_RELEASE, NOW);
}

static void by_ack_of_twin(struct scene *scene, const struct brought *brought)
{
    scene_finish(scene, &brought->twin, SETTLE_ACK, NOW);
}

static void by_on_dead(struct scene *scene, const struct brought *brought)
{
    struct settlement fail = claim_settlement(&brought->claim, SETTLE_FAIL);
    struct job alert = scene_job(scene);

    fail.on_dead = &alert;
    ASSERT_VERDICT(scene_settle(scene, &fail, NOW), TH_OK);
}

static void by_reclaim(struct scene *scene, const struct brought *brought)
{
    ck_assert_uint_eq(scene_reclaim(scene, brought->claim.expires_at), 1);
}

static void by_requeue(struct scene *scene, const struct brought *brought)
{
    ASSERT_VERDICT(scene_requeue(scene, &brought->id, 0, NOW), TH_OK);
}

static void by_resume(struct scene *scene, const struct brought *brought)
{
    struct error err = {0};

    (void)brought;
    MUST(store_resume(scene->store, scene->queue, &err));
}

static void by_update(struct scene *scene, const struct brought *brought)
{
    ck_assert(scene_enqueue(scene, bring_twin(scene, brought), NOW).updated);
}

static const struct waker wakers[] = {
    {"enqueue", prepare_nothing, by_enqueue},
    {"cron", prepare_nothing, by_cron},
    {"promote scheduled", prepare_scheduled, by_promote_scheduled},
    {"promote retry", prepare_retry, by_promote_retry},
    {"release", prepare_running, by_release},
    {"ack of its twin", prepare_blocked, by_ack_of_twin},
    {"on_dead", prepare_running, by_on_dead},
    {"reclaim", prepare_running, by_reclaim},
    {"requeue", prepare_dead, by_requeue},
    {"resume", prepare_paused, by_resume},
    {"update", prepare_scheduled, by_update},
};

/* Sleeps until a job is there. Only a wake-up that came after the commit finds it. */
static void wait_for_a_job(struct companion *parent, const struct scene *scene, const void *context)
{
    const struct queue_share share = {.queue = scene->queue, .max = 1};
    const struct reservation wanted = {.queues = &share,
                                       .queue_count = 1,
                                       .pool = "the-waiter",
                                       .batch = batch_fresh(),
                                       .lease_for = LEASE};
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct store *store = child_open(scene->url);
    struct error err = {0};
    bool rang;

    (void)context;
    come_to_rest(store, scene);
    companion_tell(parent, 'w');
    while (taken.count == 0) {
        child_must(store_wait(store, LONG, &rang, &err), &err);
        child_must(rang || error_set(&err, TH_E_INTERNAL, "nobody woke the waiter"), &err);
        child_must(store_reserve(store, &wanted, NOW, &taken, &err), &err);
    }
    companion_tell(parent, 'j');
}

START_TEST(wait_is_ended_by_a_job_that_another_process_made_ready)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct brought brought = wakers[_i].prepare(&scene);
    struct companion waiter = companion_start(&scene, wait_for_a_job, NULL);

    ck_assert_int_eq(companion_hear(&waiter), 'w');
    companion_await_sleep(&waiter);
    wakers[_i].make_ready(&scene, &brought);
    ck_assert_msg(companion_hear(&waiter) == 'j', "%s wakes nobody", wakers[_i].name);
    companion_end(&waiter);
}
END_TEST

/* Enqueues one job for each word. */
static void enqueue_when_told(struct companion *parent, const struct scene *scene,
                              const void *context)
{
    struct store *store = child_open(scene->url);
    struct uuid_maker ids = {0};
    struct enqueued enqueued;
    struct error err = {0};

    (void)context;
    while (companion_hear(parent) != 0) {
        struct job job = job_defaults();
        job.id = uuid_make(&ids, NOW);
        job.type = "work";
        job.queue = scene->queue;
        child_must(store_enqueue(store, &job, 1, NOW, &enqueued, &err), &err);
        companion_tell(parent, 'e');
    }
    store_close(&store);
}

static void let_enqueue(struct companion *producer)
{
    companion_tell(producer, 'g');
    ck_assert_int_eq(companion_hear(producer), 'e');
}

START_TEST(a_job_that_came_between_the_last_look_and_the_wait_ends_the_wait)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct companion producer = companion_start(&scene, enqueue_when_told, NULL);

    for (int i = 0; i < 3; i++) {
        quiet(&scene);
        scene_take_nothing(&scene, NOW);
        ck_assert_msg(!wait_for(&scene, 0), "it rang before anything happened");
        let_enqueue(&producer);
        ck_assert_msg(wait_for(&scene, LONG), "a wake-up was lost");
        scene_take(&scene, NOW);
    }
    companion_end(&producer);
}
END_TEST

/* Whoever never waited before has missed nothing either. */
START_TEST(the_first_wait_says_that_something_may_be_ready)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct companion producer = companion_start(&scene, enqueue_when_told, NULL);

    scene_take_nothing(&scene, NOW);
    let_enqueue(&producer);
    ck_assert_msg(wait_for(&scene, LONG), "a wake-up was lost");
    scene_take(&scene, NOW);
    companion_end(&producer);
}
END_TEST

START_TEST(a_wait_that_nothing_ends_times_out)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();

    quiet(&scene);
    ck_assert(!wait_for(&scene, SHORT));
    ck_assert(!wait_for(&scene, 0));
}
END_TEST

static bool is_readable(int fd, int timeout)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    return poll(&poll_fd, 1, timeout) == 1 && (poll_fd.revents & POLLIN) != 0;
}

static void wait_without_end(struct companion *parent, const struct scene *scene,
                             const void *context)
{
    struct store *store = child_open(scene->url);
    struct error err = {0};
    bool rang;

    (void)context;
    come_to_rest(store, scene);
    companion_tell(parent, 'w');
    child_must(store_wait(store, USEC_MAX, &rang, &err) && rang, &err);
    companion_tell(parent, 'r');
    store_close(&store);
}

START_TEST(a_wait_without_end_is_ended_by_the_bell_alone)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct companion waiter = companion_start(&scene, wait_without_end, NULL);

    ck_assert_int_eq(companion_hear(&waiter), 'w');
    companion_await_sleep(&waiter);
    scene_add(&scene);
    ck_assert_int_eq(companion_hear(&waiter), 'r');
    companion_end(&waiter);
}
END_TEST

/* Whoever makes it ready when it is due does not look before that. */
START_TEST(a_job_that_is_due_soon_ends_the_wait)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct companion waiter = companion_start(&scene, wait_without_end, NULL);
    struct job job = scene_job(&scene);

    ck_assert_int_eq(companion_hear(&waiter), 'w');
    companion_await_sleep(&waiter);
    job.run_at = NOW + JOB_SOON;
    job.key = _i == 1 ? "a key" : NULL;
    ck_assert_int_eq(scene_enqueue(&scene, job, NOW).state, JOB_SCHEDULED);
    ck_assert_int_eq(companion_hear(&waiter), 'r');
    companion_end(&waiter);
}
END_TEST

START_TEST(the_descriptor_is_readable_when_something_may_be_ready)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct companion producer = companion_start(&scene, enqueue_when_told, NULL);
    struct error err = {0};
    int fd = -1;

    MUST(store_wait_fd(scene.store, &fd, &err));
    ck_assert_int_ge(fd, 0);
    ck_assert_msg(is_readable(fd, 0), "the first call does not say that something may be ready");
    quiet(&scene);
    ck_assert(!is_readable(fd, 0));
    scene_take_nothing(&scene, NOW);
    for (int i = 0; i < 3; i++) {
        let_enqueue(&producer);
        ck_assert(is_readable(fd, (int)(LONG / USEC_PER_MSEC)));
        quiet(&scene);
        ck_assert(!is_readable(fd, 0));
        scene_take(&scene, NOW);
    }
    companion_end(&producer);
}
END_TEST

/* ---- what comes back ---- */

static void release_and_enqueue(struct scene *scene, const struct claim *claim)
{
    struct store *other = child_open(scene->url);
    const struct settlement release = claim_settlement(claim, SETTLE_RELEASE);
    const struct settlement_list finished = {&release, 1};
    struct job job = scene_job(scene);
    struct enqueued enqueued;
    enum th_error_code verdict;
    struct error err = {0};

    MUST(store_settle(other, &finished, NOW, &verdict, &err));
    MUST(store_enqueue(other, &job, 1, NOW, &enqueued, &err));
    store_close(&other);
}

START_TEST(a_job_that_comes_back_before_a_new_one_is_found_by_the_next_look)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    CLEANUP(job_list_done) struct job_list taken = {0};
    const struct backdoor *backdoor = scene_backend()->backdoor;
    struct uuid ids[2];

    scene_add_many(&scene, 2, ids);
    const struct claim comes_back = scene_take(&scene, NOW);
    const struct claim done = scene_take(&scene, NOW);
    scene_finish(&scene, &done, SETTLE_ACK, NOW);
    quiet(&scene);
    scene_take_nothing(&scene, NOW);
    if (backdoor->slow_down)
        backdoor->slow_down(scene.store, NOW);
    release_and_enqueue(&scene, &comes_back);
    for (int look = 0; look < 2 && taken.count < 2; look++) {
        ck_assert_msg(wait_for(&scene, look == 0 ? LONG : 0), "nobody says that there is more");
        struct reservation wanted = scene_wants(&scene, 2);
        scene_reserve(&scene, &wanted, NOW, &taken);
    }
    ck_assert_uint_eq(taken.count, 2);
}
END_TEST

/* ---- producers with transactions of their own ---- */

/* The clock of these jobs is the server's. */
static bool take_produced(struct scene *scene)
{
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct reservation wanted = scene_wants(scene, 1);

    scene_reserve(scene, &wanted, clock_wall() + USEC_PER_DAY, &taken);
    return taken.count == 1;
}

/* One ring may be for several jobs, so it looks before it waits. */
static void wait_for_produced(struct scene *scene)
{
    while (!take_produced(scene))
        ck_assert_msg(wait_for(scene, LONG), "a wake-up was lost");
}

START_TEST(a_transaction_that_was_open_before_the_wait_ends_it_with_its_commit)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    const struct backdoor *backdoor = scene_backend()->backdoor;

    if (!backdoor->produce)
        return;
    void *transaction = backdoor->produce(scene.url, scene.queue);
    ck_assert(wait_for(&scene, 0));
    ck_assert(!take_produced(&scene));
    backdoor->commit(transaction);
    ck_assert_msg(wait_for(&scene, LONG), "a wake-up was lost");
    wait_for_produced(&scene);
}
END_TEST

START_TEST(a_transaction_that_begins_during_the_wait_ends_it_with_its_commit)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    const struct backdoor *backdoor = scene_backend()->backdoor;

    if (!backdoor->produce)
        return;
    quiet(&scene);
    ck_assert(!take_produced(&scene));
    void *transaction = backdoor->produce(scene.url, scene.queue);
    ck_assert(!wait_for(&scene, 0));
    backdoor->commit(transaction);
    ck_assert_msg(wait_for(&scene, LONG), "a wake-up was lost");
    wait_for_produced(&scene);
}
END_TEST

#define PRODUCERS 3
#define PRODUCED  40 /* by each */

static void produce_on_and_on(struct companion *parent, const struct scene *scene,
                              const void *context)
{
    const struct backdoor *backdoor = scene_backend()->backdoor;

    (void)parent;
    (void)context;
    for (int i = 0; i < PRODUCED; i++) {
        void *transaction = backdoor->produce(scene->url, scene->queue);
        clock_sleep(i % 4 * USEC_PER_MSEC);
        backdoor->commit(transaction);
    }
}

/* Some fall into the moment between the last look and the sleep, others are open meanwhile. */
START_TEST(no_commit_of_many_producers_is_missed)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct companion producers[PRODUCERS];

    if (!scene_backend()->backdoor->produce)
        return;
    for (size_t i = 0; i < PRODUCERS; i++)
        producers[i] = companion_start(&scene, produce_on_and_on, NULL);
    for (size_t i = 0; i < PRODUCERS * PRODUCED; i++)
        wait_for_produced(&scene);
    for (size_t i = 0; i < PRODUCERS; i++)
        companion_end(&producers[i]);
}
END_TEST

Suite *wait_suite(void)
{
    Suite *suite = suite_create("wait");
    TCase *group = contract_group(suite, "wait");

    tcase_add_loop_test(group, wait_is_ended_by_a_job_that_another_process_made_ready, 0,
                        COUNT_OF(wakers));
    tcase_add_test(group, a_job_that_came_between_the_last_look_and_the_wait_ends_the_wait);
    tcase_add_test(group, the_first_wait_says_that_something_may_be_ready);
    tcase_add_test(group, a_wait_that_nothing_ends_times_out);
    tcase_add_test(group, a_wait_without_end_is_ended_by_the_bell_alone);
    tcase_add_loop_test(group, a_job_that_is_due_soon_ends_the_wait, 0, 2);
    tcase_add_test(group, the_descriptor_is_readable_when_something_may_be_ready);
    tcase_add_test(group, a_job_that_comes_back_before_a_new_one_is_found_by_the_next_look);
    tcase_add_test(group, a_transaction_that_was_open_before_the_wait_ends_it_with_its_commit);
    tcase_add_test(group, a_transaction_that_begins_during_the_wait_ends_it_with_its_commit);
    tcase_add_test(group, no_commit_of_many_producers_is_missed);
    return suite;
}

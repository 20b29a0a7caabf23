/*
 * test_states.c - walks every pair of state and event of job/state.h on the store.
 *
 * Each pair has a job of its own, brought into the state. The event then happens to it, or is
 * tried. What job_state_allows() allows must lead where the table below says; everything else must
 * leave the whole record as it was.
 */
#include "bring.h"
#include "contract.h"

#include <string.h>

#define AN_HOUR_ON (NOW + USEC_PER_HOUR) /* LATER is over, the lease too, but not the twin's */
#define GONE       ((enum job_state)JOB_STATES)

/* The lines of state.h, as these events are applied here: nothing is postponed. */
static const struct change {
    enum job_state from;
    enum job_event event;
    enum job_state to;
} changes[] = {
    {JOB_SCHEDULED, EVENT_DUE, JOB_READY},
    {JOB_RETRY, EVENT_DUE, JOB_READY},
    {JOB_READY, EVENT_RESERVE, JOB_RUNNING},
    {JOB_RUNNING, EVENT_ACK, JOB_DONE},
    {JOB_RUNNING, EVENT_RETRY, JOB_RETRY},
    {JOB_RUNNING, EVENT_FAIL, JOB_DEAD},
    {JOB_RUNNING, EVENT_RELEASE, JOB_READY},
    {JOB_RUNNING, EVENT_SNOOZE, JOB_SCHEDULED},
    {JOB_RUNNING, EVENT_ASIDE, JOB_READY},
    {JOB_RUNNING, EVENT_CANCEL, JOB_CANCELLED},
    {JOB_RUNNING, EVENT_EXPIRE, JOB_READY},
    {JOB_BLOCKED, EVENT_UNBLOCK, JOB_READY},
    {JOB_BLOCKED, EVENT_MERGE, JOB_CANCELLED},
    {JOB_SCHEDULED, EVENT_UPDATE, JOB_READY},
    {JOB_READY, EVENT_UPDATE, JOB_READY},
    {JOB_BLOCKED, EVENT_UPDATE, JOB_BLOCKED},
    {JOB_RETRY, EVENT_UPDATE, JOB_READY},
    {JOB_SCHEDULED, EVENT_CANCEL, JOB_CANCELLED},
    {JOB_READY, EVENT_CANCEL, JOB_CANCELLED},
    {JOB_BLOCKED, EVENT_CANCEL, JOB_CANCELLED},
    {JOB_RETRY, EVENT_CANCEL, JOB_CANCELLED},
    {JOB_SCHEDULED, EVENT_RUN, JOB_READY},
    {JOB_RETRY, EVENT_RUN, JOB_READY},
    {JOB_DEAD, EVENT_REVIVE, JOB_READY},
    {JOB_CANCELLED, EVENT_REVIVE, JOB_READY},
    {JOB_DONE, EVENT_REMOVE, GONE},
    {JOB_DEAD, EVENT_REMOVE, GONE},
    {JOB_CANCELLED, EVENT_REMOVE, GONE},
};

static const struct change *find_change(enum job_state from, enum job_event event)
{
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        if (changes[i].from == from && changes[i].event == event)
            return &changes[i];
    }
    return NULL;
}

/* ---- how each event is made to happen; what the store said about it ---- */

/* Other cases may have left jobs that are due; they move too, and ours with them. */
static enum th_error_code let_due(struct scene *scene, const struct brought *job)
{
    (void)job;
    while (scene_promote(scene, JOB_SCHEDULED, AN_HOUR_ON) > 0)
        ;
    while (scene_promote(scene, JOB_RETRY, AN_HOUR_ON) > 0)
        ;
    return TH_OK;
}

static enum th_error_code let_expire(struct scene *scene, const struct brought *job)
{
    (void)job;
    while (scene_reclaim(scene, AN_HOUR_ON) > 0)
        ;
    return TH_OK;
}

static enum th_error_code reserve(struct scene *scene, const struct brought *job)
{
    CLEANUP(job_list_done) struct job_list taken = {0};
    struct reservation wanted = scene_wants(scene, MANY);
    bool allowed = job_state_allows(job->state, EVENT_RESERVE);

    scene_reserve(scene, &wanted, NOW, &taken);
    ck_assert_uint_eq(taken.count, allowed ? 1 : 0);
    return TH_OK;
}

/* With the job's own token, or its last one. */
static enum th_error_code settle(struct scene *scene, const struct brought *job,
                                 enum settlement_kind kind)
{
    struct settlement settlement = claim_settlement(&job->claim, kind);

    settlement.job = job->id;
    settlement.queue = scene->queue;
    return scene_settle(scene, &settlement, NOW);
}

static enum th_error_code ack(struct scene *scene, const struct brought *job)
{
    return settle(scene, job, SETTLE_ACK);
}

static enum th_error_code retry(struct scene *scene, const struct brought *job)
{
    return settle(scene, job, SETTLE_RETRY);
}

static enum th_error_code die(struct scene *scene, const struct brought *job)
{
    return settle(scene, job, SETTLE_FAIL);
}

static enum th_error_code release(struct scene *scene, const struct brought *job)
{
    return settle(scene, job, SETTLE_RELEASE);
}

static enum th_error_code snooze(struct scene *scene, const struct brought *job)
{
    return settle(scene, job, SETTLE_SNOOZE);
}

static enum th_error_code set_aside(struct scene *scene, const struct brought *job)
{
    return settle(scene, job, SETTLE_ASIDE);
}

/* A running job is asked first, and ends when the one who runs it obeys. */
static enum th_error_code cancel(struct scene *scene, const struct brought *job)
{
    enum th_error_code verdict = scene_cancel(scene, &job->id, NOW);

    return job->state == JOB_RUNNING ? settle(scene, job, SETTLE_CANCEL) : verdict;
}

/* Another job of the queue that runs: the twin of a blocked job; for one that ended, a later job
 * with its key; for the others a stranger, as they can have no twin that runs. */
static struct claim run_neighbour(struct scene *scene, const struct brought *job)
{
    struct job neighbour = bring_twin(scene, job);

    if (job->state == JOB_BLOCKED)
        return job->twin;
    neighbour.type = "neighbour";
    if (!job_state_has_ended(job->state))
        neighbour.key = "of a stranger";
    scene_enqueue(scene, neighbour, NOW);
    return scene_take_type(scene, "neighbour", NOW, LEASE);
}

static enum th_error_code let_unblock(struct scene *scene, const struct brought *job)
{
    struct claim neighbour = run_neighbour(scene, job);

    scene_finish(scene, &neighbour, SETTLE_ACK, NOW);
    return TH_OK;
}

static enum th_error_code let_merge(struct scene *scene, const struct brought *job)
{
    struct claim neighbour = run_neighbour(scene, job);

    scene_finish(scene, &neighbour, SETTLE_RETRY, NOW);
    return TH_OK;
}

static enum th_error_code update(struct scene *scene, const struct brought *job)
{
    struct job newcomer = bring_twin(scene, job);

    newcomer.priority = 1;
    struct enqueued enqueued = scene_enqueue(scene, newcomer, NOW + 1);
    ck_assert(enqueued.updated == job_state_allows(job->state, EVENT_UPDATE));
    ASSERT_SAME_ID(&enqueued.id, enqueued.updated ? &job->id : &newcomer.id);
    return TH_OK;
}

static enum th_error_code run_now(struct scene *scene, const struct brought *job)
{
    return scene_run_now(scene, &job->id, NOW);
}

static enum th_error_code revive(struct scene *scene, const struct brought *job)
{
    return scene_requeue(scene, &job->id, 0, NOW);
}

static enum th_error_code remove_it(struct scene *scene, const struct brought *job)
{
    return scene_remove(scene, &job->id);
}

/* `refused` is the verdict where the pair is not allowed: TH_OK where nobody asks for the job by
 * its id. What leads to the state `repeats` is a success when it is repeated. */
/* clang-format off */
static const struct {
    const char *name;
    enum th_error_code (*apply)(struct scene *scene, const struct brought *job);
    enum th_error_code refused;
    enum job_state repeats;
} events[] = {
    [EVENT_DUE]     = {"due",     let_due,     TH_OK,            GONE},
    [EVENT_RESERVE] = {"reserve", reserve,     TH_OK,            GONE},
    [EVENT_ACK]     = {"ack",     ack,         TH_E_NOT_RUNNING, JOB_DONE},
    [EVENT_RETRY]   = {"retry",   retry,       TH_E_NOT_RUNNING, GONE},
    [EVENT_FAIL]    = {"fail",    die,         TH_E_NOT_RUNNING, JOB_DEAD},
    [EVENT_RELEASE] = {"release", release,     TH_E_NOT_RUNNING, GONE},
    [EVENT_SNOOZE]  = {"snooze",  snooze,      TH_E_NOT_RUNNING, GONE},
    [EVENT_ASIDE]   = {"aside",   set_aside,   TH_E_NOT_RUNNING, GONE},
    [EVENT_CANCEL]  = {"cancel",  cancel,      TH_E_CONFLICT,    GONE},
    [EVENT_EXPIRE]  = {"expire",  let_expire,  TH_OK,            GONE},
    [EVENT_UNBLOCK] = {"unblock", let_unblock, TH_OK,            GONE},
    [EVENT_MERGE]   = {"merge",   let_merge,   TH_OK,            GONE},
    [EVENT_UPDATE]  = {"update",  update,      TH_OK,            GONE},
    [EVENT_RUN]     = {"run",     run_now,     TH_E_CONFLICT,    JOB_READY},
    [EVENT_REVIVE]  = {"revive",  revive,      TH_E_CONFLICT,    GONE},
    [EVENT_REMOVE]  = {"remove",  remove_it,   TH_E_CONFLICT,    GONE},
};
/* clang-format on */

static void assert_state_is(struct scene *scene, const struct brought *job, enum job_state expected)
{
    if (expected == GONE)
        ck_assert(!scene_has(scene, &job->id));
    else
        ASSERT_STATE(scene, &job->id, expected);
}

START_TEST(every_pair_of_state_and_event_does_what_the_table_says)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    enum job_state state = (enum job_state)(_i / JOB_EVENTS);
    enum job_event event = (enum job_event)(_i % JOB_EVENTS);
    const struct change *change = find_change(state, event);
    struct brought job = bring(&scene, state);
    AUTO_FREE char *before = scene_snapshot(&scene, &job.id);
    bool allowed = job_state_allows(state, event);

    ck_assert_msg(allowed == (change != NULL), "%s, %s: state.c and this file do not agree",
                  job_state_name(state), events[event].name);
    enum th_error_code verdict = events[event].apply(&scene, &job);
    enum th_error_code expected =
        allowed || events[event].repeats == state ? TH_OK : events[event].refused;
    ck_assert_msg(verdict == expected, "%s, %s: answered %s", job_state_name(state),
                  events[event].name, error_code_name(verdict));

    AUTO_FREE char *after = scene_snapshot(&scene, &job.id);
    if (!allowed) {
        ck_assert_str_eq(after, before);
        return;
    }
    ck_assert_msg(strcmp(after, before) != 0, "%s, %s: nothing happened", job_state_name(state),
                  events[event].name);
    assert_state_is(&scene, &job, change->to);
}
END_TEST

Suite *states_suite(void)
{
    Suite *suite = suite_create("states");
    TCase *group = contract_group(suite, "states");

    tcase_add_loop_test(group, every_pair_of_state_and_event_does_what_the_table_says, 0,
                        JOB_STATES * JOB_EVENTS);
    return suite;
}

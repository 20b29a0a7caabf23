/*
 * test_gone_handler.c - jobs whose handler could not be started, and is not there any more.
 */
#include "periodic/gone_handler.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "periodic/scene.h"
#include "suites.h"

#define NOT_MINE "{\"queues\":[{\"name\":\"default\"}],\"handlers\":[{\"pattern\":\"other\"}]}"
#define MINE     "{\"queues\":[{\"name\":\"default\"}],\"handlers\":[{\"pattern\":\"test:*\"}]}"
#define SILENT   (61 * USEC_PER_SEC)

static const struct {
    const char *rule;
    const char *handler, *queue; /* of this pool */
    const char *status;          /* of another one; NULL: there is none */
    usec_t silent_for;
    enum job_aside why, after;
} cases[] = {
    {"nobody handles it", "other", QUEUE, NULL, 0, ASIDE_CANNOT_START, ASIDE_NONE},
    {"nor does another pool", "other", QUEUE, NOT_MINE, 0, ASIDE_CANNOT_START, ASIDE_NONE},
    {"nor one that has died", "other", QUEUE, MINE, SILENT, ASIDE_CANNOT_START, ASIDE_NONE},
    {"we do", "test:*", QUEUE, NULL, 0, ASIDE_CANNOT_START, ASIDE_CANNOT_START},
    {"another pool does", "other", QUEUE, MINE, 0, ASIDE_CANNOT_START, ASIDE_CANNOT_START},
    {"so may one that does not say", "other", QUEUE, "{}", 0, ASIDE_CANNOT_START,
     ASIDE_CANNOT_START},
    {"it is not our queue", "other", "mail", NULL, 0, ASIDE_CANNOT_START, ASIDE_CANNOT_START},
    {"it is known that there is none", "other", QUEUE, NULL, 0, ASIDE_NO_HANDLER, ASIDE_NO_HANDLER},
};

static struct uuid set_aside(struct scene *scene, enum job_aside why)
{
    CLEANUP(job_list_done) struct job_list jobs = {0};
    const usec_t now = scene_now(scene);
    const struct uuid id = scene_add(scene, 0, now);
    const struct job *job = scene_take(scene, LEASE, now, &jobs);
    const struct settlement settlement = {.job = id,
                                          .queue = QUEUE,
                                          .token = job->token,
                                          .kind = SETTLE_ASIDE,
                                          .aside = why,
                                          .aside_since = now};
    const struct settlement_list finished = {.items = &settlement, .count = 1};
    enum th_error_code verdict;
    struct error err;

    MUST(store_settle(scene->store, &finished, now, &verdict, &err));
    return id;
}

/* Whether there may be more. */
static bool look(struct scene *scene)
{
    CLEANUP(aside_list_done) struct aside_list types = {0};
    struct error err;
    bool left_any;

    MUST(store_aside(scene->store, NULL, 0, &types, &err));
    MUST(gone_handler_bring_back(scene->store, &scene->config, POOL, &types, 2, &left_any, &err));
    return left_any;
}

static enum job_aside aside_of(struct scene *scene, const struct uuid *id)
{
    CLEANUP(job_list_done) struct job_list jobs = {0};

    return scene_get(scene, id, &jobs)->aside;
}

/* What this pool said of itself before its config changed is still in the store. */
START_TEST(what_nobody_handles_is_looked_at_again)
{
    struct handler_config handler = {.pattern = cases[_i].handler};
    struct queue_config queue = {.name = cases[_i].queue};
    CLEANUP(scene_close) struct scene scene = scene_open();

    scene.config.handlers = &handler;
    scene.config.handler_count = 1;
    scene.config.queues = &queue;
    scene.config.queue_count = 1;
    scene_register(&scene, POOL, MINE, scene_now(&scene));
    if (cases[_i].status)
        scene_register(&scene, "b.1", cases[_i].status, scene_now(&scene) - cases[_i].silent_for);
    const struct uuid id = set_aside(&scene, cases[_i].why);
    look(&scene);
    ck_assert_msg(aside_of(&scene, &id) == cases[_i].after, "%s", cases[_i].rule);
}
END_TEST

START_TEST(what_one_look_leaves_the_next_one_finds)
{
    struct queue_config queue = {.name = QUEUE};
    CLEANUP(scene_close) struct scene scene = scene_open();

    scene.config.queues = &queue;
    scene.config.queue_count = 1;
    for (int i = 0; i < 3; i++)
        set_aside(&scene, ASIDE_CANNOT_START);
    ck_assert(look(&scene));
    ck_assert(!look(&scene));
}
END_TEST

Suite *gone_handler_suite(void)
{
    Suite *suite = suite_create("periodic/gone_handler");
    TCase *looks = tcase_create("looks");

    tcase_add_loop_test(looks, what_nobody_handles_is_looked_at_again, 0, COUNT_OF(cases));
    tcase_add_test(looks, what_one_look_leaves_the_next_one_finds);
    tcase_set_timeout(looks, 60);
    suite_add_tcase(suite, looks);
    return suite;
}

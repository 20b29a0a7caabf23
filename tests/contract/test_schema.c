/*
 * test_schema.c - a schema is made once, checked always, and never by the wrong binary.
 */
#include "bring.h"
#include "companion.h"
#include "contract.h"

#include <string.h>

#define RACERS 32

static struct store_schema schema_of(struct scene *scene)
{
    struct store_schema schema = {0};
    struct error err = {0};

    MUST(store_schema(scene->store, &schema, &err));
    return schema;
}

static bool open_with(struct scene *scene, bool migrate, struct error *err)
{
    const struct store_options options = {.migrate = migrate};

    store_close(&scene->store);
    return store_open(scene->url, &options, &scene->store, err);
}

START_TEST(migrate_fresh)
{
    CLEANUP(scene_close) struct scene scene = scene_name_fresh();

    scene_reopen(&scene);
    struct store_schema schema = schema_of(&scene);
    ck_assert_int_ge(schema.newest, 1);
    ck_assert_int_eq(schema.version, schema.newest);
    ck_assert_int_ge(schema.usable_from, 1);
    ck_assert_int_le(schema.usable_from, schema.version);
    scene_add(&scene);
    scene_take(&scene, NOW);
}
END_TEST

/* Where nothing is, nothing is made by somebody who did not ask for it. */
START_TEST(without_migrate_nothing_is_made)
{
    CLEANUP(scene_close) struct scene scene = scene_name_fresh();
    struct error err = {0};

    if (scene_backend()->fleeting)
        return; /* such a store is as old as its users: there is nothing to find */
    ck_assert(!open_with(&scene, false, &err));
    ck_assert(err.code == TH_E_SCHEMA || err.code == TH_E_UNAVAILABLE);
    ck_assert_ptr_null(scene.store);
    ck_assert(!open_with(&scene, false, &err));
}
END_TEST

START_TEST(migrate_twice)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid id = scene_add(&scene);
    AUTO_FREE char *before = scene_snapshot(&scene, &id);
    struct store_schema first = schema_of(&scene);
    struct error err = {0};

    for (int i = 0; i < 2; i++) {
        MUST(open_with(&scene, i == 0, &err));
        struct store_schema again = schema_of(&scene);
        ck_assert_int_eq(again.version, first.version);
        ck_assert_int_eq(again.usable_from, first.usable_from);
        assert_unchanged(&scene, &id, before);
    }
}
END_TEST

static void migrate_and_use(struct racer *racer)
{
    CLEANUP(job_list_done) struct job_list list = {0};
    struct uuid_maker ids = {0};
    struct job job = job_defaults();
    struct enqueued enqueued;
    struct error err = {0};

    racer->store = child_open(racer->scene->url);
    job.id = uuid_make(&ids, NOW);
    job.type = "work";
    job.queue = racer->scene->queue;
    child_must(store_enqueue(racer->store, &job, 1, NOW, &enqueued, &err), &err);
    child_must(store_get(racer->store, &job.id, &list, &err), &err);
    race_report(racer, &job.id, sizeof job.id);
}

START_TEST(migrate_concurrently_32)
{
    CLEANUP(scene_close) struct scene scene = scene_name_fresh();
    CLEANUP(buffer_done) struct buffer reports = {0};

    race(&scene, RACERS, migrate_and_use, NULL, &reports);
    ck_assert_uint_eq(reports.length, RACERS * sizeof(struct uuid));
    scene_reopen(&scene);
    struct store_schema schema = schema_of(&scene);
    ck_assert_int_eq(schema.version, schema.newest);
    if (!scene_backend()->fleeting)
        ck_assert_uint_eq(scene_count(&scene), RACERS);
}
END_TEST

START_TEST(newer_schema_refused)
{
    CLEANUP(scene_close) struct scene scene = scene_open_fresh();
    struct uuid id = scene_add(&scene);
    AUTO_FREE char *before = scene_snapshot(&scene, &id);
    struct store_schema own = schema_of(&scene);
    void (*set_schema)(const char *, int, int) = scene_backend()->backdoor->set_schema;
    struct error err = {0};

    store_close(&scene.store);
    set_schema(scene.url, own.newest + 1, own.newest + 1);
    for (int migrate = 0; migrate < 2; migrate++) {
        MUST_FAIL(TH_E_SCHEMA, open_with(&scene, migrate == 1, &err));
        ck_assert_ptr_null(scene.store);
    }
    set_schema(scene.url, own.version, own.usable_from);
    scene_reopen(&scene);
    assert_unchanged(&scene, &id, before);
}
END_TEST

START_TEST(schema_checks_reject_inflight_without_lease_and_lease_without_inflight)
{
    CLEANUP(scene_close) struct scene scene = scene_open();
    enum violation violation = (enum violation)_i;
    struct brought brought =
        bring(&scene, violation == RUNNING_WITHOUT_LEASE ? JOB_READY : JOB_RUNNING);
    AUTO_FREE char *before = scene_snapshot(&scene, &brought.id);

    ck_assert(scene_backend()->backdoor->refuses(scene.url, &brought.id, violation));
    assert_unchanged(&scene, &brought.id, before);
}
END_TEST

Suite *schema_suite(void)
{
    Suite *suite = suite_create("schema");
    TCase *group = contract_group(suite, "schema");

    tcase_add_test(group, migrate_fresh);
    tcase_add_test(group, without_migrate_nothing_is_made);
    tcase_add_test(group, migrate_twice);
    tcase_add_loop_test(group, migrate_concurrently_32, 0, 8);
    tcase_add_test(group, newer_schema_refused);
    tcase_add_loop_test(group,
                        schema_checks_reject_inflight_without_lease_and_lease_without_inflight, 0,
                        VIOLATIONS);
    return suite;
}

/*
 * scene.h - what the tests of <taskharbor/client.h> play in: a client on a backend of its own.
 */
#ifndef TESTS_CLIENT_SCENE_H
#define TESTS_CLIENT_SCENE_H

#include "base/base.h"
#include "job/settlement.h"

#include <check.h>
#include <taskharbor/client.h>

/* Backends for loop tests: the index is the backend. */
#define SCENE_BACKENDS 2
#define SCENE_SQLITE   1 /* the one that a second handle can open too */

struct scene {
    char folder[64]; /* for files, removed with the scene */
    char url[128];
    struct th_client *client;
    struct th_failure failure;
};

/* An empty backend, open. */
struct scene scene_open(int backend);

/* The same, but nobody has opened it yet. */
struct scene scene_make(int backend);

void scene_done(struct scene *scene);

/* Stores one job and gives back its id, valid until the next call. */
const char *scene_enqueue(struct scene *scene, const char *type);

/* The job as it is stored; freed by the caller. */
struct th_job_info *scene_get(struct scene *scene, const char *id);

/* Runs the next ready job of the queue `default` as a pool would, and ends it like this. Only for
 * SCENE_SQLITE. */
void scene_run_next(const struct scene *scene, enum settlement_kind kind, const char *error);

/* The same until settled: progress is reported and the job goes on running. */
void scene_start_next(const struct scene *scene, int percent, const char *text);

/* That the last call failed with this code and a text that begins with `text`. */
#define scene_assert_failure(scene, expected, beginning)                                           \
    do {                                                                                           \
        ck_assert_msg((scene)->failure.code == (expected), "%s: %s",                               \
                      th_error_name((scene)->failure.code), (scene)->failure.text);                \
        ck_assert_msg(strncmp((scene)->failure.text, (beginning), strlen(beginning)) == 0,         \
                      "'%s' does not begin with '%s'", (scene)->failure.text, (beginning));        \
    } while (0)

#define scene_assert_worked(scene, call)                                                           \
    ck_assert_msg((call), "%s: %s", th_error_name((scene)->failure.code), (scene)->failure.text)

#endif

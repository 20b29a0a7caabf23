/*
 * companion.h - other processes in a case: one to talk to, or many that race.
 *
 * A handle belongs to one process, so the scene's is closed while the processes are forked; the
 * parent opens it again, each child opens its own.
 */
#ifndef TESTS_CONTRACT_COMPANION_H
#define TESTS_CONTRACT_COMPANION_H

#include "base/base.h"
#include "base/buffer.h"
#include "child.h"
#include "scene.h"

#include <sys/types.h>

/* ---- one companion ---- */

/* Either end of it: `pid` is 0 in the companion itself. */
struct companion {
    pid_t pid;
    int fd;
};

typedef void companion_main(struct companion *parent, const struct scene *scene,
                            const void *context);

/* Runs `main` in a process of its own; it starts when the scene has its handle again. */
struct companion companion_start(struct scene *scene, companion_main *main, const void *context);

void companion_tell(struct companion *other, char word);
char companion_hear(struct companion *other); /* 0 when it has ended */

/* Until it sleeps in the call that it announced. */
void companion_await_sleep(const struct companion *companion);

void companion_kill(struct companion *companion);

/* Waits for its end, which must be a success. */
void companion_end(struct companion *companion);

/* A companion that keeps everybody else from writing, until it is killed. */
struct companion companion_block_store(struct scene *scene);

/* ---- many racers ---- */

struct racer {
    struct store *store; /* its own; NULL when the scene has none */
    const struct scene *scene;
    unsigned number; /* from 0 */
    const void *context;
    int report_fd;
};

typedef void racer_main(struct racer *racer);

#define RACE_RECORD_MAX 512

/* Tells the parent what this racer won. */
void race_report(struct racer *racer, const void *record, size_t size);

/* Starts all of them at once. When they have ended, every record is in `reports`, in any order. */
void race(struct scene *scene, unsigned count, racer_main *main, const void *context,
          struct buffer *reports);

#endif

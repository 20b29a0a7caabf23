/*
 * companion.c - other processes in a case: one to talk to, or many that race.
 */
#include "companion.h"

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define RACERS_MAX  64
#define REPORTS_MAX ((size_t)16 << 20)

static void await_success(pid_t pid)
{
    int status = 0;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS,
                  "a process of the case failed, wait status 0x%x", (unsigned)status);
}

/* ---- one companion ---- */

struct companion companion_start(struct scene *scene, companion_main *main, const void *context)
{
    int ends[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    store_close(&scene->store);
    pid_t pid = child_fork();
    ck_assert_int_ge(pid, 0);

    if (pid == 0) {
        struct companion parent = {.fd = ends[1]};
        close(ends[0]);
        if (companion_hear(&parent) != 0)
            main(&parent, scene, context);
        _exit(EXIT_SUCCESS);
    }
    struct companion companion = {.pid = pid, .fd = ends[0]};
    close(ends[1]);
    scene_reopen(scene);
    companion_tell(&companion, 'g');
    return companion;
}

void companion_tell(struct companion *other, char word)
{
    struct error err = {0};

    if (other->pid == 0)
        child_must(io_write_all(other->fd, &word, 1, &err), &err);
    else
        MUST(io_write_all(other->fd, &word, 1, &err));
}

char companion_hear(struct companion *other)
{
    char word = 0;
    ssize_t got;

    do
        got = read(other->fd, &word, 1);
    while (got < 0 && errno == EINTR);
    return got == 1 ? word : 0;
}

/* The letter after the last ')' of /proc/PID/stat: R, S, D, Z... */
static char process_state(pid_t pid)
{
    char path[64], text[512];

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    const char *name_end = strrchr(text, ')');
    ck_assert_msg(name_end && strlen(name_end) > 2, "%s is not as expected", path);
    return name_end[2];
}

void companion_await_sleep(const struct companion *companion)
{
    char state;

    while ((state = process_state(companion->pid)) != 'S') {
        ck_assert_msg(state != 'Z', "the companion ended instead of waiting");
        sched_yield();
    }
}

void companion_kill(struct companion *companion)
{
    int status = 0;

    ck_assert_int_eq(kill(companion->pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(companion->pid, &status, 0), companion->pid);
    ck_assert_msg(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0,
                  "the companion had failed before, wait status 0x%x", (unsigned)status);
    close(companion->fd);
}

void companion_end(struct companion *companion)
{
    shutdown(companion->fd, SHUT_WR);
    await_success(companion->pid);
    close(companion->fd);
}

static void block_store(struct companion *parent, const struct scene *scene, const void *context)
{
    (void)context;
    scene_backend()->backdoor->block(scene->url);
    companion_tell(parent, 'b');
    companion_hear(parent);
}

struct companion companion_block_store(struct scene *scene)
{
    struct companion companion = companion_start(scene, block_store, NULL);

    ck_assert_int_eq(companion_hear(&companion), 'b');
    return companion;
}

/* ---- many racers ---- */

/* Ready: each racer writes a byte. Start: the parent closes it. Report: what they won. */
struct race_pipes {
    int ready[2], start[2], report[2];
};

void race_report(struct racer *racer, const void *record, size_t size)
{
    struct error err = {0};

    /* Up to PIPE_BUF bytes are written in one piece, so records do not mix. */
    child_must(size <= RACE_RECORD_MAX && io_write_all(racer->report_fd, record, size, &err), &err);
}

static void run_racer(struct racer *racer, const struct race_pipes *pipes, bool opens,
                      racer_main *main)
{
    struct error err = {0};
    char byte = 'r';

    close(pipes->start[1]);
    close(pipes->report[0]);
    racer->report_fd = pipes->report[1];
    bool opened =
        !opens || backend_open(scene_backend(), racer->scene->url, 0, &racer->store, &err);

    /* One that cannot take part is counted as well, or the others would wait for ever. */
    child_must(write(pipes->ready[1], &byte, 1) == 1, &err);
    child_must(opened, &err);
    while (read(pipes->start[0], &byte, 1) < 0 && errno == EINTR)
        ;
    main(racer);
    store_close(&racer->store);
    _exit(EXIT_SUCCESS);
}

static void start_together(const struct race_pipes *pipes, unsigned count)
{
    char byte;

    for (unsigned ready = 0; ready < count; ready++)
        ck_assert_int_eq(read(pipes->ready[0], &byte, 1), 1);
    close(pipes->start[1]);
}

void race(struct scene *scene, unsigned count, racer_main *main, const void *context,
          struct buffer *reports)
{
    struct race_pipes pipes;
    struct error err = {0};
    pid_t pids[RACERS_MAX];
    bool opens = scene->store != NULL;

    ck_assert_uint_le(count, RACERS_MAX);
    ck_assert(pipe2(pipes.ready, O_CLOEXEC) == 0 && pipe2(pipes.start, O_CLOEXEC) == 0 &&
              pipe2(pipes.report, O_CLOEXEC) == 0);
    store_close(&scene->store);
    for (unsigned i = 0; i < count; i++) {
        struct racer racer = {.scene = scene, .number = i, .context = context};
        pids[i] = child_fork();
        ck_assert_int_ge(pids[i], 0);
        if (pids[i] == 0)
            run_racer(&racer, &pipes, opens, main);
    }
    close(pipes.report[1]);
    start_together(&pipes, count);
    reports->limit = REPORTS_MAX;
    MUST(io_read_all(pipes.report[0], "the racers' reports", reports, &err));
    for (unsigned i = 0; i < count; i++)
        await_success(pids[i]);
    close(pipes.report[0]);
    close(pipes.ready[0]);
    close(pipes.ready[1]);
    close(pipes.start[0]);
    if (opens)
        scene_reopen(scene);
}

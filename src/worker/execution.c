/*
 * execution.c - runs one program to its end, and everything that it started.
 *
 * All of it happens in the loop: input is written as far as the program reads it, output is read as
 * it comes, whoever else watches something in the loop is served meanwhile.
 *
 * Invariants:
 *   - The program's pid is signalled only before it is waited for; until then it is nobody else's.
 *   - It is waited for once, in collect(), after a KILL to its group.
 *   - Output is not waited for once the program and all it left behind are gone: what is in the
 *     pipes is read, and whoever else holds their other ends is left alone with them.
 */
#include "worker/execution.h"

#include "base/clock.h"
#include "base/error.h"
#include "process/loop.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK_SIZE  ((size_t)64 * 1024)
#define FINAL_READS 16 /* a pipe holds 1 MiB at most, unless root made it larger */
#define FIRST_PAUSE (USEC_PER_MSEC / 5)
#define LONG_PAUSE  (50 * USEC_PER_MSEC)
#define GROUP_PAUSE (5 * USEC_PER_MSEC)

enum phase {
    PHASE_IDLE,
    PHASE_RUNNING,
    PHASE_CLEARING,
    PHASE_ENDED,
};

struct stream {
    struct execution *execution;
    enum execution_stream which;
    struct loop_watch watch; /* its descriptor is owned; -1 when closed */
};

struct execution {
    struct loop *loop;
    const pid_t *spared;
    size_t spared_count;

    enum phase phase;
    const struct execution_plan *plan;
    struct child child;
    struct loop_watch child_watch;
    struct stream streams[SPAWN_FDS];
    struct bytes unsent; /* of the input */
    struct loop_timer deadline, kill_timer, group_timer, clear_timer;
    usec_t clear_pause;
    struct execution_end end;
    usec_t started;
    bool failed; /* this process cannot go on */
    struct error failure;
    unsigned char chunk[CHUNK_SIZE];
};

static void fail(struct execution *execution, const struct error *err)
{
    if (!execution->failed)
        execution->failure = *err;
    execution->failed = true;
}

static void close_stream(struct stream *stream)
{
    if (stream->watch.fd < 0)
        return;
    loop_unwatch(stream->execution->loop, &stream->watch);
    close(stream->watch.fd);
    stream->watch.fd = -1;
}

/* As much as there is room for. Closed when all is sent, or nobody wants it. */
static void send_input(struct stream *stream)
{
    struct bytes *unsent = &stream->execution->unsent;

    while (unsent->length > 0) {
        const ssize_t count = write(stream->watch.fd, unsent->data, unsent->length);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EAGAIN)
            return;
        if (count < 0)
            break;
        unsent->data += count;
        unsent->length -= (size_t)count;
    }
    close_stream(stream);
}

/* False when there is no more for now. */
static bool receive(struct stream *stream)
{
    struct execution *execution = stream->execution;
    const ssize_t count = read(stream->watch.fd, execution->chunk, CHUNK_SIZE);

    if (count < 0 && (errno == EINTR || errno == EAGAIN))
        return errno == EINTR;
    if (count <= 0) {
        close_stream(stream);
        return false;
    }
    execution->plan->received(execution->plan->context, stream->which,
                              (struct bytes){execution->chunk, (size_t)count});
    return true;
}

static void stream_is_ready(void *context, unsigned events)
{
    struct stream *stream = context;

    (void)events;
    if (stream->which == STREAM_INPUT)
        send_input(stream);
    else
        receive(stream);
}

/* Our end does not block, the program's does. */
static bool open_stream(struct stream *stream, int *theirs_out, struct error *err)
{
    const bool is_input = stream->which == STREAM_INPUT;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        return error_errno(err, TH_E_UNAVAILABLE, errno, "open a pipe");
    stream->watch.fd = ends[is_input ? 1 : 0];
    *theirs_out = ends[is_input ? 0 : 1];
    if (fcntl(stream->watch.fd, F_SETFL, O_NONBLOCK))
        return error_errno(err, TH_E_UNAVAILABLE, errno, "set up a pipe");
    return true;
}

static bool open_streams(struct execution *execution, int theirs[SPAWN_FDS], struct error *err)
{
    for (int i = 0; i < SPAWN_FDS; i++) {
        if (!open_stream(&execution->streams[i], &theirs[i], err))
            return false;
    }
    return true;
}

static bool start(struct execution *execution, struct error *err)
{
    struct spawn spawn = execution->plan->spawn;

    for (int i = 0; i < SPAWN_FDS; i++)
        spawn.fds[i] = -1;
    const bool opened = open_streams(execution, spawn.fds, err);
    /* What the pipe holds is there when the program first looks. */
    if (opened)
        send_input(&execution->streams[STREAM_INPUT]);
    execution->started = clock_boot();
    const bool started = opened && spawn_start(&spawn, &execution->child, err);
    for (int i = 0; i < SPAWN_FDS; i++) {
        if (spawn.fds[i] >= 0)
            close(spawn.fds[i]);
    }
    return started;
}

static bool watch_all(struct execution *execution, struct error *err)
{
    execution->child_watch.fd = execution->child.pidfd;
    if (!loop_watch(execution->loop, &execution->child_watch, LOOP_READ, err))
        return false;
    for (int i = 0; i < SPAWN_FDS; i++) {
        struct stream *stream = &execution->streams[i];
        const unsigned events = stream->which == STREAM_INPUT ? LOOP_WRITE : LOOP_READ;

        if (stream->watch.fd >= 0 && !loop_watch(execution->loop, &stream->watch, events, err))
            return false;
    }
    return true;
}

static void signal_group(const struct execution *execution, int number)
{
    assert(execution->phase == PHASE_RUNNING);
    kill(-execution->child.pid, number);
}

static void time_is_up(void *context)
{
    struct execution *execution = context;

    execution_stop(execution, STOP_TIMEOUT, execution->plan->kill_grace);
}

static void clear(void *context)
{
    struct execution *execution = context;
    struct error err;
    bool left = false;

    if (!orphans_kill(execution->spared, execution->spared_count, &execution->end.usage, &left,
                      &err))
        fail(execution, &err);
    if (!left) {
        execution->phase = PHASE_ENDED;
        return;
    }
    loop_set_timer(execution->loop, &execution->clear_timer, clock_boot() + execution->clear_pause);
    if (execution->clear_pause < LONG_PAUSE)
        execution->clear_pause *= 2;
}

static void note_status(struct execution_end *end, int status)
{
    if (WIFEXITED(status))
        end->exit_code = WEXITSTATUS(status);
    else
        end->signal = WTERMSIG(status);
}

/* It has ended, and still holds its pid and its group: the last moment to kill what is in that. */
static void collect(struct execution *execution)
{
    struct rusage used;
    int status;

    signal_group(execution, SIGKILL);
    while (wait4(execution->child.pid, &status, 0, &used) < 0)
        assert(errno == EINTR);
    execution->end.wall = clock_boot() - execution->started;
    usage_add(&execution->end.usage, &used);
    note_status(&execution->end, status);
    execution->phase = PHASE_CLEARING;
}

static void clear_timers(struct execution *execution)
{
    loop_clear_timer(execution->loop, &execution->deadline);
    loop_clear_timer(execution->loop, &execution->kill_timer);
    loop_clear_timer(execution->loop, &execution->group_timer);
    loop_clear_timer(execution->loop, &execution->clear_timer);
}

static void collect_and_clear(struct execution *execution)
{
    collect(execution);
    clear_timers(execution);
    execution->clear_pause = FIRST_PAUSE;
    clear(execution);
}

/* A shell ends on TERM at once; what it ran has the rest of the grace to end in its own way. */
static void wait_for_group(void *context)
{
    struct execution *execution = context;
    struct error err;
    bool live = false;

    if (!orphans_live_in(execution->child.pid, &live, &err))
        fail(execution, &err);
    if (live)
        loop_set_timer(execution->loop, &execution->group_timer, clock_boot() + GROUP_PAUSE);
    else
        collect_and_clear(execution);
}

static void has_ended(void *context, unsigned events)
{
    struct execution *execution = context;

    (void)events;
    loop_unwatch(execution->loop, &execution->child_watch);
    if (execution->kill_timer.is_on)
        wait_for_group(execution);
    else
        collect_and_clear(execution);
}

static void grace_is_over(void *context)
{
    struct execution *execution = context;

    if (execution->child_watch.is_on)
        signal_group(execution, SIGKILL);
    else
        collect_and_clear(execution); /* only its group was waited for */
}

static bool step_to_end(struct execution *execution, struct error *err)
{
    if (!watch_all(execution, err))
        return false;
    if (execution->plan->timeout > 0)
        loop_set_timer(execution->loop, &execution->deadline,
                       execution->started + execution->plan->timeout);
    while (execution->phase != PHASE_ENDED) {
        if (!loop_step(execution->loop, err))
            return false;
    }
    for (int i = STREAM_OUTPUT; i < SPAWN_FDS; i++) {
        struct stream *stream = &execution->streams[i];

        for (int reads = 0; reads < FINAL_READS && stream->watch.fd >= 0 && receive(stream);)
            reads++;
    }
    return true;
}

static void let_go(struct execution *execution)
{
    if (execution->phase == PHASE_RUNNING) /* the loop failed: nothing may stay behind */
        collect(execution);
    for (int i = 0; i < SPAWN_FDS; i++)
        close_stream(&execution->streams[i]);
    loop_unwatch(execution->loop, &execution->child_watch);
    clear_timers(execution);
    if (execution->child.pidfd >= 0)
        close(execution->child.pidfd);
    execution->child.pidfd = -1;
    execution->phase = PHASE_IDLE;
}

static void prepare(struct execution *execution)
{
    for (int i = 0; i < SPAWN_FDS; i++) {
        struct stream *stream = &execution->streams[i];

        *stream = (struct stream){.execution = execution, .which = (enum execution_stream)i};
        stream->watch = (struct loop_watch){.fd = -1, .call = stream_is_ready, .context = stream};
    }
    execution->child_watch = (struct loop_watch){.call = has_ended, .context = execution};
    execution->deadline = (struct loop_timer){.call = time_is_up, .context = execution};
    execution->kill_timer = (struct loop_timer){.call = grace_is_over, .context = execution};
    execution->group_timer = (struct loop_timer){.call = wait_for_group, .context = execution};
    execution->clear_timer = (struct loop_timer){.call = clear, .context = execution};
    execution->end = (struct execution_end){.exit_code = -1};
    execution->child.pidfd = -1;
    execution->failed = false;
}

bool execution_open(struct loop *loop, struct execution **execution_out, struct error *err)
{
    if (!orphans_adopt(err))
        return false;
    *execution_out = calloc(1, sizeof **execution_out);
    if (!*execution_out)
        return error_no_memory(err);
    (*execution_out)->loop = loop;
    return true;
}

void execution_close(struct execution **execution)
{
    assert(!*execution || (*execution)->phase == PHASE_IDLE);
    free(*execution);
    *execution = NULL;
}

void execution_spare(struct execution *execution, const pid_t *spared, size_t count)
{
    execution->spared = spared;
    execution->spared_count = count;
}

bool execution_run(struct execution *execution, const struct execution_plan *plan,
                   struct execution_end *end_out, struct error *err)
{
    assert(execution->phase == PHASE_IDLE);
    prepare(execution);
    execution->plan = plan;
    execution->unsent = plan->input;

    bool ok = start(execution, err);
    if (ok) {
        execution->phase = PHASE_RUNNING;
        ok = step_to_end(execution, err);
    }
    let_go(execution);
    if (ok && execution->failed) {
        *err = execution->failure;
        ok = false;
    }
    *end_out = execution->end;
    return ok;
}

/* It ended before anybody asked it to, and only its event is still to come. */
static bool is_over(const struct execution *execution)
{
    siginfo_t info = {0};

    return waitid(P_PID, (id_t)execution->child.pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid != 0;
}

void execution_stop(struct execution *execution, enum execution_stop why, usec_t grace)
{
    const usec_t kill_at = clock_boot() + grace;

    assert(why != STOP_NONE);
    if (execution->phase != PHASE_RUNNING)
        return;
    if (execution->end.stop == STOP_NONE && !is_over(execution)) {
        execution->end.stop = why;
        loop_clear_timer(execution->loop, &execution->deadline);
        signal_group(execution, SIGTERM);
        signal_group(execution, SIGCONT); /* one that is stopped would not hear it */
        loop_set_timer(execution->loop, &execution->kill_timer, kill_at);
    } else if (execution->kill_timer.is_on && kill_at < execution->kill_timer.at) {
        loop_set_timer(execution->loop, &execution->kill_timer, kill_at);
    }
}

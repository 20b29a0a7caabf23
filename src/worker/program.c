/*
 * program.c - a program that runs: what goes in, what comes out, how it is stopped, how it ends.
 *
 * Input is written as far as the program reads it, output is read as it comes, and whoever else
 * watches something in the loop is served meanwhile.
 *
 * Invariants:
 *   - The program's pid is signalled only before it is waited for; until then it is nobody else's.
 *   - It is waited for once, in collect(), after a KILL to its group.
 *   - Output is not waited for once the program and all it left behind are gone: what is in the
 *     pipes is read, and whoever else holds their other ends is left alone with them.
 *   - While a program that does not stay runs, only its own end clears up: what it started may have
 *     become our child.
 */
#include "worker/program.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "process/account.h"
#include "worker/staying.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK_SIZE  ((size_t)64 * 1024)
#define FINAL_READS 16 /* a pipe holds 1 MiB at most, unless root made it larger */
#define FIRST_PAUSE (USEC_PER_MSEC / 5)
#define LONG_PAUSE  (50 * USEC_PER_MSEC)
#define GROUP_PAUSE (5 * USEC_PER_MSEC)

struct programs {
    struct loop *loop;
    const struct program *passing; /* the one that runs and does not stay; or NULL */
    struct staying staying;
    unsigned char chunk[CHUNK_SIZE]; /* what was read last */
};

static struct loop *loop_of(const struct program *program)
{
    return program->programs->loop;
}

static void fail(struct program *program, const struct error *err)
{
    if (!program->failed)
        program->failure = *err;
    program->failed = true;
}

static void enlist(const struct program *program)
{
    struct programs *programs = program->programs;

    if (program->stays)
        staying_add(&programs->staying, program->child.pid);
    else
        programs->passing = program;
}

/* ---- its pipes ---- */

static void close_pipe(struct program_pipe *pipe)
{
    if (pipe->watch.fd < 0)
        return;
    loop_unwatch(loop_of(pipe->program), &pipe->watch);
    close(pipe->watch.fd);
    pipe->watch.fd = -1;
}

static void note_closed(const struct program_pipe *pipe)
{
    const struct program *program = pipe->program;

    if (program->closed)
        program->closed(program->context, pipe->which);
}

/* As much as there is room for; false when nobody will read the rest. */
static bool write_input(struct program_pipe *pipe)
{
    struct bytes *unsent = &pipe->program->unsent;

    while (unsent->length > 0) {
        const ssize_t count = write(pipe->watch.fd, unsent->data, unsent->length);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return errno == EAGAIN;
        unsent->data += count;
        unsent->length -= (size_t)count;
    }
    return true;
}

/* The input of one that stays is kept open, even when it is of no use: it shows what was not read.
 */
static void send_input(struct program_pipe *pipe)
{
    const bool is_read = write_input(pipe);

    if (is_read && pipe->program->unsent.length > 0)
        return;
    if (pipe->program->stays)
        loop_unwatch(loop_of(pipe->program), &pipe->watch);
    else
        close_pipe(pipe);
    if (!is_read)
        note_closed(pipe);
}

/* False when there is no more for now. */
static bool receive(struct program_pipe *pipe)
{
    struct program *program = pipe->program;
    unsigned char *chunk = program->programs->chunk;
    const ssize_t count = read(pipe->watch.fd, chunk, CHUNK_SIZE);

    if (count < 0 && (errno == EINTR || errno == EAGAIN))
        return errno == EINTR;
    if (count <= 0) {
        close_pipe(pipe);
        note_closed(pipe);
        return false;
    }
    program->received(program->context, pipe->which, (struct bytes){chunk, (size_t)count});
    return true;
}

static void pipe_is_ready(void *context, unsigned events)
{
    struct program_pipe *pipe = context;

    (void)events;
    if (pipe->which == STREAM_INPUT)
        send_input(pipe);
    else
        receive(pipe);
}

/* Our end does not block, the program's does. */
static bool open_pipe(struct program_pipe *pipe, int *theirs_out, struct error *err)
{
    const bool is_input = pipe->which == STREAM_INPUT;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        return error_errno(err, TH_E_UNAVAILABLE, errno, "open a pipe");
    pipe->watch.fd = ends[is_input ? 1 : 0];
    *theirs_out = ends[is_input ? 0 : 1];
    if (fcntl(pipe->watch.fd, F_SETFL, O_NONBLOCK))
        return error_errno(err, TH_E_UNAVAILABLE, errno, "set up a pipe");
    return true;
}

/* Another user can use the pipes it was given, but can open them by name (/dev/stdout,
 * /proc/self/fd/3) only if they are its own. Where we may not give them away they stay ours. */
static void give_away(int fd, const struct account *account)
{
    if (account && !account->is_self && fchown(fd, account->uid, account->gid) < 0)
        return;
}

static bool open_pipes(struct program *program, struct spawn *spawn, struct error *err)
{
    for (int i = 0; i < program->stream_count; i++) {
        if (!open_pipe(&program->pipes[i], &spawn->fds[i], err))
            return false;
        give_away(spawn->fds[i], spawn->account);
    }
    return true;
}

static bool watch_input(struct program *program, struct error *err)
{
    struct program_pipe *pipe = &program->pipes[STREAM_INPUT];

    return pipe->watch.fd < 0 || program->unsent.length == 0 ||
           loop_watch(loop_of(program), &pipe->watch, LOOP_WRITE, err);
}

/* ---- its end ---- */

static void signal_group(const struct program *program, int number)
{
    assert(program->phase == PROGRAM_RUNNING);
    kill(-program->child.pid, number);
}

static void reach_end(struct program *program)
{
    program->phase = PROGRAM_ENDED;
    if (program->ended)
        program->ended(program->context);
}

static bool another_will_clear(const struct program *program)
{
    const struct program *passing = program->programs->passing;

    return program->stays && passing && passing->phase == PROGRAM_RUNNING;
}

static void clear(void *context)
{
    struct program *program = context;
    const struct programs *programs = program->programs;
    struct error err;
    bool left = false;

    if (!another_will_clear(program) &&
        !orphans_kill(programs->staying.pids, programs->staying.count, &program->end.usage, &left,
                      &err))
        fail(program, &err);
    if (!left) {
        reach_end(program);
        return;
    }
    program->clear_pause = backoff_next(program->clear_pause, FIRST_PAUSE, LONG_PAUSE);
    loop_set_timer(loop_of(program), &program->clear_timer, clock_boot() + program->clear_pause);
}

static void note_status(struct program_end *end, int status)
{
    if (WIFEXITED(status))
        end->exit_code = WEXITSTATUS(status);
    else
        end->signal = WTERMSIG(status);
}

/* Code of others in this process may have waited for it: then nobody knows how it ended. */
static void wait_for(struct program *program)
{
    struct rusage used;
    struct error err;
    int status;
    pid_t pid;

    do {
        pid = wait4(program->child.pid, &status, 0, &used);
    } while (pid < 0 && errno == EINTR);
    if (pid < 0) {
        error_errno(&err, TH_E_INTERNAL, errno, "see how program %d ended",
                    (int)program->child.pid);
        fail(program, &err);
        return;
    }
    usage_add(&program->end.usage, &used);
    note_status(&program->end, status);
}

/* It has ended, and still holds its pid and its group: the last moment to kill what is in that. */
static void collect(struct program *program)
{
    signal_group(program, SIGKILL);
    wait_for(program);
    staying_remove(&program->programs->staying, program->child.pid);
    program->end.wall = clock_boot() - program->started;
    program->phase = PROGRAM_CLEARING;
}

static void clear_timers(struct program *program)
{
    loop_clear_timer(loop_of(program), &program->kill_timer);
    loop_clear_timer(loop_of(program), &program->group_timer);
    loop_clear_timer(loop_of(program), &program->clear_timer);
}

static void collect_and_clear(struct program *program)
{
    collect(program);
    clear_timers(program);
    program->clear_pause = 0;
    clear(program);
}

/* A shell ends on TERM at once; what it ran has the rest of the grace to end in its own way. */
static void wait_for_group(void *context)
{
    struct program *program = context;
    struct error err;
    bool live = false;

    if (!orphans_live_in(program->child.pid, &live, &err))
        fail(program, &err);
    if (live)
        loop_set_timer(loop_of(program), &program->group_timer, clock_boot() + GROUP_PAUSE);
    else
        collect_and_clear(program);
}

static void has_ended(void *context, unsigned events)
{
    struct program *program = context;

    (void)events;
    loop_unwatch(loop_of(program), &program->child_watch);
    if (program->kill_timer.is_on)
        wait_for_group(program);
    else
        collect_and_clear(program);
}

static void grace_is_over(void *context)
{
    struct program *program = context;

    if (program->child_watch.is_on)
        signal_group(program, SIGKILL);
    else
        collect_and_clear(program); /* only its group was waited for */
}

/* It ended before anybody asked it to, and only its event is still to come. */
static bool is_over(const struct program *program)
{
    siginfo_t info = {0};

    return waitid(P_PID, (id_t)program->child.pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid != 0;
}

/* ---- its start ---- */

static void prepare(struct program *program)
{
    for (int i = 0; i < SPAWN_FDS; i++) {
        struct program_pipe *pipe = &program->pipes[i];

        *pipe = (struct program_pipe){.program = program, .which = (enum program_stream)i};
        pipe->watch = (struct loop_watch){.fd = -1, .call = pipe_is_ready, .context = pipe};
    }
    program->child_watch = (struct loop_watch){.call = has_ended, .context = program};
    program->kill_timer = (struct loop_timer){.call = grace_is_over, .context = program};
    program->group_timer = (struct loop_timer){.call = wait_for_group, .context = program};
    program->clear_timer = (struct loop_timer){.call = clear, .context = program};
    program->end = (struct program_end){.exit_code = -1};
    program->child.pidfd = -1;
    program->is_stopping = false;
    program->failed = false;
}

static bool give_birth(struct program *program, struct spawn *spawn, struct error *err)
{
    for (int i = 0; i < SPAWN_FDS; i++)
        spawn->fds[i] = -1;
    const bool opened = open_pipes(program, spawn, err);
    /* What the pipe holds is there when the program first looks. */
    if (opened)
        send_input(&program->pipes[STREAM_INPUT]);
    program->started = clock_boot();
    const bool started = opened && spawn_start(spawn, &program->child, err);
    for (int i = 0; i < SPAWN_FDS; i++) {
        if (spawn->fds[i] >= 0)
            close(spawn->fds[i]);
    }
    return started;
}

static bool watch_all(struct program *program, struct error *err)
{
    program->child_watch.fd = program->child.pidfd;
    if (!loop_watch(loop_of(program), &program->child_watch, LOOP_READ, err))
        return false;
    for (int i = STREAM_OUTPUT; i < program->stream_count; i++) {
        if (!loop_watch(loop_of(program), &program->pipes[i].watch, LOOP_READ, err))
            return false;
    }
    return watch_input(program, err);
}

bool programs_open(struct loop *loop, struct programs **programs_out, struct error *err)
{
    if (!orphans_adopt(err))
        return false;
    *programs_out = calloc(1, sizeof **programs_out);
    if (!*programs_out)
        return error_no_memory(err);
    (*programs_out)->loop = loop;
    return true;
}

void programs_close(struct programs **programs)
{
    if (!*programs)
        return;
    staying_done(&(*programs)->staying);
    free(*programs);
    *programs = NULL;
}

struct staying *programs_staying(struct programs *programs)
{
    return &programs->staying;
}

bool program_start(struct program *program, struct spawn *spawn, struct bytes input,
                   struct error *err)
{
    assert(program->phase == PROGRAM_IDLE);
    prepare(program);
    program->unsent = input;
    if (!staying_make_room(&program->programs->staying, err) || !give_birth(program, spawn, err))
        return false;
    program->phase = PROGRAM_RUNNING;
    enlist(program);
    return watch_all(program, err);
}

bool program_is_fatal(const struct error *err)
{
    return err->code == TH_E_INTERNAL || err->code == TH_E_NO_MEMORY;
}

bool program_takes_input(const struct program *program)
{
    return program->phase == PROGRAM_RUNNING && program->unsent.length == 0 &&
           program->pipes[STREAM_INPUT].watch.fd >= 0;
}

bool program_send(struct program *program, struct bytes input, struct error *err)
{
    assert(program->stays && program_takes_input(program));
    program->unsent = input;
    send_input(&program->pipes[STREAM_INPUT]);
    return watch_input(program, err);
}

void program_close_input(struct program *program)
{
    program->unsent = (struct bytes){0};
    close_pipe(&program->pipes[STREAM_INPUT]);
}

size_t program_unread(const struct program *program)
{
    int count = 0;

    if (ioctl(program->pipes[STREAM_INPUT].watch.fd, FIONREAD, &count))
        return 0;
    return (size_t)count;
}

bool program_stop(struct program *program, usec_t grace)
{
    const usec_t kill_at = clock_boot() + grace;

    if (program->phase != PROGRAM_RUNNING)
        return false;
    if (!program->is_stopping && !is_over(program)) {
        program->is_stopping = true;
        signal_group(program, grace > 0 ? SIGTERM : SIGKILL);
        signal_group(program, SIGCONT); /* one that is stopped would not hear it */
        loop_set_timer(loop_of(program), &program->kill_timer, kill_at);
        return true;
    }
    if (program->kill_timer.is_on && kill_at < program->kill_timer.at)
        loop_set_timer(loop_of(program), &program->kill_timer, kill_at);
    return false;
}

void program_read_rest(struct program *program)
{
    for (int i = STREAM_OUTPUT; i < program->stream_count; i++) {
        struct program_pipe *pipe = &program->pipes[i];

        for (int reads = 0; reads < FINAL_READS && pipe->watch.fd >= 0 && receive(pipe);)
            reads++;
    }
}

void program_finish(struct program *program)
{
    if (program->phase == PROGRAM_RUNNING)
        collect(program);
    for (int i = 0; i < SPAWN_FDS; i++)
        close_pipe(&program->pipes[i]);
    loop_unwatch(loop_of(program), &program->child_watch);
    clear_timers(program);
    if (program->child.pidfd >= 0)
        close(program->child.pidfd);
    program->child.pidfd = -1;
    program->phase = PROGRAM_IDLE;
    if (program->programs->passing == program)
        program->programs->passing = NULL;
}

/*
 * inside.c - while code of a plugin runs in this worker.
 *
 * The one place in thd with a signal handler, and it does nothing: that it is there makes TERM
 * interrupt what a plugin waits for, and whether a run has to stop is asked elsewhere. A worker
 * that is inside a plugin when the master dies is killed (lifeline.c): its loop would not notice.
 */
#include "worker/inside.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "process/process.h"
#include "process/scoreboard.h"
#include "worker/lifeline.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

/* For code that is called without a context: signal handlers, and what exit() and fork() call. */
static const struct process *own;
static pid_t own_pid; /* 0: nothing is prepared, so nobody has forked */

static bool is_inside(void)
{
    return scoreboard_plugin(own->scoreboard, own->slot).plugin != 0;
}

static void hear_term(int number)
{
    (void)number;
}

/* We end by _exit(): whoever called exit() is a plugin. Nothing of ours may be undone under a job
 * that may still run on another thread, and the code is what its job is told. What waits to be
 * logged is the worker's own; half a line that was printed is the job's. */
static void hear_exit(int status, void *context)
{
    (void)context;
    if (!inside_is_worker())
        _exit(status);
    fflush(stdout);
    log_flush();
    _exit(is_inside() ? status : PROCESS_FAILED);
}

/* In a child that a plugin forks: what it runs ends with the worker, as a command does. */
static void begin_child(void)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

bool inside_prepare(const struct process *process, struct error *err)
{
    const struct sigaction action = {.sa_handler = hear_term}; /* no SA_RESTART: it interrupts */

    own = process;
    own_pid = getpid();
    if (sigaction(SIGTERM, &action, NULL))
        return error_errno(err, TH_E_INTERNAL, errno, "prepare for plugins");
    if (on_exit(hear_exit, NULL) || pthread_atfork(NULL, NULL, begin_child))
        return error_no_memory(err);
    return true;
}

void inside_enter(const struct process *process, uint32_t plugin, struct hold hold, usec_t until)
{
    const struct plugin_mark mark = {plugin, hold, until};

    lifeline_inside(process);
    scoreboard_set_plugin(process->scoreboard, process->slot, &mark);
}

void inside_leave(const struct process *process)
{
    scoreboard_clear_plugin(process->scoreboard, process->slot);
}

bool inside_is_worker(void)
{
    return own_pid == 0 || getpid() == own_pid;
}

void inside_return(usec_t since)
{
    if (clock_boot() - since >= INSIDE_FORK_TIME && !inside_is_worker())
        _exit(PROCESS_FAILED);
}

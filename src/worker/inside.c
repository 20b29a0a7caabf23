/*
 * inside.c - while code of a plugin runs in this worker.
 *
 * The one place in thd with a signal handler, and it does next to nothing: that it is there makes
 * TERM interrupt what a plugin waits for, and whether a run shall stop is asked elsewhere. The
 * signal also comes when the master dies, and a worker that is inside a plugin then ends here: its
 * loop would not notice. One that is outside by then ends when its loop turns, or when it is about
 * to enter the next plugin.
 */
#include "worker/inside.h"

#include "base/error.h"
#include "base/log.h"
#include "process/process.h"
#include "process/scoreboard.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

/* For code that is called without a context: signal handlers, and what exit() calls. */
static const struct process *own;
static volatile sig_atomic_t is_bereaved; /* the master is gone */

static bool is_inside(void)
{
    return scoreboard_plugin(own->scoreboard, own->slot).plugin != 0;
}

static void hear_term(int number)
{
    const int kept = errno;

    (void)number;
    is_bereaved = getppid() != own->master;
    if (is_bereaved && is_inside())
        _exit(PROCESS_FAILED);
    errno = kept;
}

/* We end by _exit(): whoever called exit() is a plugin. Nothing of ours may be undone under a job
 * that may still run on another thread, and the code is what its job is told. */
static void hear_exit(int status, void *context)
{
    (void)context;
    log_flush();
    _exit(is_inside() ? status : PROCESS_FAILED);
}

bool inside_prepare(const struct process *process, struct error *err)
{
    const struct sigaction action = {.sa_handler = hear_term}; /* no SA_RESTART: it interrupts */

    own = process;
    if (sigaction(SIGTERM, &action, NULL) || prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0))
        return error_errno(err, TH_E_INTERNAL, errno, "prepare for plugins");
    if (on_exit(hear_exit, NULL))
        return error_no_memory(err);
    return getppid() == process->master || error_set(err, TH_E_INTERNAL, "the master is gone");
}

void inside_enter(const struct process *process, uint32_t plugin, struct hold hold, usec_t until)
{
    const struct plugin_mark mark = {plugin, hold, until};

    scoreboard_set_plugin(process->scoreboard, process->slot, &mark);
    if (is_bereaved) /* looked at behind the mark: the handler sees one of the two */
        _exit(PROCESS_FAILED);
}

void inside_leave(const struct process *process)
{
    scoreboard_clear_plugin(process->scoreboard, process->slot);
}

/*
 * lifeline.c - how a worker ends with the master.
 */
#include "worker/lifeline.h"

#include "process/process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

static int chosen; /* of this process; 0: none yet */

/* A worker that cannot be sure to end with the master must not run anything. */
static void choose(const struct process *process, int number)
{
    if (chosen == number)
        return;
    if (prctl(PR_SET_PDEATHSIG, number, 0, 0, 0) || getppid() != process->master)
        _exit(PROCESS_FAILED);
    chosen = number;
}

void lifeline_outside(const struct process *process)
{
    choose(process, SIGCONT);
}

void lifeline_inside(const struct process *process)
{
    choose(process, SIGKILL);
}

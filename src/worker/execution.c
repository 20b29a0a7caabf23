/*
 * execution.c - runs one program to its end, and everything that it started.
 *
 * program.c does the work; what is here waits for it, and knows the deadline and why it was
 * stopped.
 */
#include "worker/execution.h"

#include "base/error.h"
#include "process/loop.h"

#include <assert.h>
#include <stdlib.h>

struct execution {
    struct loop *loop;
    struct programs *programs; /* owned */
    struct program program;
    const struct execution_plan *plan;
    struct loop_timer deadline;
    enum stop_reason stop;
};

static void time_is_up(void *context)
{
    struct execution *execution = context;

    execution_stop(execution, STOP_TIMEOUT, execution->plan->kill_grace);
}

static bool step_to_end(struct execution *execution, struct error *err)
{
    struct program *program = &execution->program;

    if (execution->plan->timeout > 0)
        loop_set_timer(execution->loop, &execution->deadline,
                       program->started + execution->plan->timeout);
    while (program->phase != PROGRAM_ENDED) {
        if (!loop_step(execution->loop, err))
            return false;
    }
    program_read_rest(program);
    if (program->failed)
        *err = program->failure;
    return !program->failed;
}

bool execution_open(struct loop *loop, struct execution **execution_out, struct error *err)
{
    struct execution *execution = calloc(1, sizeof *execution);

    if (!execution)
        return error_no_memory(err);
    execution->loop = loop;
    execution->deadline = (struct loop_timer){.call = time_is_up, .context = execution};
    if (!programs_open(loop, &execution->programs, err)) {
        free(execution);
        return false;
    }
    *execution_out = execution;
    return true;
}

void execution_close(struct execution **execution)
{
    if (!*execution)
        return;
    assert((*execution)->program.phase == PROGRAM_IDLE);
    programs_close(&(*execution)->programs);
    free(*execution);
    *execution = NULL;
}

struct programs *execution_programs(const struct execution *execution)
{
    return execution->programs;
}

bool execution_run(struct execution *execution, const struct execution_plan *plan,
                   struct execution_end *end_out, struct error *err)
{
    struct program *program = &execution->program;
    struct spawn spawn = plan->spawn;

    assert(program->phase == PROGRAM_IDLE);
    *program = (struct program){
        .programs = execution->programs,
        .stream_count = SPAWN_FDS,
        .received = plan->received,
        .context = plan->context,
    };
    execution->plan = plan;
    execution->stop = STOP_NONE;

    const bool ok = program_start(program, &spawn, plan->input, err) && step_to_end(execution, err);
    loop_clear_timer(execution->loop, &execution->deadline);
    program_finish(program);
    *end_out = (struct execution_end){
        .stop = execution->stop,
        .exit_code = program->end.exit_code,
        .signal = program->end.signal,
        .wall = program->end.wall,
        .usage = program->end.usage,
    };
    return ok;
}

void execution_stop(struct execution *execution, enum stop_reason why, usec_t grace)
{
    assert(why != STOP_NONE);
    if (!program_stop(&execution->program, grace))
        return;
    execution->stop = why;
    loop_clear_timer(execution->loop, &execution->deadline);
}

/*
 * gate.c - `thd: gate`: the doors' way to the store for what must not wait: enqueue, claim, settle,
 * heartbeat.
 */
#include "gate/gate.h"

#include "desk/desk.h"

int gate_main(struct process *process)
{
    return desk_run(process);
}

/*
 * intake.c - a worker's next task: found in the task ring, claimed in the lease table.
 */
#include "worker/intake.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "process/lease_table.h"
#include "process/message.h"
#include "process/process.h"
#include "process/task_ring.h"

/* False when somebody else has it, or when it is too late: the dispatcher takes back what nobody
 * starts. */
static bool start(const struct process *process, struct hold hold)
{
    struct lease_table *leases = process->leases;

    return lease_table_stop_at(leases, hold) > clock_boot() &&
           lease_table_start(leases, hold, process->serial);
}

static bool has_hold(const struct process *process, struct hold hold)
{
    uint32_t serial;

    return lease_table_state(process->leases, hold, &serial) == HOLD_STARTED &&
           serial == process->serial;
}

/* A hold that is lost again meanwhile leaves nothing to do. */
static bool start_from_ring(const struct process *process, struct hold hold, struct arena *arena,
                            struct task *task_out, bool *started_out, struct error *err)
{
    *started_out = start(process, hold);
    if (!*started_out)
        return true;
    const bool was_read = task_ring_read(process->task_ring, hold, arena, task_out, err);
    *started_out = has_hold(process, hold);
    return was_read || !*started_out;
}

/* Tasks that were taken back may lie in front of the one that is looked for; and so may one that
 * was not looked at, when another worker was quicker. If that may not be taken now it is dropped:
 * the dispatcher takes back what was received and not started. */
static bool start_sent(const struct intake *intake, struct arena *arena, struct task *task_out,
                       bool *started_out, struct error *err)
{
    const struct process *process = intake->process;
    enum delivery delivery;

    do {
        delivery = task_receive(process->tasks, arena, task_out, err);
        *started_out = delivery == DELIVERY_DONE &&
                       intake->may_take(intake->context, task_out->handler) &&
                       start(process, task_out->hold);
    } while (delivery == DELIVERY_DONE && !*started_out);
    if (delivery == DELIVERY_CLOSED)
        return error_set(err, TH_E_INTERNAL, "nobody is there to hand out jobs");
    return delivery != DELIVERY_FAILED;
}

bool intake_start(struct intake *intake, struct arena *arena, struct task *task_out,
                  bool *started_out, struct error *err)
{
    const struct process *process = intake->process;
    struct task_head head;

    *started_out = false;
    intake->blocker = HOLD_NONE;
    while (!*started_out && task_ring_look(process->task_ring, process->leases, &head)) {
        if (!intake->may_take(intake->context, head.handler)) {
            intake->blocker = head.hold;
            return true;
        }
        task_ring_pass(process->task_ring);
        if (head.is_in_socket
                ? !start_sent(intake, arena, task_out, started_out, err)
                : !start_from_ring(process, head.hold, arena, task_out, started_out, err))
            return false;
    }
    return true;
}

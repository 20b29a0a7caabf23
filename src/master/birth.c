/*
 * birth.c - forks one process of the pool, and gives it exactly what it may have.
 *
 * Invariants:
 *   - A process has no descriptor but 0, 1, 2 and those in its struct process: an end that another
 *     process held by accident would hide its owner's death.
 *   - A worker knows neither the store's URL nor the variables that lead to it, unless a handler
 *     asks for them by pass_env. It can write no shared memory but its own.
 *   - What opens the HTTP API is known to its door alone.
 *   - A door knows nothing of what the config keeps for others, and no variable at all.
 */
#include "master/birth.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "config/plugin_id.h"
#include "master/generation.h"
#include "master/ledger.h"
#include "master/listeners.h"
#include "master/seat.h"
#include "master/secrets.h"
#include "master/this_pool.h"
#include "process/known_clocks.h"
#include "process/lease_table.h"
#include "process/meters.h"
#include "process/news_ring.h"
#include "process/print_file.h"
#include "process/process.h"
#include "process/result_ring.h"
#include "process/scoreboard.h"
#include "process/start_board.h"
#include "process/task_ring.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LAST_WORDS USEC_PER_SEC /* how long a process that ends waits for its log to be written */

/* ---- in the child ---- */

static int compare_fds(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Both ends included; nothing when the last comes before the first. */
static bool close_between(unsigned first, unsigned last, struct error *err)
{
    if (first <= last && close_range(first, last, 0))
        return error_errno(err, TH_E_INTERNAL, errno, "close the master's descriptors");
    return true;
}

/* Those it does not have are -1. */
static bool close_others(const struct process *process, struct error *err)
{
    int kept[] = {process->control,  process->tasks,
                  process->results,  process->printed,
                  process->nudge,    process->due,
                  process->listener, process->task_ring ? task_ring_bell(process->task_ring) : -1};
    int first = STDERR_FILENO + 1;

    qsort(kept, COUNT_OF(kept), sizeof kept[0], compare_fds);
    for (size_t i = 0; i < COUNT_OF(kept); i++) {
        if (kept[i] < first)
            continue;
        if (!close_between((unsigned)first, (unsigned)kept[i] - 1, err))
            return false;
        first = kept[i] + 1;
    }
    return close_between((unsigned)first, ~0U, err);
}

/* Jobs get as many descriptors as whoever started us allows. */
static bool lower_limits(const struct this_pool *pool, struct error *err)
{
    if (setrlimit(RLIMIT_NOFILE, &pool->files))
        return error_errno(err, TH_E_INTERNAL, errno, "restore the limit of descriptors");
    return true;
}

static bool confine_worker(const struct this_pool *pool, const struct process *process,
                           struct error *err)
{
    return secrets_forget_store(pool, err) && lower_limits(pool, err) &&
           lease_table_restrict(pool->leases, err) &&
           known_clocks_restrict(pool->known_clocks, err) && meters_restrict(pool->meters, err) &&
           task_ring_restrict(process->task_ring, err) &&
           result_rings_restrict(process->result_rings, process->result_ring, err) &&
           news_ring_forget(pool->news_ring, err) &&
           scoreboard_restrict(pool->scoreboard, process->slot, err) &&
           start_board_restrict(process->start_board, err);
}

/* It reads what strangers send: all that it has is its socket, its peers, its own slot and its own
 * meters.
 */
static bool confine_door(const struct this_pool *pool, const struct process *process,
                         struct error *err)
{
    struct result_rings *rings = pool->result_rings;

    secrets_forget_all(pool);
    result_rings_close(&rings); /* what is the child's of it */
    return lease_table_restrict(pool->leases, err) &&
           known_clocks_restrict(pool->known_clocks, err) &&
           meters_restrict_door(pool->meters, err) && news_ring_restrict(pool->news_ring, err) &&
           scoreboard_restrict(pool->scoreboard, process->slot, err) &&
           start_board_restrict(process->start_board, err);
}

static bool begin(const struct this_pool *pool, struct process *process, const struct role *role,
                  struct error *err)
{
    if (!role->is_door || role->door != DOOR_HTTP)
        secrets_forget_tokens(pool);
    if (role->works && !confine_worker(pool, process, err))
        return false;
    if (role->is_door && !confine_door(pool, process, err))
        return false;
    scoreboard_enter(process->scoreboard, process->slot, process->name, process->number,
                     process->serial, getpid());
    return process_begin(process, err);
}

/* Nothing is freed on the way out: the process ends, and with it all that it had. */
static _Noreturn void live(struct this_pool *pool, struct process *process, const struct role *role)
{
    int exit_code = PROCESS_FAILED;
    struct error err;

    loop_close(&pool->loop); /* what is the child's of it; the master's own is not touched */
    const bool closed = close_others(process, &err);
    /* Again: lines that the master has not written yet are its own. Not before this: the log has a
     * descriptor. */
    this_pool_open_log(pool, process->name);
    if (!closed || !begin(pool, process, role, &err))
        process_fail(&err);
    else if (getppid() == pool->master) /* else it died before we could be told */
        exit_code = role->main(process);
    log_close(LAST_WORDS);
    _exit(exit_code);
}

/* ---- in the master ---- */

/* The sockets of one process: [0] is the master's end, or the dispatcher's, [1] its own. */
struct sockets {
    int control[2];
    int results[2];
    int printed[2]; /* one file; -1: there are no plugins */
};

static void close_pair(int pair[2])
{
    for (int i = 0; i < 2; i++) {
        if (pair[i] >= 0)
            close(pair[i]);
        pair[i] = -1;
    }
}

static void sockets_close(struct sockets *sockets)
{
    close_pair(sockets->control);
    close_pair(sockets->results);
    close_pair(sockets->printed);
}

static bool sockets_open(struct sockets *sockets, const struct role *role,
                         const struct config *config, struct error *err)
{
    if (!message_pair(sockets->control, err))
        return false;
    if (!role->works)
        return true;
    return message_pair(sockets->results, err) &&
           (!plugin_id_any(config) || print_file_make(sockets->printed, err));
}

static struct process describe(const struct seat *seat, const struct sockets *sockets,
                               const struct role *role)
{
    const struct this_pool *pool = seat->pool;
    const struct generation *generation = pool->generation;
    struct process process = {
        .master = pool->master,
        .number = seat->number,
        .serial = seat->serial,
        .config = &generation->config,
        .backend = role->store ? pool->options->backend : NULL,
        .pool = pool->name.stored,
        .once = pool->options->once,
        .handlers = role->works ? generation->handlers : NULL,
        .leases = pool->leases,
        .known_clock = role->store ? known_clocks_of(pool->known_clocks, seat->role) : NULL,
        .task_ring = role->hands_out || role->works ? generation->task_ring : NULL,
        .result_rings = role->hands_out || role->works ? pool->result_rings : NULL,
        .result_ring = seat->result_ring,
        .scoreboard = pool->scoreboard,
        .slot = seat->slot,
        .start_board = generation->start_board,
        .meters = role->works ? NULL : pool->meters,
        .news_ring = role->works ? NULL : pool->news_ring,
        .control = sockets->control[1],
        .tasks = role->hands_out ? generation->tasks[0]
                 : role->works   ? generation->tasks[1]
                                 : -1,
        .results = sockets->results[1],
        .printed = sockets->printed[1],
        .nudge = role->nudge ? pool->nudge : -1,
        .due = role->due ? pool->due : -1,
        .listener =
            role->is_door ? listeners_find(pool->options->listeners, role->door, pool->config) : -1,
    };

    snprintf(process.name, sizeof process.name, "%s", seat->name);
    return process;
}

static bool fork_one(struct seat *seat, struct sockets *sockets, const struct role *role,
                     struct error *err)
{
    struct process process = describe(seat, sockets, role);
    const pid_t pid = fork();

    if (pid < 0)
        return error_errno(err, TH_E_INTERNAL, errno, "fork");
    if (pid == 0)
        live(seat->pool, &process, role);
    seat->pid = pid;
    return true;
}

static bool enter_ledger(struct seat *seat, struct ledger *ledger, struct sockets *sockets,
                         struct error *err)
{
    struct result_rings *rings = seat->pool->result_rings;

    seat->result_ring = result_rings_issue(rings);
    if (seat->result_ring == 0)
        return error_set(err, TH_E_UNAVAILABLE,
                         "the results of too many workers that have ended are not settled yet");
    if (!ledger_add(ledger, seat->number, seat->serial, sockets->results[0], sockets->printed[0],
                    seat->result_ring, err)) {
        result_rings_return(rings, seat->result_ring);
        return false;
    }
    sockets->results[0] = sockets->printed[0] = -1; /* the ledger's now */
    return true;
}

static bool fork_worker(struct seat *seat, struct ledger *ledger, struct sockets *sockets,
                        const struct role *role, struct error *err)
{
    if (!enter_ledger(seat, ledger, sockets, err))
        return false;
    if (!fork_one(seat, sockets, role, err)) {
        result_rings_return(seat->pool->result_rings, ledger_settle(ledger, seat->serial));
        return false;
    }
    ledger_note_start(ledger, seat->serial, seat->pid);
    return true;
}

bool birth_fork(struct seat *seat, uint32_t serial, struct ledger *ledger, struct error *err)
{
    CLEANUP(sockets_close) struct sockets sockets = {{-1, -1}, {-1, -1}, {-1, -1}};
    const struct role *role = roles_get(seat->role);

    seat->serial = serial;
    seat->started_at = clock_boot();
    seat->is_ready = seat->is_retiring = false;
    if (!sockets_open(&sockets, role, seat->pool->config, err) ||
        !(role->works ? fork_worker(seat, ledger, &sockets, role, err)
                      : fork_one(seat, &sockets, role, err)))
        return error_prefix(err, "start %s", seat->name);
    seat->generation = generation_join(seat->pool->generation);
    seat->control = sockets.control[0];
    sockets.control[0] = -1;
    return true;
}

/*
 * crash_outcome.c - what the end of a worker means for the job that it had started.
 */
#include "dispatcher/crash_outcome.h"

#include "base/signal_name.h"
#include "base/units.h"
#include "config/plugin_id.h"

#include <stdio.h>
#include <sys/wait.h>

#define CAUSE_SIZE 64
#define PLACE_SIZE (PLUGIN_NAME_SIZE + 16)

/* If the worker was killed for another of its runs, this one is not to blame. But one that was
 * found stopped may have been stopped by any of its jobs. */
static enum outcome_kind kind_of(const struct crash_facts *facts)
{
    const struct worker_end *end = facts->end;

    if (end->killed_for != STOP_NONE && end->killed_for != STOP_FROZEN &&
        !hold_equal(end->killed_hold, facts->hold))
        return OUTCOME_RELEASED;
    return stop_reason_outcome(end->killed_for);
}

static const char *say_cause(const struct crash_facts *facts, char text[CAUSE_SIZE])
{
    const struct worker_end *end = facts->end;
    char duration[UNITS_TEXT_SIZE], name[SIGNAL_NAME_SIZE];

    if (end->killed_for == STOP_TIMEOUT)
        snprintf(text, CAUSE_SIZE, "timed out after %s",
                 units_format_duration(facts->timeout, duration));
    else if (end->killed_for == STOP_FROZEN)
        snprintf(text, CAUSE_SIZE, "killed after a signal had stopped it");
    else if (WIFSIGNALED(end->status))
        snprintf(text, CAUSE_SIZE, "killed by %s", signal_name(WTERMSIG(end->status), name));
    else if (plugin_id_path(facts->config, end->plugin))
        snprintf(text, CAUSE_SIZE, "exit(%d) called", WEXITSTATUS(end->status));
    else
        snprintf(text, CAUSE_SIZE, "exited with code %d", WEXITSTATUS(end->status));
    return text;
}

/* NULL: it was in no plugin. */
static const char *say_place(const struct crash_facts *facts, char text[PLACE_SIZE])
{
    const char *path = plugin_id_path(facts->config, facts->end->plugin);
    char name[PLUGIN_NAME_SIZE];

    if (!path)
        return NULL;
    snprintf(text, PLACE_SIZE, "in plugin %s", plugin_id_name(path, name));
    return text;
}

void crash_outcome_find(const struct crash_facts *facts, struct crash_outcome *crash_out)
{
    const int status = facts->end->status;
    char cause_text[CAUSE_SIZE], place_text[PLACE_SIZE];
    const char *cause = say_cause(facts, cause_text);
    const char *place = say_place(facts, place_text);

    crash_out->kind = kind_of(facts);
    crash_out->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : JOB_NO_EXIT_CODE;
    crash_out->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (place)
        snprintf(crash_out->error, CRASH_OUTCOME_ERROR_SIZE, "%s %s", cause, place);
    else
        snprintf(crash_out->error, CRASH_OUTCOME_ERROR_SIZE, "worker %d %s%s while it ran the job",
                 facts->worker, WIFSIGNALED(status) ? "was " : "", cause);
}

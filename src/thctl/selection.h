/*
 * selection.h - the jobs that `--all` means, and whether they are really meant.
 */
#ifndef THCTL_SELECTION_H
#define THCTL_SELECTION_H

#include "base/base.h"
#include "store/store.h"
#include "thctl/command.h"

struct selection {
    struct uuid *ids; /* owned */
    size_t count, capacity;
    const char *which; /* what they have in common, for people: "dead" */
};

/* All jobs that match and are in one of these states, each once. */
bool selection_collect(struct selection *selection, struct store *store,
                       const struct job_filter *filter, const enum job_state *states,
                       size_t state_count, struct error *err) MUST_CHECK;

/* Asks on the terminal: "Delete 1,234 dead jobs? [y/N]". Where there is none, says that `--yes` is
 * missing. Anything but STATUS_OK is the status to end with. */
enum status selection_confirm(const struct selection *selection, const char *verb,
                              const char *done) MUST_CHECK;

void selection_done(struct selection *selection);

#endif

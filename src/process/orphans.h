/*
 * orphans.h - what a program left behind when it ended.
 *
 * A subreaper becomes the parent of every descendant whose own parent ended, whatever session or
 * group it went into. So what has to be killed is always found among our own children, and those
 * may be signalled safely: nobody else can wait for them.
 */
#ifndef PROCESS_ORPHANS_H
#define PROCESS_ORPHANS_H

#include "base/base.h"

#include <sys/resource.h>
#include <sys/types.h>

struct error;

/* What processes used that were waited for. */
struct usage {
    usec_t user, system;
    int64_t max_rss_kb; /* of the largest */
};

void usage_add(struct usage *usage, const struct rusage *more);

/* From here on this process is the parent of all that its children leave behind. */
bool orphans_adopt(struct error *err) MUST_CHECK;

/* The children that this process has, freed by the caller. */
bool orphans_list(pid_t **pids_out, size_t *count_out, struct error *err) MUST_CHECK;

/* One pass: kills every child but those spared and waits for those that have ended, without
 * blocking. The children of the killed are seen by the next pass. `left_out` is false when a pass
 * found nobody. A child that we may not kill counts as nobody. */
bool orphans_kill(const pid_t *spared, size_t spared_count, struct usage *usage, bool *left_out,
                  struct error *err) MUST_CHECK;

/* Whether a child that has not ended is in `group`, its leader aside. The children of such a one
 * are seen when it has ended. */
bool orphans_live_in(pid_t group, bool *live_out, struct error *err) MUST_CHECK;

#endif

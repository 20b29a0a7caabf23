/*
 * rejection.h - a refused config, in the log: an event for each place.
 */
#ifndef MASTER_REJECTION_H
#define MASTER_REJECTION_H

#include "base/base.h"

struct diagnostics;

/* `text` is all of it in one sentence, `hint` what it means for the pool. */
void rejection_log(const struct diagnostics *diagnostics, const char *text, const char *hint);

#endif

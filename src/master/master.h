/*
 * master.h - `thd: master`: forks the pool's processes, keeps them alive, and ends them.
 */
#ifndef MASTER_MASTER_H
#define MASTER_MASTER_H

#include "master/options.h"

/* Runs a pool until it has ended. Returns the exit code of thd. */
int master_run(const struct master_options *options);

#endif

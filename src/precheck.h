/*
 * precheck.h - thd --check: would a pool with this config work here?
 */
#ifndef PRECHECK_H
#define PRECHECK_H

#include "cli/status.h"

struct backend;
struct config;

/* Says all that is wrong, or what was found to be right. STATUS_OK, STATUS_CONFIG, or
 * STATUS_BACKEND when the config is fine and the backend does not answer. */
enum status precheck_run(const struct config *config, const struct backend *backend);

#endif

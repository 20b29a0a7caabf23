/*
 * finding.h - one thing that --check has to say, at its place in the config.
 */
#ifndef PRECHECK_FINDING_H
#define PRECHECK_FINDING_H

#include "base/base.h"
#include "precheck/precheck.h"

/* The name of what is concerned, such as handlers.x.cwd, is put before the sentence. `keys` lead to
 * it, as config_place() wants them. A pool would not work like this. */
void finding_error(const struct precheck *precheck, const char *const *keys, const char *format,
                   ...) PRINTF_LIKE(3, 4);

/* It may work, but hardly as intended. */
void finding_warning(const struct precheck *precheck, const char *const *keys, const char *format,
                     ...) PRINTF_LIKE(3, 4);

/* What handlers run, and what is wrapped around them. */
void handlers_check(const struct precheck *precheck);
void middleware_check(const struct precheck *precheck);

#endif

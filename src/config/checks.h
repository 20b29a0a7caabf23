/*
 * checks.h - what no single key can tell: values that do not fit each other.
 */
#ifndef CONFIG_CHECKS_H
#define CONFIG_CHECKS_H

#include "config/config.h"
#include "config/yaml_tree.h"

/* `root` is the tree that the config was filled from: faults are reported at the place of the
 * values. */
void checks_run(const struct config *config, const struct node *root,
                struct diagnostics *diagnostics);

/* What else a pool needs. */
void checks_run_use(const struct config *config, const struct node *root,
                    struct diagnostics *diagnostics);

/* What a handler may be called: a type, or the start of one and a *. */
bool checks_pattern_is_valid(const char *pattern);

#endif

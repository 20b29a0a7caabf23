/*
 * include.h - a config file and all it includes, as one tree.
 *
 *     include: [conf.d/?*.yaml]
 *
 * Patterns are relative to the file that includes; what matches comes in the order of its name. An
 * included file adds queues, handlers and cron entries; everything else is in the main file. A
 * pattern with wildcards may match nothing, a plain name may not.
 */
#ifndef CONFIG_INCLUDE_H
#define CONFIG_INCLUDE_H

#include "base/base.h"
#include "config/yaml_tree.h"

#define INCLUDE_DEPTH_MAX 8
#define INCLUDE_FILES_MAX 256

/* The tree lives as long as the diagnostics. False when the main file gave none; what is wrong with
 * an included file is added, and the tree goes on without it. */
bool include_read(const char *path, struct diagnostics *diagnostics,
                  struct node **root_out) MUST_CHECK;

#endif

/*
 * doors.h - where remote workers and browsers come in: http: and faktory:, and their addresses.
 */
#ifndef CONFIG_DOORS_H
#define CONFIG_DOORS_H

#include "config/config.h"
#include "config/yaml_tree.h"

/* Complains about addresses that cannot be one, and about those that strangers could use. */
void doors_check(const struct config *config, const struct node *root,
                 struct diagnostics *diagnostics);

/* Reads the files of tokens. */
void doors_read_tokens(struct config *config, const struct node *root,
                       struct diagnostics *diagnostics);

/* Makes the paths of sockets absolute: relative ones start at the folder of the config. */
void doors_settle(struct config *config);

#endif

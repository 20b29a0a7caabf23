/*
 * environment.h - ${NAME} and ${NAME:-default} in the values of a config.
 *
 * $$ is a dollar; a dollar before anything else is itself. Keys are not touched, nor is a handler's
 * text for the shell, which has dollars of its own. What is put in is text inside one value: it
 * cannot add keys or lists.
 */
#ifndef CONFIG_ENVIRONMENT_H
#define CONFIG_ENVIRONMENT_H

#include "base/base.h"
#include "config/yaml_tree.h"

/* Expands the scalars of a file, a map, in place. A variable that is not set and has no default is
 * an error, and its value counts as broken. */
void environment_expand(struct node *root, struct diagnostics *diagnostics);

#endif

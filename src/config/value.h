/*
 * value.h - a node of the config as the kind of value that its key wants.
 */
#ifndef CONFIG_VALUE_H
#define CONFIG_VALUE_H

#include "base/base.h"
#include "config/field.h"

/* Reads `node` as the row says into the member at `member`; faults are added at the node's place,
 * with `name` ("pool.lease") before them. Not for policies, sections and entries. */
bool value_read(const struct field_scope *scope, const struct field *field, const char *name,
                const struct node *node, void *member);

/* The name of a policy or a list of delays. */
bool value_read_policy(const struct field_scope *scope, const struct field *field, const char *name,
                       const struct node *node, struct retry_policy *policy);

#endif

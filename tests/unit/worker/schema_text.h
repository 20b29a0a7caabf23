/*
 * schema_text.h - schemas that tests write down where they need them.
 */
#ifndef TESTS_UNIT_WORKER_SCHEMA_TEXT_H
#define TESTS_UNIT_WORKER_SCHEMA_TEXT_H

#include "base/base.h"

struct arena;
struct error;
struct schema;

/* Loads it from a file in memory. An error has no file name before it. */
bool schema_text_load(struct bytes text, struct arena *arena, const struct schema **schema_out,
                      struct error *err) MUST_CHECK;

/* The same for one that must be right. */
const struct schema *schema_text_of(const char *text, struct arena *arena);

/* What schema_check() says; "" is nothing. Lives as long as the test's process. */
const char *schema_text_check(const struct schema *schema, const char *payload);

#endif

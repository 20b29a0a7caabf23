/*
 * schema.h - a payload against its JSON schema.
 *
 * What is understood is a part of JSON Schema draft 7; jobs.yaml(5) lists it. A schema with
 * anything else in it does not load: a check that silently does not happen is worse than none.
 *
 *     file --json_tree--> values --schema_compile--> nodes --schema_link--> struct schema
 *     payload --json_tree--> values --schema_check, schema_pattern--> fits, or the first fault
 *
 * Numbers are compared exactly, as they are written. A payload in which an object has a name twice
 * fits no schema.
 */
#ifndef WORKER_SCHEMA_H
#define WORKER_SCHEMA_H

#include "base/base.h"

struct arena;
struct error;
struct schema;

/* All of it lives in the arena. The text names the file and the place in it:
 * "email.json: /properties/to/patern: unknown keyword (did you mean 'pattern'?)". */
bool schema_load(const char *path, struct arena *arena, const struct schema **schema_out,
                 struct error *err) MUST_CHECK;

/* False with TH_E_INVALID, the place and what is wrong there: "/to: is not a string"; without a
 * place when it is the payload itself. Any other code means that this process cannot go on.
 * The work is limited, whatever the payload: what would take longer than a few seconds is given
 * up and does not fit. */
bool schema_check(const struct schema *schema, struct bytes payload, struct error *err) MUST_CHECK;

#endif

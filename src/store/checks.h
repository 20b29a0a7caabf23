/*
 * checks.h - what can be said of an argument without the database, and what all drivers say in the
 * same words.
 */
#ifndef STORE_CHECKS_H
#define STORE_CHECKS_H

#include "base/base.h"

struct error;
struct job;
struct store;
struct store_schema;

bool checks_open(const struct store *store, struct error *err) MUST_CHECK;
bool checks_queue(const char *queue, struct error *err) MUST_CHECK;
bool checks_pool(const char *pool, struct error *err) MUST_CHECK;
bool checks_lease(usec_t lease_for, struct error *err) MUST_CHECK;
bool checks_by(const char *by, struct error *err) MUST_CHECK;    /* NULL is nobody */
bool checks_run_at(usec_t run_at, struct error *err) MUST_CHECK; /* 0 is now */

/* Whether this binary can use such a schema; `what` is its name for people: "the schema". */
bool checks_version(const struct store_schema *schema, const char *what,
                    struct error *err) MUST_CHECK;

/* False: there is no pool of this name. */
bool checks_no_pool(const char *name, struct error *err);

/* False: the job has the key of one of another type, which waits or runs. */
bool checks_refuse_twin(const struct job *job, const char *type, bool runs, struct error *err);

#endif

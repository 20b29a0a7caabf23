/*
 * checks.c - what can be said of an argument without the database, and what all drivers say in the
 * same words.
 */
#include "store/checks.h"

#include "base/error.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "store/store.h"

#include <string.h>

bool checks_open(const struct store *store, struct error *err)
{
    return store || error_set(err, TH_E_INVALID, "the store is closed");
}

bool checks_queue(const char *queue, struct error *err)
{
    return job_name_check(queue, JOB_NAME_MAX, err) || error_prefix(err, "queue");
}

bool checks_pool(const char *pool, struct error *err)
{
    return job_name_check(pool, JOB_NAME_MAX, err) || error_prefix(err, "pool");
}

bool checks_lease(usec_t lease_for, struct error *err)
{
    return (lease_for > 0 && lease_for <= JOB_TIMEOUT_MAX) ||
           error_set(err, TH_E_INVALID, "lease: must be longer than 0 and at most a year");
}

bool checks_by(const char *by, struct error *err)
{
    return !by ||
           (strlen(by) < STORE_BY_SIZE &&
            text_is_utf8((struct bytes){(const unsigned char *)by, strlen(by)})) ||
           error_set(err, TH_E_INVALID, "by: who it was is at most %d bytes of UTF-8",
                     STORE_BY_SIZE - 1);
}

bool checks_run_at(usec_t run_at, struct error *err)
{
    return (run_at >= 0 && run_at <= TIMESTAMP_MAX) ||
           error_set(err, TH_E_INVALID, "run_at is out of range: use the years 1970 to 9999");
}

bool checks_version(const struct store_schema *schema, const char *what, struct error *err)
{
    if (schema->version < schema->newest)
        return error_set(err, TH_E_SCHEMA,
                         "%s is at version %d and this program needs %d: run 'thctl migrate'", what,
                         schema->version, schema->newest);
    if (schema->usable_from > schema->newest)
        return error_set(err, TH_E_SCHEMA,
                         "%s is at version %d and cannot be used by this program, which knows %d: "
                         "upgrade TaskHarbor here",
                         what, schema->version, schema->newest);
    return true;
}

bool checks_no_pool(const char *name, struct error *err)
{
    return error_set(err, TH_E_NOT_FOUND, "no pool '%s'", name);
}

bool checks_refuse_twin(const struct job *job, const char *type, bool runs, struct error *err)
{
    return error_set(err, TH_E_CONFLICT,
                     "key '%s' of queue '%s' %s with type '%s': a job of type '%s' cannot %s",
                     job->key, job->queue, runs ? "runs" : "waits", type, job->type,
                     runs ? "wait for it" : "update it");
}

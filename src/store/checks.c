/*
 * checks.c - what can be said of an argument without the database.
 */
#include "store/checks.h"

#include "base/error.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "store/store.h"

#include <string.h>

bool checks_open(const struct store *store, struct error *err)
{
    return store != NULL || error_set(err, TH_E_INVALID, "the store is closed");
}

bool checks_queue(const char *queue, struct error *err)
{
    return job_name_check(queue, JOB_NAME_MAX, err) || error_prefix(err, "queue");
}

bool checks_by(const char *by, struct error *err)
{
    return by == NULL ||
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

/*
 * exchange.c - settle, then reserve, in one transaction: all that a dispatcher does under load.
 */
#include "store/sqlite/ops/ops.h"

static bool settle_and_reserve(struct sqlite *sqlite, const struct settlement_list *finished,
                               const struct reservation *wanted, size_t wanted_count, usec_t now,
                               enum th_error_code *verdicts_out, struct job_list *jobs_out,
                               struct error *err)
{
    return sqlite_settle_all(sqlite, finished, store_over_at(&sqlite->base, now), verdicts_out,
                             err) &&
           (wanted_count == 0 ||
            sqlite_reserve_all(sqlite, wanted, wanted_count, now, jobs_out, err));
}

bool sqlite_exchange(struct store *store, const struct settlement_list *finished,
                     const struct reservation *wanted, size_t wanted_count, usec_t now,
                     enum th_error_code *verdicts_out, struct job_list *jobs_out, struct error *err)
{
    struct sqlite *sqlite = sqlite_of(store);

    return sqlite_begin_write(sqlite, err) &&
           sqlite_end(sqlite,
                      settle_and_reserve(sqlite, finished, wanted, wanted_count, now, verdicts_out,
                                         jobs_out, err),
                      err);
}

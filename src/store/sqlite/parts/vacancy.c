/*
 * vacancy.c - queue.awaited, and who is woken when it is taken back.
 */
#include "store/sqlite/parts/vacancy.h"

#include "base/cleanup.h"
#include "store/sqlite/file/query.h"

#include <stdlib.h>

/* Few queues end leases in one transaction, and the same one again and again: from the end. */
static size_t position(const struct sqlite_vacancies *vacancies, int64_t queue_id)
{
    size_t i = vacancies->count;

    while (i > 0 && vacancies->queue_ids[i - 1] != queue_id)
        i--;
    return i > 0 ? i - 1 : vacancies->count;
}

static bool grow(struct sqlite_vacancies *vacancies)
{
    const size_t capacity = vacancies->capacity ? vacancies->capacity * 2 : 8;
    int64_t *queue_ids = realloc(vacancies->queue_ids, capacity * sizeof *queue_ids);

    if (!queue_ids)
        return false;
    vacancies->queue_ids = queue_ids;
    vacancies->capacity = capacity;
    return true;
}

bool sqlite_vacancy_note(struct sqlite *sqlite, int64_t queue_id, struct error *err)
{
    struct sqlite_vacancies *vacancies = &sqlite->vacancies;

    if (position(vacancies, queue_id) < vacancies->count)
        return true;
    if (vacancies->count == vacancies->capacity && !grow(vacancies))
        return error_no_memory(err);
    vacancies->queue_ids[vacancies->count++] = queue_id;
    return true;
}

void sqlite_vacancy_forget(struct sqlite *sqlite, int64_t queue_id)
{
    struct sqlite_vacancies *vacancies = &sqlite->vacancies;
    const size_t at = position(vacancies, queue_id);

    if (at < vacancies->count)
        vacancies->queue_ids[at] = vacancies->queue_ids[--vacancies->count];
}

static bool set_awaited(struct sqlite *sqlite, int64_t queue_id, bool awaited, bool *changed_out,
                        struct error *err)
{
    CLEANUP(sqlite_query_done)
    struct sqlite_query query = sqlite_query_start(sqlite, SQL_QUEUE_SET_AWAITED);

    sqlite_query_int(&query, queue_id);
    sqlite_query_int(&query, awaited);
    if (!sqlite_query_run(&query, err))
        return false;
    *changed_out = sqlite_query_changes(&query) == 1;
    return true;
}

bool sqlite_vacancy_await(struct sqlite *sqlite, int64_t queue_id, struct error *err)
{
    bool changed;

    return set_awaited(sqlite, queue_id, true, &changed, err);
}

bool sqlite_vacancy_announce(struct sqlite *sqlite, struct error *err)
{
    const struct sqlite_vacancies *vacancies = &sqlite->vacancies;
    bool awaited;

    for (size_t i = 0; i < vacancies->count; i++) {
        if (!set_awaited(sqlite, vacancies->queue_ids[i], false, &awaited, err))
            return false;
        sqlite->ring = sqlite->ring || awaited;
    }
    return true;
}

void sqlite_vacancies_done(struct sqlite_vacancies *vacancies)
{
    free(vacancies->queue_ids);
    *vacancies = (struct sqlite_vacancies){0};
}

/*
 * tags.c - the table `tag`: what jobs are listed by.
 */
#include "store/sqlite/parts/tags.h"

#include "base/cleanup.h"
#include "job/tags.h"
#include "store/sqlite/file/query.h"
#include "store/sqlite/file/row.h"

static bool read_tags(struct sqlite *sqlite, int64_t seq, struct arena *arena, struct uuid *id_out,
                      struct tags *tags_out, struct error *err)
{
    bool found;
    CLEANUP(sqlite_query_done) struct sqlite_query query = sqlite_query_start(sqlite, SQL_JOB_TAGS);

    sqlite_query_int(&query, seq);
    if (!sqlite_query_row(&query, &found, err))
        return false;
    *tags_out = (struct tags){0};
    if (!found)
        return true;
    *id_out = sqlite_row_uuid(&query);
    *tags_out = tags_parse(sqlite_row_text(&query, arena), arena);
    return !arena->failed || error_no_memory(err);
}

static bool change(struct sqlite *sqlite, enum sql_statement how, const char *tag,
                   const struct uuid *id, struct error *err)
{
    CLEANUP(sqlite_query_done) struct sqlite_query query = sqlite_query_start(sqlite, how);

    sqlite_query_text(&query, tag);
    sqlite_query_uuid(&query, id);
    return sqlite_query_run(&query, err);
}

static bool change_all(struct sqlite *sqlite, enum sql_statement how, int64_t seq,
                       struct error *err)
{
    CLEANUP(arena_done) struct arena arena = {0};
    struct uuid id;
    struct tags tags;

    if (!read_tags(sqlite, seq, &arena, &id, &tags, err))
        return false;
    for (size_t i = 0; i < tags.count; i++)
        if (!change(sqlite, how, tags.names[i], &id, err))
            return false;
    return true;
}

bool sqlite_tags_enter(struct sqlite *sqlite, int64_t seq, struct error *err)
{
    return change_all(sqlite, SQL_TAG_ADD, seq, err);
}

bool sqlite_tags_leave(struct sqlite *sqlite, int64_t seq, struct error *err)
{
    return change_all(sqlite, SQL_TAG_REMOVE, seq, err);
}

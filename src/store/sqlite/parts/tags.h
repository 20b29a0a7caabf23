/*
 * tags.h - the table `tag`: what jobs are listed by, besides where they stand.
 *
 * The job's own row has its tags; these are the rows that lead back to it. Who changes or removes
 * the one lets the others leave first.
 */
#ifndef SQLITE_TAGS_H
#define SQLITE_TAGS_H

#include "base/base.h"
#include "store/sqlite/file/connection.h"

/* For each tag that the job's row has; nothing when it has none. */
bool sqlite_tags_enter(struct sqlite *sqlite, int64_t seq, struct error *err) MUST_CHECK;
bool sqlite_tags_leave(struct sqlite *sqlite, int64_t seq, struct error *err) MUST_CHECK;

#endif

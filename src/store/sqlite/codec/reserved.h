/*
 * reserved.h - stored rows to struct job.
 */
#ifndef SQLITE_RESERVED_H
#define SQLITE_RESERVED_H

#include "base/arena.h"
#include "base/base.h"
#include "job/job.h"
#include "store/sqlite/file/query.h"

/* The columns that reserve_pick and held begin with, from seq to payload. Text lives in `arena`.
 * What makes the job impossible to run is put into job->defect. */
void sqlite_reserved_read(struct sqlite_query *query, struct arena *arena, struct job *job);

#endif

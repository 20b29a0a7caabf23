/*
 * seqs.h - a list of seqs as JSON, as in [7,8,null,10]: 0 is null.
 *
 * JSON, because SQL reads that too. By hand, because it is done for every job.
 */
#ifndef SQLITE_SEQS_H
#define SQLITE_SEQS_H

#include "base/base.h"

/* NULL when out of memory; the caller frees it. */
char *sqlite_seqs_write(const int64_t *seqs, size_t count);

/* How many there are, and all of them. What is no number is 0, too. */
size_t sqlite_seqs_count(const char *text);
void sqlite_seqs_read(const char *text, int64_t *seqs_out, size_t count);

#endif

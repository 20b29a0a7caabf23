/*
 * ref.h - by what we know a reserved job again.
 *
 * A job's ref is its seq; the negative of it when its lease was given with others, as a batch:
 * functions/batch.sql. It need not be in there any more.
 */
#ifndef POSTGRES_REF_H
#define POSTGRES_REF_H

#include "base/base.h"

static inline bool pg_ref_is_batched(int64_t ref)
{
    return ref < 0 && ref != INT64_MIN;
}

static inline int64_t pg_ref_seq(int64_t ref)
{
    return pg_ref_is_batched(ref) ? -ref : ref;
}

#endif

/*
 * job_query.c - which jobs somebody asks for, on the way from a door to browse.
 */
#include "door/job_query.h"

#include "base/timestamp.h"
#include "door/pack.h"
#include "job/job.h"
#include "job/state.h"

#include <string.h>

bool job_query_after_is_fine(const char *after)
{
    const size_t length = strlen(after);

    return length == JOB_QUERY_AFTER_LENGTH && strspn(after, "0123456789abcdef") == length;
}

void job_query_pack(struct buffer *pack, const struct job_query *query)
{
    pack_number(pack, query->state);
    pack_text(pack, query->queue);
    pack_text(pack, query->type);
    pack_text(pack, query->tag);
    pack_text(pack, query->key);
    pack_text(pack, query->error);
    pack_number(pack, query->since);
    pack_number(pack, query->until);
    pack_number(pack, query->order);
    pack_number(pack, query->limit);
    pack_text(pack, query->after);
    pack_flag(pack, query->full);
    pack_number(pack, query->form);
}

/* A designated initialiser may be carried out in any order: a pack is read in one. */
struct job_query job_query_unpack(struct unpack *unpack)
{
    struct job_query query;

    query.state = (int)unpack_number(unpack, JOB_QUERY_ANY_STATE, JOB_STATES - 1);
    query.queue = unpack_text(unpack, JOB_NAME_MAX);
    query.type = unpack_text(unpack, JOB_NAME_MAX);
    query.tag = unpack_text(unpack, JOB_NAME_MAX);
    query.key = unpack_text(unpack, JOB_KEY_MAX);
    query.error = unpack_text(unpack, JOB_QUERY_ERROR_MAX);
    query.since = unpack_number(unpack, 0, TIMESTAMP_MAX);
    query.until = unpack_number(unpack, 0, TIMESTAMP_MAX);
    query.order = (int)unpack_number(unpack, JOB_QUERY_NEWEST_FIRST, JOB_QUERY_OLDEST_FIRST);
    query.limit = unpack_number(unpack, 1, JOB_QUERY_LIMIT_MAX);
    query.after = unpack_text(unpack, JOB_QUERY_AFTER_LENGTH);
    query.full = unpack_flag(unpack);
    query.form = (enum job_query_form)unpack_number(unpack, 0, JOB_QUERY_FORMS - 1);
    return query;
}

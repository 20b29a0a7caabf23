/*
 * listing.h - the order of a list, and where in it a job stands: what all drivers share.
 *
 * A list goes by the time that its state is about, and without a state, or with a tag, by id. A
 * position in it is a struct job_cursor: it says what has been seen, whether or not that job still
 * exists.
 */
#ifndef STORE_LISTING_H
#define STORE_LISTING_H

#include "base/base.h"
#include "store/store.h"

/* Jobs that one call looks at, at most: with a filter that no index serves, most are passed over.
 */
#define LISTING_LOOK_MAX 10000

/* Payloads, headers, results and outputs on one page, so that a page of large jobs does not need
 * gigabytes: the job that reaches it is the last of its page. */
#define LISTING_PAGE_BYTES ((size_t)16 << 20)

enum listing_order {
    LISTING_BY_ID,    /* any state, or of a tag; its time is the one that the id was made at */
    LISTING_BY_DUE,   /* waiting */
    LISTING_BY_START, /* running */
    LISTING_BY_END,   /* done, dead, cancelled */
};

enum listing_order listing_order_of(const struct job_filter *filter);

/* The time of this job that the order goes by; 0: it has none. */
usec_t listing_time(const struct job_filter *filter, const struct job *job);

/* Where a job stands that is in the list. */
struct job_cursor listing_cursor(const struct job_filter *filter, const struct job *job);

/* What no index serves, so that it is compared with each candidate: type, key and error, and the
 * state of those that have a tag. */
bool listing_is_picky(const struct job_filter *filter);
bool listing_picks(const struct job_filter *filter, const char *type, const char *key,
                   const char *error);

/* All of the filter but for its cursor. */
bool listing_matches(const struct job_filter *filter, const struct job *job);

/* What lies strictly between the two ends, of times and ties where the order goes by a time, of
 * ids where it goes by id: since, until and the cursor together. `ref` of a job is above 0. */
struct listing_range {
    usec_t low_at, high_at;
    int64_t low_ref, high_ref;
    struct uuid low_id, high_id; /* from low_id on, if low_is_in */
    bool low_is_in;
};

struct listing_range listing_range_of(const struct job_filter *filter);

/* The bytes of a job that count for LISTING_PAGE_BYTES. */
size_t listing_bytes(const struct job *job);

/* Where a job stands that may have left the list since it was shown: false when that cannot be told
 * any more. Only the id is looked at where the order goes by id. */
bool listing_find(const struct job_filter *filter, const struct job *job,
                  struct job_cursor *cursor_out) MUST_CHECK;

/* A cursor as a text for strangers to hand back. */
#define LISTING_CURSOR_SIZE 68
const char *listing_format_cursor(const struct job_cursor *cursor, char text[LISTING_CURSOR_SIZE]);
bool listing_parse_cursor(const char *text, struct job_cursor *cursor_out) MUST_CHECK;

#endif

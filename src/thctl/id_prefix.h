/*
 * id_prefix.h - ids as people type them: whole, or their first digits, if no other job has these.
 */
#ifndef THCTL_ID_PREFIX_H
#define THCTL_ID_PREFIX_H

#include "base/base.h"
#include "base/uuid.h"
#include "cli/options.h"
#include "store/store.h"

#define ID_DIGITS_MIN 8

struct id_prefix {
    char text[UUID_TEXT_SIZE]; /* what ids begin with, in small letters and with its dashes */
    struct uuid lowest;        /* of the ids that begin with it; the id itself if it is whole */
    bool is_whole;
};

/* Dashes may be missing. The error is a sentence. */
bool id_prefix_parse(const char *text, struct id_prefix *prefix_out, struct error *err) MUST_CHECK;

/* All of the arguments; freed by the caller. Refused as a whole when one is not an id. */
bool id_prefix_parse_all(const struct words *arguments, struct id_prefix **prefixes_out,
                         struct error *err) MUST_CHECK;

/* The only id of a job that begins so. TH_E_NOT_FOUND: none does; TH_E_CONFLICT: several do, the
 * sentence names some. A whole one is taken as it is, whether its job exists or not. */
bool id_prefix_find(const struct id_prefix *prefix, struct store *store, struct uuid *id_out,
                    struct error *err) MUST_CHECK;

/* An id for a table: whole, or where that is too wide its first 17 digits, which ids of one moment
 * share only by chance. */
const char *id_prefix_show(const char *id, bool is_wide, char shown[UUID_TEXT_SIZE]);

#endif

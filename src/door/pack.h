/*
 * pack.h - what a call or an answer carries: fields, one after the other, in one piece of memory.
 *
 *     pack_text(&pack, job->type);          job.type = unpack_text(&unpack, JOB_NAME_MAX);
 *     pack_number(&pack, job->priority);    job.priority = (int)unpack_number(&unpack, 0, 9);
 *                                           if (!unpack_end(&unpack, "a job", err)) ...
 *
 * Both sides name the same fields in the same order; both run the same binary. A pack is written
 * into a buffer, which remembers its first failure. Reading remembers its first failure too: from
 * there on every field is empty, and unpack_end() says so. Whoever reads believes nothing: a length
 * is held against what is left, a number against its limits, a count against the least that so many
 * entries take. So a door that was taken over can make a reader neither read elsewhere nor ask for
 * more memory than the pack itself has.
 */
#ifndef DOOR_PACK_H
#define DOOR_PACK_H

#include "base/base.h"

struct buffer;
struct error;
struct uuid;

#define PACK_MAX ((size_t)64 << 20)

/* ---- writing ---- */

void pack_number(struct buffer *pack, int64_t number);
void pack_flag(struct buffer *pack, bool flag);
void pack_uuid(struct buffer *pack, const struct uuid *uuid);

/* Absent ones arrive as absent: {NULL, 0}, NULL. */
void pack_bytes(struct buffer *pack, struct bytes bytes);
void pack_text(struct buffer *pack, const char *text);

/* Before the entries of a list. */
void pack_count(struct buffer *pack, size_t count);

void pack_error(struct buffer *pack, const struct error *err);

/* ---- reading ---- */

struct unpack {
    const unsigned char *next;
    size_t left;
    bool failed;
};

struct unpack unpack_begin(struct bytes pack);

/* One outside of [min, max] is a failure; what is returned then is min. */
int64_t unpack_number(struct unpack *unpack, int64_t min, int64_t max);
bool unpack_flag(struct unpack *unpack);
struct uuid unpack_uuid(struct unpack *unpack);

/* They lie in the pack, each followed by a NUL, and have at most `most` bytes. A text has no NUL in
 * it. */
struct bytes unpack_bytes(struct unpack *unpack, size_t most);
const char *unpack_text(struct unpack *unpack, size_t most);

/* A text that must be there: "" after a failure. */
const char *unpack_word(struct unpack *unpack, size_t most);

/* So many entries follow, at most `most`, each of at least `smallest` bytes, which is 1 or more. */
size_t unpack_count(struct unpack *unpack, size_t smallest, size_t most);

void unpack_error(struct unpack *unpack, struct error *err_out);

/* Whether all fields were there, and nothing else. `what` is for the error, which has
 * TH_E_INTERNAL: no door of ours sends such a thing. */
bool unpack_end(const struct unpack *unpack, const char *what, struct error *err) MUST_CHECK;

#endif

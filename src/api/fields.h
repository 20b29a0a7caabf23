/*
 * fields.h - a table of names fills a struct: the members of a body, the parameters of a query.
 *
 * A name is defined once, in the table of its endpoint. Whoever reads requests, tells what is wrong
 * with them, and writes the OpenAPI document reads its row. A row whose kind does not fit the
 * member's type does not compile.
 *
 *     struct claim_wish {const char *worker; struct value_texts queues; int64_t max; usec_t wait;};
 *
 *     static const struct value_field claim_fields[] = {
 *         VALUE_NAME    (claim_wish, worker, .is_required = true, .max = 100, .help = "..."),
 *         VALUE_NAMES   (claim_wish, queues, .max = 32, .help = "..."),
 *         VALUE_NUMBER  (claim_wish, max,    .min = 1, .max = 100, .help = "..."),
 *         VALUE_DURATION(claim_wish, wait,   .max = 30 * USEC_PER_SEC, .help = "..."),
 *         {.name = NULL},
 *     };
 *
 * What a request leaves out, or has as null, stays as the caller has set it.
 */
#ifndef API_FIELDS_H
#define API_FIELDS_H

#include "api/problem.h"
#include "base/base.h"
#include "base/uuid.h"

struct arena;
struct http_query;

enum value_kind {
    VALUE_IS_TEXT,     /* at most `max` bytes, 0: no limit; without NULs */
    VALUE_IS_NAME,     /* of a type, queue, pool, cron entry: JOB_NAME_ALLOWED; at most `max` */
    VALUE_IS_ID,       /* of a job */
    VALUE_IS_NUMBER,   /* whole, `min` to `max` */
    VALUE_IS_FLAG,     /* true or false; in a query also 1 and 0 */
    VALUE_IS_DURATION, /* "30s", or a number of seconds; `min` to `max`, in microseconds; or one of
                        * `words`, of which the first is -1, the next -2 ... */
    VALUE_IS_MOMENT,   /* RFC 3339; "-1h" and "+5m" are relative to now */
    VALUE_IS_WORD,     /* one of `words`; the member is its index */
    VALUE_IS_NAMES,    /* `min` to `max` names; in a query separated by commas */
    VALUE_IS_IDS,      /* `min` to `max` ids of jobs */
    VALUE_IS_JSON,     /* any value, as written; at most `max` bytes, 0: no limit. Bodies only */
    VALUE_IS_OBJECT,   /* an object with a table of its own. Bodies only */
};

struct value_texts {
    const char *const *items;
    size_t count;
};

struct value_ids {
    const struct uuid *items;
    size_t count;
};

struct value_field {
    const char *name;
    enum value_kind kind;
    size_t offset;
    bool is_required;
    int64_t min, max;
    const char *const *words;         /* ended by NULL */
    const struct value_field *fields; /* of an object; offsets count from its own member */
    const char *help;                 /* for the OpenAPI document: one sentence without its end */
};

/* The comparison is never evaluated: it makes the compiler check the member's type. */
#define VALUE_ROW(value_kind, type, section, member, ...)                                          \
    {                                                                                              \
        .name = #member, .kind = (value_kind),                                                     \
        .offset = offsetof(struct section, member) +                                               \
                  0 * sizeof((type *)0 == &((struct section *)0)->member),                         \
        __VA_ARGS__                                                                                \
    }

#define VALUE_TEXT(section, member, ...)                                                           \
    VALUE_ROW(VALUE_IS_TEXT, const char *, section, member, __VA_ARGS__)
#define VALUE_NAME(section, member, ...)                                                           \
    VALUE_ROW(VALUE_IS_NAME, const char *, section, member, __VA_ARGS__)
#define VALUE_ID(section, member, ...)                                                             \
    VALUE_ROW(VALUE_IS_ID, struct uuid, section, member, __VA_ARGS__)
#define VALUE_NUMBER(section, member, ...)                                                         \
    VALUE_ROW(VALUE_IS_NUMBER, int64_t, section, member, __VA_ARGS__)
#define VALUE_FLAG(section, member, ...)                                                           \
    VALUE_ROW(VALUE_IS_FLAG, bool, section, member, __VA_ARGS__)
#define VALUE_DURATION(section, member, ...)                                                       \
    VALUE_ROW(VALUE_IS_DURATION, usec_t, section, member, __VA_ARGS__)
#define VALUE_MOMENT(section, member, ...)                                                         \
    VALUE_ROW(VALUE_IS_MOMENT, usec_t, section, member, __VA_ARGS__)
#define VALUE_WORD(section, member, ...) VALUE_ROW(VALUE_IS_WORD, int, section, member, __VA_ARGS__)
#define VALUE_NAMES(section, member, ...)                                                          \
    VALUE_ROW(VALUE_IS_NAMES, struct value_texts, section, member, __VA_ARGS__)
#define VALUE_IDS(section, member, ...)                                                            \
    VALUE_ROW(VALUE_IS_IDS, struct value_ids, section, member, __VA_ARGS__)
#define VALUE_JSON(section, member, ...)                                                           \
    VALUE_ROW(VALUE_IS_JSON, struct bytes, section, member, __VA_ARGS__)
#define VALUE_OBJECT(section, member, type, ...)                                                   \
    VALUE_ROW(VALUE_IS_OBJECT, struct type, section, member, __VA_ARGS__)

/* An empty body is an empty object. Everything that is wrong is added to `problems`; what was read
 * lives in their arena, or points into the body. `now` is what relative moments start from. */
void fields_read_body(const struct value_field *fields, struct bytes body, usec_t now, void *into,
                      struct problems *problems);
void fields_read_query(const struct value_field *fields, const struct http_query *query, usec_t now,
                       void *into, struct problems *problems);

#endif

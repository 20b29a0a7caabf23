/*
 * statement.h - one call of a statement in statements.sql.
 *
 *     CLEANUP(statement_done) struct statement call = statement_start(postgres, SQL_CRON_LAST);
 *     CLEANUP(answer_done) struct answer answer = {0};
 *     statement_text(&call, name);
 *     if (!statement_run(&call, &answer, err))
 *         return false;
 *
 * Parameters are added in the order of their numbers, in PostgreSQL's binary form. An array is
 * begun and then gets its elements; it ends with the next parameter. Each call is one round trip
 * and one transaction; statements are prepared with their first use.
 */
#ifndef POSTGRES_STATEMENT_H
#define POSTGRES_STATEMENT_H

#include "base/base.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/uuid.h"
#include "job/lease.h"
#include "store/postgres/net/connection.h"

#include "postgres_statements.h"

#define STATEMENT_PARAMETERS 40

struct answer;

/* The numbers by which PostgreSQL knows them. */
enum array_type {
    ARRAY_BOOL = 16,
    ARRAY_BYTEA = 17,
    ARRAY_INT8 = 20,
    ARRAY_INT4 = 23,
    ARRAY_TEXT = 25,
    ARRAY_UUID = 2950,
};

struct statement {
    struct postgres *postgres;
    enum sql_statement which;
    bool writes; /* a lost connection leaves it open what became of it */
    bool rings;  /* in the same round trip, after the commit */
    struct buffer data;
    struct {
        size_t start, length;
        bool is_null;
    } parameters[STATEMENT_PARAMETERS];
    int count;
    bool in_array;
    uint32_t elements; /* of the array under way */
};

/* It only reads, until `writes` is set. */
struct statement statement_start(struct postgres *postgres, enum sql_statement which);
void statement_done(struct statement *statement);

void statement_null(struct statement *statement);
void statement_int(struct statement *statement, int64_t value); /* bigint */
void statement_int4(struct statement *statement, int value);
void statement_int2(struct statement *statement, int value);
void statement_bool(struct statement *statement, bool value);
void statement_int_or_null(struct statement *statement, int64_t value); /* 0 is absent */
void statement_text(struct statement *statement, const char *text);     /* NULL is absent */
void statement_bytes(struct statement *statement, struct bytes bytes);  /* {NULL, 0} is absent */
void statement_uuid(struct statement *statement, const struct uuid *id);

void statement_array(struct statement *statement, enum array_type type);
void element_null(struct statement *statement);
void element_int(struct statement *statement, int64_t value); /* bigint */
void element_int4(struct statement *statement, int value);
void element_int_or_null(struct statement *statement, int64_t value); /* bigint; 0 is absent */
void element_int4_or_null(struct statement *statement, int value);    /* 0 is absent */
void element_bool(struct statement *statement, bool value);
void element_text(struct statement *statement, const char *text); /* NULL is absent */
void element_bytes(struct statement *statement, struct bytes bytes);
void element_uuid(struct statement *statement, const struct uuid *id);
void element_token(struct statement *statement, const struct lease_token *token);

/* answer_out may be NULL. Lost races are repeated, within the deadline. */
bool statement_run(struct statement *statement, struct answer *answer_out,
                   struct error *err) MUST_CHECK;

/* A consistent view for several reads; end it whatever happened in between. */
bool statement_begin_read(struct postgres *postgres, struct error *err) MUST_CHECK;
bool statement_end_read(struct postgres *postgres, bool work, struct error *err) MUST_CHECK;

#endif

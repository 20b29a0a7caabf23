/*
 * statement.h - one call of a statement in statements.sql.
 *
 *     CLEANUP(pg_statement_done)
 *     struct pg_statement call = pg_statement_start(postgres, SQL_CRON_LAST);
 *     CLEANUP(pg_answer_done) struct pg_answer answer = {0};
 *     pg_statement_text(&call, name);
 *     if (!pg_statement_run(&call, &answer, err))
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

#define STATEMENT_PARAMETERS 44

struct pg_answer;

/* The numbers by which PostgreSQL knows them. */
enum array_type {
    ARRAY_BOOL = 16,
    ARRAY_BYTEA = 17,
    ARRAY_INT8 = 20,
    ARRAY_INT4 = 23,
    ARRAY_TEXT = 25,
    ARRAY_VARBIT = 1562,
    ARRAY_UUID = 2950,
};

/* What a statement brought: its own answer, or the first error. */
struct pg_reply {
    PGresult *answer, *error; /* owned */
};

struct pg_statement {
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

    /* Of one that was sent, and is not waited for: */
    usec_t deadline;
    bool disarms; /* the bell, in the same round trip */
    bool is_answered;
    struct pg_reply reply;          /* once it is answered */
    struct pg_statement *next_sent; /* until then */
};

/* It only reads, until `writes` is set. */
struct pg_statement pg_statement_start(struct postgres *postgres, enum sql_statement which);
void pg_statement_done(struct pg_statement *statement);

void pg_statement_null(struct pg_statement *statement);
void pg_statement_int(struct pg_statement *statement, int64_t value); /* bigint */
void pg_statement_int4(struct pg_statement *statement, int value);
void pg_statement_int2(struct pg_statement *statement, int value);
void pg_statement_bool(struct pg_statement *statement, bool value);
void pg_statement_int_or_null(struct pg_statement *statement, int64_t value); /* 0 is absent */
void pg_statement_text(struct pg_statement *statement, const char *text);     /* NULL is absent */
void pg_statement_bytes(struct pg_statement *statement,
                        struct bytes bytes); /* {NULL, 0} is absent */
void pg_statement_uuid(struct pg_statement *statement, const struct uuid *id);

void pg_statement_array(struct pg_statement *statement, enum array_type type);
void pg_element_null(struct pg_statement *statement);
void pg_element_int(struct pg_statement *statement, int64_t value); /* bigint */
void pg_element_int4(struct pg_statement *statement, int value);
void pg_element_int_or_null(struct pg_statement *statement,
                            int64_t value);                              /* bigint; 0 is absent */
void pg_element_int4_or_null(struct pg_statement *statement, int value); /* 0 is absent */
void pg_element_bool(struct pg_statement *statement, bool value);
void pg_element_text(struct pg_statement *statement, const char *text); /* NULL is absent */
void pg_element_bytes(struct pg_statement *statement, struct bytes bytes);
void pg_element_uuid(struct pg_statement *statement, const struct uuid *id);
void pg_element_bits(struct pg_statement *statement, const unsigned char *bits,
                     size_t count); /* the first one is the highest of its byte */
void pg_element_token(struct pg_statement *statement, const struct lease_token *token);

/* Now that all its elements are there; the next parameter does it, and so does whoever sends it. */
void pg_statement_end_array(struct pg_statement *statement);

/* answer_out may be NULL. Lost races are repeated, within the deadline. */
bool pg_statement_run(struct pg_statement *statement, struct pg_answer *answer_out,
                      struct error *err) MUST_CHECK;

/* In two steps: any number can be sent, and stay where they are until they are done with. Receive
 * waits for the answer; all that was sent before is answered then, too. Whoever runs one in between
 * waits for all. */
bool pg_statement_send(struct pg_statement *statement, struct error *err) MUST_CHECK;
bool pg_statement_receive(struct pg_statement *statement, struct pg_answer *answer_out,
                          struct error *err) MUST_CHECK;

/* The answers of all that is out. False: the connection is of no use any more. */
bool pg_statement_collect_sent(struct postgres *postgres, usec_t deadline) MUST_CHECK;

/* A consistent view for several reads; end it whatever happened in between. */
bool pg_statement_begin_read(struct postgres *postgres, struct error *err) MUST_CHECK;
bool pg_statement_end_read(struct postgres *postgres, bool work, struct error *err) MUST_CHECK;

#endif

/*
 * statement.c - parameters in binary form, one round trip, and the answer.
 */
#define SQL_TEXTS
#include "store/postgres/net/statement.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/net/sqlstate.h"
#include "store/postgres/net/wire.h"

#include <assert.h>
#include <endian.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define DATA_MAX    ((size_t)1 << 30) /* PostgreSQL takes no more at once */
#define ATTEMPTS    8
#define PAUSE       (5 * USEC_PER_MSEC) /* longer each time, so that two who met do not meet again */
#define NAME_SIZE   16
#define ABSENT      (-1)
#define ARRAY_HEAD  20 /* dimensions, whether NULLs, type, elements, lower bound */
#define COUNT_PLACE 12

struct pg_statement pg_statement_start(struct postgres *postgres, enum sql_statement which)
{
    return (struct pg_statement){.postgres = postgres, .which = which, .data = BUFFER(DATA_MAX)};
}

void pg_statement_done(struct pg_statement *statement)
{
    buffer_done(&statement->data);
}

/* ---- parameters ---- */

static void add_int4(struct buffer *data, int32_t value)
{
    uint32_t bytes = htobe32((uint32_t)value);

    buffer_add(data, &bytes, sizeof bytes);
}

static void add_int8(struct buffer *data, int64_t value)
{
    uint64_t bytes = htobe64((uint64_t)value);

    buffer_add(data, &bytes, sizeof bytes);
}

/* Now that it is known how many elements the array has. */
static void end_array(struct pg_statement *statement)
{
    uint32_t elements = htobe32(statement->elements);
    size_t start;

    if (!statement->in_array)
        return;
    statement->in_array = false;
    start = statement->parameters[statement->count - 1].start;
    statement->parameters[statement->count - 1].length = statement->data.length - start;
    if (!statement->data.failed)
        memcpy(statement->data.data + start + COUNT_PLACE, &elements, sizeof elements);
}

static void add_parameter(struct pg_statement *statement, const void *value, size_t length)
{
    end_array(statement);
    assert(statement->count < STATEMENT_PARAMETERS);
    statement->parameters[statement->count].start = statement->data.length;
    statement->parameters[statement->count].length = length;
    statement->parameters[statement->count++].is_null = !value;
    if (value)
        buffer_add(&statement->data, value, length);
}

void pg_statement_null(struct pg_statement *statement)
{
    add_parameter(statement, NULL, 0);
}

void pg_statement_int(struct pg_statement *statement, int64_t value)
{
    uint64_t bytes = htobe64((uint64_t)value);

    add_parameter(statement, &bytes, sizeof bytes);
}

void pg_statement_int4(struct pg_statement *statement, int value)
{
    uint32_t bytes = htobe32((uint32_t)value);

    add_parameter(statement, &bytes, sizeof bytes);
}

void pg_statement_int2(struct pg_statement *statement, int value)
{
    uint16_t bytes = htobe16((uint16_t)value);

    add_parameter(statement, &bytes, sizeof bytes);
}

void pg_statement_bool(struct pg_statement *statement, bool value)
{
    const char byte = value ? 1 : 0;

    add_parameter(statement, &byte, sizeof byte);
}

void pg_statement_int_or_null(struct pg_statement *statement, int64_t value)
{
    if (value != 0)
        pg_statement_int(statement, value);
    else
        pg_statement_null(statement);
}

void pg_statement_text(struct pg_statement *statement, const char *text)
{
    add_parameter(statement, text, text ? strlen(text) : 0);
}

void pg_statement_bytes(struct pg_statement *statement, struct bytes bytes)
{
    add_parameter(statement, bytes.data, bytes.length);
}

void pg_statement_uuid(struct pg_statement *statement, const struct uuid *id)
{
    add_parameter(statement, id->bytes, sizeof id->bytes);
}

void pg_statement_array(struct pg_statement *statement, enum array_type type)
{
    add_parameter(statement, "", 0);
    statement->in_array = true;
    statement->elements = 0;
    add_int4(&statement->data, 1);
    add_int4(&statement->data, 1);
    add_int4(&statement->data, type);
    add_int4(&statement->data, 0);
    add_int4(&statement->data, 1);
}

static void add_element(struct pg_statement *statement, const void *value, size_t length)
{
    assert(statement->in_array && length <= INT32_MAX);
    statement->elements++;
    add_int4(&statement->data, value ? (int32_t)length : ABSENT);
    if (value)
        buffer_add(&statement->data, value, length);
}

void pg_element_null(struct pg_statement *statement)
{
    add_element(statement, NULL, 0);
}

void pg_element_int(struct pg_statement *statement, int64_t value)
{
    statement->elements++;
    add_int4(&statement->data, sizeof value);
    add_int8(&statement->data, value);
}

void pg_element_int4(struct pg_statement *statement, int value)
{
    statement->elements++;
    add_int4(&statement->data, sizeof value);
    add_int4(&statement->data, value);
}

void pg_element_int_or_null(struct pg_statement *statement, int64_t value)
{
    if (value != 0)
        pg_element_int(statement, value);
    else
        pg_element_null(statement);
}

void pg_element_int4_or_null(struct pg_statement *statement, int value)
{
    if (value != 0)
        pg_element_int4(statement, value);
    else
        pg_element_null(statement);
}

void pg_element_bool(struct pg_statement *statement, bool value)
{
    const char byte = value ? 1 : 0;

    add_element(statement, &byte, sizeof byte);
}

void pg_element_text(struct pg_statement *statement, const char *text)
{
    add_element(statement, text, text ? strlen(text) : 0);
}

void pg_element_bytes(struct pg_statement *statement, struct bytes bytes)
{
    add_element(statement, bytes.data, bytes.length);
}

void pg_element_uuid(struct pg_statement *statement, const struct uuid *id)
{
    add_element(statement, id->bytes, sizeof id->bytes);
}

void pg_element_bits(struct pg_statement *statement, const unsigned char *bits, size_t count)
{
    const size_t length = (count + 7) / 8;

    assert(statement->in_array && count <= INT32_MAX);
    statement->elements++;
    add_int4(&statement->data, (int32_t)(sizeof(int32_t) + length));
    add_int4(&statement->data, (int32_t)count);
    buffer_add(&statement->data, (const char *)bits, length);
}

void pg_element_token(struct pg_statement *statement, const struct lease_token *token)
{
    add_element(statement, token->bytes, sizeof token->bytes);
}

/* ---- the round trip ---- */

static bool send_prepare(struct postgres *postgres, enum sql_statement which, const char *name)
{
    return postgres->prepared[which] ||
           PQsendPrepare(postgres->conn, name, sql_texts[which], 0, NULL) == 1;
}

static bool send_execute(const struct pg_statement *statement, const char *name)
{
    const char *values[STATEMENT_PARAMETERS];
    int lengths[STATEMENT_PARAMETERS], formats[STATEMENT_PARAMETERS];

    for (int i = 0; i < statement->count; i++) {
        /* An empty buffer has no address; a NULL would be an absent value. */
        const char *data = statement->data.data ? statement->data.data : "";
        values[i] = statement->parameters[i].is_null ? NULL : data + statement->parameters[i].start;
        lengths[i] = (int)statement->parameters[i].length;
        formats[i] = 1;
    }
    return PQsendQueryPrepared(statement->postgres->conn, name, statement->count, values, lengths,
                               formats, 1) == 1;
}

/* One transaction: what follows it does not share its fate. */
static bool send_unit(const struct pg_statement *statement)
{
    char name[NAME_SIZE];

    snprintf(name, sizeof name, "th%d", (int)statement->which);
    return send_prepare(statement->postgres, statement->which, name) &&
           send_execute(statement, name) && PQpipelineSync(statement->postgres->conn) == 1;
}

static bool send_plain(struct postgres *postgres, enum sql_statement which)
{
    const struct pg_statement plain = {.postgres = postgres, .which = which};

    return send_unit(&plain);
}

/* What a unit brought, up to its end: the answer of the statement itself, or the first error. */
struct reply {
    PGresult *answer, *error; /* owned */
};

static void reply_done(struct reply *reply)
{
    PQclear(reply->answer);
    PQclear(reply->error);
    *reply = (struct reply){0};
}

static void keep(PGresult **slot, PGresult *result)
{
    PQclear(*slot);
    *slot = result;
}

static bool collect(struct postgres *postgres, usec_t deadline, struct reply *reply)
{
    PGresult *result;

    for (;;) {
        if (!pg_wire_result(postgres->conn, deadline, &result))
            return false;
        ExecStatusType status = PQresultStatus(result);
        if (result && status == PGRES_PIPELINE_SYNC) {
            PQclear(result);
            return true;
        }
        if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK)
            keep(&reply->answer, result);
        else if (result && !reply->error && status == PGRES_FATAL_ERROR)
            reply->error = result;
        else
            PQclear(result);
    }
}

/* Its preparation has an answer of its own, which stays when the statement itself failed. */
static void note_prepared(struct postgres *postgres, enum sql_statement which,
                          const struct reply *reply)
{
    postgres->prepared[which] = postgres->prepared[which] || reply->answer;
}

static bool collect_plain(struct postgres *postgres, enum sql_statement which, usec_t deadline)
{
    CLEANUP(reply_done) struct reply ignored = {0};

    if (!collect(postgres, deadline, &ignored))
        return false;
    note_prepared(postgres, which, &ignored);
    return true;
}

/* Everything that goes with the statement in its round trip. */
static bool talk(struct pg_statement *statement, usec_t deadline, struct reply *reply)
{
    struct postgres *postgres = statement->postgres;
    const bool disarms = pg_bell_is_idle(&postgres->bell) && statement->which != SQL_ARM;

    if ((disarms && !send_plain(postgres, SQL_DISARM)) || !send_unit(statement) ||
        (statement->rings && !send_plain(postgres, SQL_RING)) ||
        !pg_wire_flush(postgres->conn, deadline))
        return false;
    if (disarms) {
        pg_bell_disarmed(&postgres->bell);
        if (!collect_plain(postgres, SQL_DISARM, deadline))
            return false;
    }
    if (!collect(postgres, deadline, reply))
        return false;
    note_prepared(postgres, statement->which, reply);
    if (statement->rings) {
        pg_bell_rings(postgres);
        if (!collect_plain(postgres, SQL_RING, deadline))
            return false;
    }
    pg_bell_hear(postgres);
    return true;
}

/* One that has failed takes nothing more, so a statement of it cannot be repeated alone. */
static bool is_in_transaction(const struct postgres *postgres)
{
    return postgres->conn && PQtransactionStatus(postgres->conn) != PQTRANS_IDLE;
}

/* Whether to try again after this error, which is reported otherwise. */
static bool shall_repeat(struct pg_statement *statement, const PGresult *failure, int attempt,
                         struct error *err)
{
    const char *state = PQresultErrorField(failure, PG_DIAG_SQLSTATE);
    enum sqlstate_remedy remedy = pg_sqlstate_find(state)->remedy;

    pg_connection_error(failure, err);
    if (remedy == SQLSTATE_RECONNECT)
        pg_connection_drop(statement->postgres);
    if (remedy != SQLSTATE_REPEAT || attempt == ATTEMPTS || is_in_transaction(statement->postgres))
        return false;
    clock_sleep(PAUSE * attempt);
    return true;
}

bool pg_statement_run(struct pg_statement *statement, struct pg_answer *answer_out,
                      struct error *err)
{
    usec_t deadline = store_deadline(&statement->postgres->base);

    end_array(statement);
    if (!buffer_ok(&statement->data, err))
        return false;
    for (int attempt = 1;; attempt++) {
        CLEANUP(reply_done) struct reply reply = {0};
        if (!pg_connection_ensure(statement->postgres, deadline, err))
            return false;
        if (!talk(statement, deadline, &reply))
            return pg_connection_lost(statement->postgres, statement->writes, err);
        if (!reply.error) {
            if (answer_out) {
                *answer_out = pg_answer_of(reply.answer);
                reply.answer = NULL;
            }
            return true;
        }
        if (!shall_repeat(statement, reply.error, attempt, err))
            return false;
    }
}

static bool run_plain(struct postgres *postgres, enum sql_statement which, struct error *err)
{
    CLEANUP(pg_statement_done) struct pg_statement statement = pg_statement_start(postgres, which);

    return pg_statement_run(&statement, NULL, err);
}

bool pg_statement_begin_read(struct postgres *postgres, struct error *err)
{
    return run_plain(postgres, SQL_BEGIN_READ, err);
}

bool pg_statement_end_read(struct postgres *postgres, bool work, struct error *err)
{
    struct error ignored; /* the failure that brought us here is the one to report */

    if (work)
        return run_plain(postgres, SQL_COMMIT, err);
    if (is_in_transaction(postgres) && !run_plain(postgres, SQL_ROLLBACK, &ignored))
        pg_connection_drop(postgres);
    return false;
}

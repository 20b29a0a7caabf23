/*
 * statement.c - one round trip, and the answer.
 */
#define SQL_TEXTS
#include "store/postgres/net/statement.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "store/postgres/net/answer.h"
#include "store/postgres/net/sqlstate.h"
#include "store/postgres/net/wire.h"

#include <stdio.h>
#include <string.h>

#define DATA_MAX  ((size_t)1 << 30) /* PostgreSQL takes no more at once */
#define ATTEMPTS  8
#define PAUSE     (5 * USEC_PER_MSEC) /* longer each time, so that two who met do not meet again */
#define NAME_SIZE 16

struct pg_statement pg_statement_start(struct postgres *postgres, enum sql_statement which)
{
    return (struct pg_statement){.postgres = postgres, .which = which, .data = BUFFER(DATA_MAX)};
}

static void reply_done(struct pg_reply *reply)
{
    PQclear(reply->answer);
    PQclear(reply->error);
    *reply = (struct pg_reply){0};
}

void pg_statement_done(struct pg_statement *statement)
{
    reply_done(&statement->reply);
    buffer_done(&statement->data);
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

static void keep(PGresult **slot, PGresult *result)
{
    PQclear(*slot);
    *slot = result;
}

/* What a unit brought, up to its end. */
static bool collect(struct postgres *postgres, usec_t deadline, struct pg_reply *reply)
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
                          const struct pg_reply *reply)
{
    postgres->prepared[which] = postgres->prepared[which] || reply->answer;
}

static bool collect_plain(struct postgres *postgres, enum sql_statement which, usec_t deadline)
{
    CLEANUP(reply_done) struct pg_reply ignored = {0};

    if (!collect(postgres, deadline, &ignored))
        return false;
    note_prepared(postgres, which, &ignored);
    return true;
}

static bool collect_oldest(struct postgres *postgres, usec_t deadline)
{
    struct pg_statement *oldest = postgres->sent;

    if ((oldest->disarms && !collect_plain(postgres, SQL_DISARM, deadline)) ||
        !collect(postgres, deadline, &oldest->reply))
        return false;
    note_prepared(postgres, oldest->which, &oldest->reply);
    oldest->is_answered = true;
    postgres->sent = oldest->next_sent;
    if (!postgres->sent)
        pg_bell_unmute(&postgres->bell);
    return true;
}

bool pg_statement_collect_sent(struct postgres *postgres, usec_t deadline)
{
    while (postgres->sent)
        if (!collect_oldest(postgres, deadline))
            return false;
    return true;
}

/* Everything that goes with the statement in its round trip. */
static bool talk(struct pg_statement *statement, usec_t deadline, struct pg_reply *reply)
{
    struct postgres *postgres = statement->postgres;
    const bool disarms = pg_bell_is_idle(&postgres->bell) && statement->which != SQL_ARM;

    if (!pg_statement_collect_sent(postgres, deadline) ||
        (disarms && !send_plain(postgres, SQL_DISARM)) || !send_unit(statement) ||
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

    pg_statement_end_array(statement);
    if (!buffer_ok(&statement->data, err))
        return false;
    for (int attempt = 1;; attempt++) {
        CLEANUP(reply_done) struct pg_reply reply = {0};
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

/* ---- not waited for ---- */

/* What is out may have prepared it, which its answer tells. */
static bool is_ready_for(struct postgres *postgres, const struct pg_statement *statement)
{
    return postgres->prepared[statement->which] ||
           pg_statement_collect_sent(postgres, statement->deadline);
}

static bool send_with_bell(struct pg_statement *statement)
{
    struct postgres *postgres = statement->postgres;

    statement->disarms = pg_bell_is_idle(&postgres->bell);
    if (!is_ready_for(postgres, statement) ||
        (statement->disarms && !send_plain(postgres, SQL_DISARM)) || !send_unit(statement) ||
        !pg_wire_flush(postgres->conn, statement->deadline))
        return false;
    if (statement->disarms)
        pg_bell_disarmed(&postgres->bell);
    return true;
}

static void add_sent(struct postgres *postgres, struct pg_statement *statement)
{
    struct pg_statement **place = &postgres->sent;

    if (!postgres->sent)
        pg_bell_mute(&postgres->bell);
    while (*place)
        place = &(*place)->next_sent;
    *place = statement;
}

bool pg_statement_send(struct pg_statement *statement, struct error *err)
{
    struct postgres *postgres = statement->postgres;

    statement->deadline = store_deadline(&postgres->base);
    pg_statement_end_array(statement);
    if (!buffer_ok(&statement->data, err) ||
        !pg_connection_ensure(postgres, statement->deadline, err))
        return false;
    if (!send_with_bell(statement))
        return pg_connection_lost(postgres, statement->writes, err);
    add_sent(postgres, statement);
    return true;
}

/* To the end of all that is out: what has to be repeated comes after it. */
static bool recover(struct pg_statement *statement, struct pg_answer *answer_out, struct error *err)
{
    if (!pg_statement_collect_sent(statement->postgres, statement->deadline)) {
        pg_connection_drop(statement->postgres);
        return pg_connection_error(statement->reply.error, err);
    }
    return shall_repeat(statement, statement->reply.error, 1, err) &&
           pg_statement_run(statement, answer_out, err);
}

bool pg_statement_receive(struct pg_statement *statement, struct pg_answer *answer_out,
                          struct error *err)
{
    struct postgres *postgres = statement->postgres;

    while (!statement->is_answered && postgres->sent)
        if (!collect_oldest(postgres, statement->deadline))
            return pg_connection_lost(postgres, statement->writes, err);
    if (!statement->is_answered)
        return error_set(err, statement->writes ? TH_E_UNCERTAIN : TH_E_UNAVAILABLE,
                         "postgres: the connection was lost");
    if (statement->reply.error)
        return recover(statement, answer_out, err);
    if (postgres->conn)
        pg_bell_hear(postgres);
    *answer_out = pg_answer_of(statement->reply.answer);
    statement->reply.answer = NULL;
    return true;
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

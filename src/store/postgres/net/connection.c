/*
 * connection.c - connects, makes the session ours, says what went wrong.
 *
 * Invariants:
 *   - An idle connection is in pipeline mode, with nothing under way.
 *   - What a session needs (settings, prepared statements, the bell) is made again with each
 *     connection, so nobody else has to know that it was lost.
 *   - No text of libpq is shown that could quote the URL.
 */
#include "store/postgres/net/connection.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "store/postgres/net/dial.h"
#include "store/postgres/net/pooler.h"
#include "store/postgres/net/sqlstate.h"
#include "store/postgres/net/statement.h"
#include "store/postgres/net/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Plans must not depend on statistics: a table that was just filled has none. Every statement of
 * ours has an index for what it looks for, and few rows on the outer side of a join. */
#define SESSION_SETTINGS                                                                           \
    "SET client_min_messages = warning; SET lock_timeout = 0;"                                     \
    "SET default_transaction_isolation = 'read committed'; SET plan_cache_mode = "                 \
    "force_generic_plan; SET enable_seqscan = off; SET enable_hashjoin = off;"                     \
    "SET enable_mergejoin = off; SET enable_bitmapscan = off; SET jit = off;"

#define WORDS_MAX            ((size_t)16 * 1024) /* of all servers that refused us */
#define APPLICATION_NAME_MAX 63 /* the server would cut it, and say so in its log */

struct postgres *pg_connection_new(const char *conninfo, const char *schema, const char *caller)
{
    struct postgres *postgres = calloc(1, sizeof *postgres);

    if (!postgres)
        return NULL;
    pg_bell_init(&postgres->bell);
    postgres->conninfo = strdup(conninfo);
    postgres->schema = strdup(schema);
    postgres->caller = strndup(caller, APPLICATION_NAME_MAX);
    postgres->prepared = calloc(SQL_STATEMENTS, sizeof *postgres->prepared);
    if (!postgres->conninfo || !postgres->schema || !postgres->caller || !postgres->prepared) {
        pg_connection_free(postgres);
        return NULL;
    }
    return postgres;
}

void pg_connection_drop(struct postgres *postgres)
{
    if (!postgres->conn)
        return;
    pg_bell_lose(&postgres->bell);
    PQfinish(postgres->conn);
    postgres->conn = NULL;
    postgres->sent = NULL;
    memset(postgres->prepared, 0, SQL_STATEMENTS * sizeof *postgres->prepared);
}

void pg_connection_free(struct postgres *postgres)
{
    pg_connection_drop(postgres);
    pg_bell_done(&postgres->bell);
    pg_scan_starts_done(&postgres->scan_starts);
    free(postgres->prepared);
    free(postgres->schema);
    free(postgres->caller);
    free(postgres->conninfo);
    free(postgres->base.name);
    free(postgres);
}

int pg_connection_timeout(const struct postgres *postgres)
{
    const usec_t patience = postgres->base.deadline != 0 ? postgres->base.deadline : CALL_DEADLINE;

    return (int)(patience / 10 * 9 / USEC_PER_MSEC);
}

static void add_words(struct buffer *line, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] != ' ' || (i > 0 && text[i - 1] != ' '))
            buffer_char(line, text[i]);
}

/* Several lines of the library or the server as one. Those that the library indents are its guesses
 * at the reason, in sentences of their own. */
static void add_line(struct buffer *line, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        if (length > 0 && *text != '\t') {
            buffer_text(line, line->length > 0 ? "; " : "");
            add_words(line, text, length);
        }
        text += length + (text[length] == '\n');
    }
}

/* The state that a refused connection does not tell the library's callers. */
static const char *state_of_refusal(const char *words)
{
    static const struct {
        const char *words, *state;
    } refusals[] = {
        {"password authentication failed", "28P01"},
        {"no password supplied", "28P01"},
        {"too many", "53300"},
        {"remaining connection slots", "53300"},
        {"no pg_hba.conf entry", "28000"},
        {"pg_hba.conf rejects", "28000"},
        {"authentication failed", "28000"},
        {"root certificate file", "08001"}, /* libpq says itself what to do */
        {"session is read-only", SQLSTATE_READ_ONLY},
        {"server is in hot standby mode", SQLSTATE_READ_ONLY},
    };

    for (size_t i = 0; i < COUNT_OF(refusals); i++)
        if (strstr(words, refusals[i].words))
            return refusals[i].state;
    if (!strstr(words, "does not exist"))
        return "08001";
    return strstr(words, "database \"") ? "3D000" : "28000";
}

/* What to do about a refusal, if anybody can say. */
static const char *advice_on(const char *words)
{
    static const struct {
        const char *words, *advice;
    } tls[] = {
        {"certificate verify failed",
         "name the certificate of the authority that signed the server's, sslrootcert=FILE"},
        {"does not match host name", "connect by a name that the certificate has"},
        {"server does not support SSL", "turn ssl on in the server, or look at sslmode in the URL"},
    };

    for (size_t i = 0; i < COUNT_OF(tls); i++)
        if (strstr(words, tls[i].words))
            return tls[i].advice;
    return pg_sqlstate_find(state_of_refusal(words))->advice;
}

static bool refuse_connection(const char *words, struct error *err)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(WORDS_MAX);
    const char *advice = advice_on(words);

    add_line(&line, words);
    if (line.length == 0)
        return error_no_memory(err);
    return error_set(err, TH_E_UNAVAILABLE, "postgres: %s%s%s", buffer_str(&line),
                     advice ? ": " : "", advice ? advice : "");
}

bool pg_connection_error(const PGresult *result, struct error *err)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(ERROR_TEXT_SIZE);
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *words = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const struct pg_sqlstate *meaning = pg_sqlstate_find(state);

    add_line(&line, words ? words : PQresultErrorMessage(result));
    if (state && text_starts_with(state, "TH"))
        return error_set(err, meaning->code, "%s", buffer_str(&line));
    return error_set(err, meaning->code, "postgres: %s%s%s", buffer_str(&line),
                     meaning->advice ? ": " : "", meaning->advice ? meaning->advice : "");
}

bool pg_connection_lost(struct postgres *postgres, bool wrote, struct error *err)
{
    CLEANUP(buffer_done) struct buffer line = BUFFER(ERROR_TEXT_SIZE);
    bool broken = postgres->conn && PQstatus(postgres->conn) != CONNECTION_OK;

    if (broken)
        add_line(&line, PQerrorMessage(postgres->conn));
    pg_connection_drop(postgres);
    return error_set(err, wrote ? TH_E_UNCERTAIN : TH_E_UNAVAILABLE, "postgres: %s%s%s",
                     broken ? "the connection was lost" : "the server gave no answer in time",
                     line.length > 0 ? ": " : "", buffer_str(&line));
}

/* To the end of all results; the last one is kept. */
static bool collect(struct postgres *postgres, usec_t deadline, PGresult **last_out,
                    struct error *err)
{
    PGresult *next = NULL;

    *last_out = NULL;
    for (;;) {
        if (!pg_wire_result(postgres->conn, deadline, &next)) {
            PQclear(*last_out);
            return pg_connection_lost(postgres, false, err);
        }
        if (!next)
            return true;
        PQclear(*last_out);
        *last_out = next;
    }
}

bool pg_connection_ask(struct postgres *postgres, const char *sql, usec_t deadline,
                       PGresult **result_out, struct error *err)
{
    *result_out = NULL;
    if (!pg_connection_ensure(postgres, deadline, err))
        return false;
    if (!pg_statement_collect_sent(postgres, deadline))
        return pg_connection_lost(postgres, false, err);
    (void)PQexitPipelineMode(postgres->conn);
    if (PQsendQuery(postgres->conn, sql) != 1 || !pg_wire_flush(postgres->conn, deadline))
        return pg_connection_lost(postgres, false, err);
    if (!collect(postgres, deadline, result_out, err))
        return false;
    (void)PQenterPipelineMode(postgres->conn);
    ExecStatusType status = PQresultStatus(*result_out);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
        return true;
    pg_connection_error(*result_out, err);
    PQclear(*result_out);
    *result_out = NULL;
    return false;
}

bool pg_connection_execute(struct postgres *postgres, const char *sql, usec_t deadline,
                           struct error *err)
{
    PGresult *result = NULL;
    bool done = pg_connection_ask(postgres, sql, deadline, &result, err);

    PQclear(result);
    return done;
}

static bool open_connection(struct postgres *postgres, usec_t deadline, struct error *err)
{
    CLEANUP(buffer_done) struct buffer words = BUFFER(WORDS_MAX);

    return pg_dial_any(postgres->conninfo, postgres->caller, deadline, &postgres->conn, &words) ||
           refuse_connection(buffer_str(&words), err);
}

/* The schema is a plain name (conninfo.h), so it can stand in a statement; quoted, since it may be
 * a word of SQL. */
static bool set_up_session(struct postgres *postgres, usec_t deadline, struct error *err)
{
    char sql[1024];

    snprintf(sql, sizeof sql,
             SESSION_SETTINGS " SET statement_timeout = %d; SET search_path = \"%s\", pg_temp",
             pg_connection_timeout(postgres), postgres->schema);
    return pg_connection_execute(postgres, sql, deadline, err) &&
           pg_pooler_check(postgres, deadline, err);
}

bool pg_connection_ensure(struct postgres *postgres, usec_t deadline, struct error *err)
{
    if (postgres->conn && pg_wire_is_alive(postgres->conn)) {
        pg_bell_hear(postgres);
        return true;
    }
    pg_connection_drop(postgres);
    if (open_connection(postgres, deadline, err)) {
        (void)PQenterPipelineMode(postgres->conn);
        if (set_up_session(postgres, deadline, err))
            return true;
    }
    pg_connection_drop(postgres);
    return false;
}

/*
 * door_sql.c - the door of producers who speak SQL: taskharbor.enqueue().
 */
#include "doors.h"

#include "base/text.h"
#include "store/postgres/net/conninfo.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_OID  114
#define BYTEA_OID 17
#define OURS      "TH002" /* what the function itself refuses */

/* $1 is the payload, then the fields in their order. */
#define CALL                                                                                       \
    "SELECT %s.%s(payload => $1, type => $2, queue => $3, priority => $5::int, run_at => "         \
    "'epoch'::timestamptz + ($6::bigint / 1000000) * interval '1 second'"                          \
    " + ($6::bigint %% 1000000) * interval '1 microsecond',"                                       \
    " timeout => $7::bigint * interval '1 microsecond', max_attempts => $8::int,"                  \
    " max_stalls => $9::int, key => $10, idempotency_key => $11, id => $12::uuid,"                 \
    " update_payload => $13::boolean, update_run_at => $14, update_retry => $15::boolean,"         \
    " reset_counts => $16::boolean, headers => $17::jsonb,"                                        \
    " tags => string_to_array($18, ' ')) WHERE $4::text IS NULL OR $4::text = '%s'"

struct sql_door {
    PGconn *conn;
    char schema[128];
};

static void *open_door(const struct scene *scene)
{
    struct sql_door *door = calloc(1, sizeof *door);
    AUTO_FREE char *conninfo = pg_conninfo_make(scene->url);

    ck_assert_ptr_nonnull(door);
    snprintf(door->schema, sizeof door->schema, "%s", strstr(scene->url, "schema=") + 7);
    door->conn = PQconnectdb(conninfo);
    ck_assert_msg(PQstatus(door->conn) == CONNECTION_OK, "%s", PQerrorMessage(door->conn));
    return door;
}

static void close_door(void *state)
{
    struct sql_door *door = state;

    PQfinish(door->conn);
    free(door);
}

static PGresult *call(struct sql_door *door, const struct offer *offer)
{
    const bool raw = text_equal(offer->encoding, "raw");
    const char *values[OFFER_FIELDS + 1] = {(const char *)offer->payload.data};
    int lengths[OFFER_FIELDS + 1] = {(int)offer->payload.length}, formats[OFFER_FIELDS + 1] = {1};
    Oid types[OFFER_FIELDS + 1] = {raw ? BYTEA_OID : JSON_OID};
    char sql[2048];

    for (size_t i = 0; i < OFFER_FIELDS; i++)
        values[i + 1] = offer_value(offer, i);
    if (text_equal(offer->run_at, "0"))
        values[5] = NULL; /* which is how the others say "now" */
    snprintf(sql, sizeof sql, CALL, door->schema, raw ? "enqueue_raw" : "enqueue",
             raw ? "raw" : "json");
    return PQexecParams(door->conn, sql, OFFER_FIELDS + 1, types, values, lengths, formats, 0);
}

static void enqueue(void *state, const struct offer *offer, struct door_answer *answer)
{
    PGresult *result = call(state, offer);

    *answer = (struct door_answer){0};
    answer->accepted = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1;
    if (answer->accepted)
        ck_assert(uuid_parse(PQgetvalue(result, 0, 0), &answer->id));
    else if (text_equal(PQresultErrorField(result, PG_DIAG_SQLSTATE), OURS))
        snprintf(answer->sentence, sizeof answer->sentence, "%s",
                 PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
    PQclear(result);
}

const struct door door_of_sql = {"postgres", open_door, enqueue, close_door};

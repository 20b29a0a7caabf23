/*
 * sqlstate.c - what an error of the server means for us: one table.
 */
#include "store/postgres/net/sqlstate.h"

#include <string.h>

#define CLASS_LENGTH 2

/* Whole states come before their classes. */
/* clang-format off */
static const struct pg_sqlstate meanings[] = {
    {"40001", TH_E_UNAVAILABLE, SQLSTATE_REPEAT,    NULL},
    {"40P01", TH_E_UNAVAILABLE, SQLSTATE_REPEAT,    NULL},
    {"0A000", TH_E_UNAVAILABLE, SQLSTATE_RECONNECT, "the schema was changed under us"},
    {"26000", TH_E_UNAVAILABLE, SQLSTATE_RECONNECT, "a pooler lost what belongs to our session: connect to the server itself"},
    {SQLSTATE_READ_ONLY, TH_E_UNAVAILABLE, SQLSTATE_RECONNECT, "this server is read-only: name the primary, or all servers and target_session_attrs=read-write"},
    {"25P03", TH_E_UNAVAILABLE, SQLSTATE_RECONNECT, NULL},
    {"28P01", TH_E_UNAVAILABLE, SQLSTATE_RECONNECT, "set the right password in the URL, PGPASSWORD or a passfile"},
    {"28",    TH_E_UNAVAILABLE, SQLSTATE_RECONNECT, "look at the user in the URL and at the server's pg_hba.conf"},
    {"3D000", TH_E_UNAVAILABLE, SQLSTATE_RECONNECT, "make it with 'createdb', or name another one in the URL"},
    {"3F000", TH_E_SCHEMA,      SQLSTATE_REPORT,    "run 'thctl migrate'"},
    {"42P01", TH_E_SCHEMA,      SQLSTATE_REPORT,    "run 'thctl migrate'"},
    {"42883", TH_E_SCHEMA,      SQLSTATE_REPORT,    "run 'thctl migrate'"},
    {"42501", TH_E_INVALID,     SQLSTATE_REPORT,    "the user in the URL may not do this: GRANT taskharbor_producer lets it enqueue, taskharbor_reader look; for all else it has to own the schema"},
    {"53300", TH_E_UNAVAILABLE, SQLSTATE_RECONNECT, "raise max_connections of the server, or run fewer pools"},
    {"53",    TH_E_UNAVAILABLE, SQLSTATE_REPORT,    NULL},
    {"55P03", TH_E_LEASE_MISMATCH, SQLSTATE_REPORT, NULL}, /* only plain acks give up a lock */
    {"55",    TH_E_UNAVAILABLE, SQLSTATE_REPORT,    NULL},
    {"57014", TH_E_UNAVAILABLE, SQLSTATE_REPORT,    "somebody else holds what we need, or the server is overloaded"},
    {"57",    TH_E_UNAVAILABLE, SQLSTATE_RECONNECT, NULL},
    {"58",    TH_E_UNAVAILABLE, SQLSTATE_REPORT,    NULL},
    {"08",    TH_E_UNAVAILABLE, SQLSTATE_RECONNECT, NULL},
    {"22021", TH_E_INVALID,     SQLSTATE_REPORT,    "the database should have the encoding UTF8"},
    {"22P05", TH_E_INVALID,     SQLSTATE_REPORT,    "the database should have the encoding UTF8"},
    {"TH001", TH_E_CONFLICT,    SQLSTATE_REPORT,    NULL},
    {"TH002", TH_E_INVALID,     SQLSTATE_REPORT,    NULL},
    {"TH003", TH_E_LEASE_MISMATCH, SQLSTATE_REPORT, NULL},
};
/* clang-format on */

static const struct pg_sqlstate unknown = {"", TH_E_INTERNAL, SQLSTATE_REPORT, NULL};

const struct pg_sqlstate *pg_sqlstate_find(const char *state)
{
    for (size_t i = 0; state && i < COUNT_OF(meanings); i++) {
        bool is_class = strlen(meanings[i].state) == CLASS_LENGTH;
        if (is_class ? strncmp(state, meanings[i].state, CLASS_LENGTH) == 0
                     : strcmp(state, meanings[i].state) == 0)
            return &meanings[i];
    }
    return &unknown;
}

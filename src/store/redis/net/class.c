/*
 * class.c - the table of error replies.
 */
#include "store/redis/net/class.h"

#include <string.h>

struct error_class {
    const char *word; /* the first of the reply */
    enum redis_remedy remedy;
    enum th_error_code code;
    const char *advice; /* NULL: the reply itself is shown */
};

/* clang-format off */
static const struct error_class classes[] = {
    {"NOSCRIPT",    REMEDY_LOAD,      TH_E_UNAVAILABLE, "the script was flushed"},
    {"MOVED",       REMEDY_MOVE,      TH_E_UNAVAILABLE, "the slot is moving"},
    {"ASK",         REMEDY_ASK,       TH_E_UNAVAILABLE, "the slot is moving"},
    {"TRYAGAIN",    REMEDY_REPEAT,    TH_E_UNAVAILABLE, "the slot is moving"},
    {"CLUSTERDOWN", REMEDY_RECONNECT, TH_E_UNAVAILABLE, "the cluster is down"},
    {"READONLY",    REMEDY_RECONNECT, TH_E_UNAVAILABLE, "this is a replica; the master is elsewhere"},
    {"UNBLOCKED",   REMEDY_RECONNECT, TH_E_UNAVAILABLE, "this is a replica now; the master is elsewhere"},
    {"LOADING",     REMEDY_RECONNECT, TH_E_UNAVAILABLE, "the server is loading its data"},
    {"MASTERDOWN",  REMEDY_RECONNECT, TH_E_UNAVAILABLE, "this is a replica without its master"},
    {"BUSY",        REMEDY_RECONNECT, TH_E_UNAVAILABLE, "the server is busy with somebody's script"},
    {"NOREPLICAS",  REMEDY_NONE,      TH_E_UNAVAILABLE, "too few replicas are connected (min-replicas-to-write)"},
    {"OOM",         REMEDY_NONE,      TH_E_UNAVAILABLE, "the server is out of memory: raise maxmemory, or have jobs kept for a shorter time (retention)"},
    {"MISCONF",     REMEDY_NONE,      TH_E_UNAVAILABLE, "the server cannot save to its disk and refuses to write: see its log"},
    {"NOAUTH",      REMEDY_NONE,      TH_E_UNAVAILABLE, "the server wants a password: put it into the URL, redis://user:password@host"},
    {"WRONGPASS",   REMEDY_NONE,      TH_E_UNAVAILABLE, "the server does not accept this user and password"},
    {"NOPERM",      REMEDY_NONE,      TH_E_UNAVAILABLE, "this user may not do it: it needs all commands of the server on the keys PREFIX:*, and the channel PREFIX:bell"},
    {"WRONGTYPE",   REMEDY_MEND,      TH_E_SCHEMA,      "a key belongs to another program: choose another prefix"},
};
/* clang-format on */

static const struct error_class *find(const char *reply)
{
    size_t length = strcspn(reply, " ");

    for (size_t i = 0; i < COUNT_OF(classes); i++)
        if (strlen(classes[i].word) == length && memcmp(classes[i].word, reply, length) == 0)
            return &classes[i];
    return NULL;
}

enum redis_remedy redis_class_remedy(const char *reply)
{
    const struct error_class *found = find(reply);

    return found ? found->remedy : REMEDY_NONE;
}

/* A script that failed half-way says so as "ERR user_script:12: ..."; of the errors that are left
 * those at the login are the user's to mend, and the others ours. */
bool redis_class_error(const char *reply, struct error *err)
{
    const struct error_class *found = find(reply);

    if (found)
        return error_set(err, found->code, "%s", found->advice);
    if (strstr(reply, "max number of clients"))
        return error_set(err, TH_E_UNAVAILABLE, "the server has as many clients as it takes");
    if (strstr(reply, "AUTH") || strstr(reply, "DB index") ||
        strstr(reply, "SELECT is not allowed"))
        return error_set(err, TH_E_INVALID, "%s", reply);
    return error_set(err, TH_E_INTERNAL, "%s", reply);
}

/*
 * dial.c - a connection to a server that answers, within a deadline.
 *
 * Of several servers libpq takes the next one by itself when one refuses, or is not what
 * target_session_attrs asks for. When one is silent (its machine has lost power, its network drops
 * what we send) only PQconnectdb() goes on, after two seconds at the least for each address: three
 * such are longer than a call may take. PQconnectPoll() leaves the time to us, and then knows no
 * way on. So what has been silent for its share of the time is taken off the list, and libpq begins
 * again with the rest: those that it asks twice had answered at once.
 *
 * Names are looked up by the C library, which keeps to resolv.conf(5) and not to our deadline.
 */
#include "store/postgres/net/dial.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "store/postgres/net/addresses.h"
#include "store/postgres/net/wire.h"

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define SILENCE_SECONDS   "2"  /* for each address at the most, unless the URL says otherwise */
#define KEEPALIVE_SECONDS "15" /* of silence, then the kernels ask each other: three times, 5 s */
#define LIST_ROOM         ((size_t)64 * 1024)
#define NAME_ROOM         1024

struct dial {
    const char *conninfo;
    const char *caller;
    usec_t deadline;
    struct pg_addresses left; /* none: those of the URL */
    bool is_resolved;         /* each of them is one address */
    struct buffer *words;
};

enum dial_end {
    DIAL_ANSWERED,
    DIAL_REFUSED,
    DIAL_SILENT,
};

static PGconn *start(const struct dial *dial)
{
    CLEANUP(buffer_done) struct buffer hosts = BUFFER(LIST_ROOM), hostaddrs = BUFFER(LIST_ROOM);
    CLEANUP(buffer_done) struct buffer ports = BUFFER(LIST_ROOM);

    pg_addresses_write(&dial->left, &hosts, &hostaddrs, &ports);
    /* The URL can override what stands before it, but not what stands after it; what is empty does
     * not count. */
    const char *const names[] = {"connect_timeout",
                                 "keepalives_idle",
                                 "keepalives_interval",
                                 "keepalives_count",
                                 "fallback_application_name",
                                 "dbname",
                                 "client_encoding",
                                 "host",
                                 "hostaddr",
                                 "port",
                                 NULL};
    const char *const values[] = {
        SILENCE_SECONDS,        KEEPALIVE_SECONDS,  "5",    "3",
        dial->caller,           dial->conninfo,     "UTF8", buffer_str(&hosts),
        buffer_str(&hostaddrs), buffer_str(&ports), NULL};

    return PQconnectStartParams(names, values, 1);
}

/* As libpq understands connect_timeout. */
static usec_t longest_silence(PGconn *conn)
{
    PQconninfoOption *options = PQconninfo(conn);
    const PQconninfoOption *option = options;
    int64_t seconds = 0;

    while (option && option->keyword && !text_equal(option->keyword, "connect_timeout"))
        option++;
    if (!option || !option->val || !text_to_int(option->val, 0, INT_MAX, &seconds))
        seconds = 0;
    PQconninfoFree(options);
    return seconds > 0 ? seconds * USEC_PER_SEC : USEC_MAX;
}

/* The time that is left is for all who are left, and for what the connection is wanted for. */
static usec_t share_of_time(const struct dial *dial, PGconn *conn)
{
    usec_t share = (dial->deadline - clock_boot()) / (usec_t)(dial->left.count + 1);
    usec_t longest = longest_silence(conn);

    return share < longest ? share : longest;
}

/* Whether libpq has gone on to another address since the last time. */
static bool has_gone_on(const PGconn *conn, char last[NAME_ROOM])
{
    char now[NAME_ROOM];

    snprintf(now, sizeof now, "%s %s %s", PQhost(conn), PQhostaddr(conn), PQport(conn));
    if (strcmp(now, last) == 0)
        return false;
    memcpy(last, now, sizeof now);
    return true;
}

static enum dial_end attempt(const struct dial *dial, PGconn *conn)
{
    PostgresPollingStatusType step = PGRES_POLLING_WRITING;
    char asked[NAME_ROOM] = "";
    usec_t patience_ends = 0;

    while (PQstatus(conn) != CONNECTION_BAD && step != PGRES_POLLING_OK) {
        if (has_gone_on(conn, asked))
            patience_ends = clock_boot() + share_of_time(dial, conn);
        if (pg_wire_poll(conn, step == PGRES_POLLING_READING ? POLLIN : POLLOUT, patience_ends) ==
            0)
            return DIAL_SILENT;
        step = PQconnectPoll(conn);
    }
    return PQstatus(conn) == CONNECTION_OK ? DIAL_ANSWERED : DIAL_REFUSED;
}

static void leave_out(struct dial *dial, const PGconn *conn)
{
    bool is_socket = *PQhostaddr(conn) == '\0';

    buffer_printf(dial->words, "connection to server %s \"%s\"%s%s%s, port %s failed: no answer\n",
                  is_socket ? "in" : "at", PQhost(conn), is_socket ? "" : " (", PQhostaddr(conn),
                  is_socket ? "" : ")", PQport(conn));
    dial->is_resolved = dial->is_resolved || pg_addresses_resolve(&dial->left);
    pg_addresses_remove(&dial->left, conn);
}

/* What the server remarks on the way would otherwise end up on standard error. */
static void ignore_notice(void *context, const PGresult *notice)
{
    (void)context;
    (void)notice;
}

static void finish(PGconn *const *conn)
{
    PQfinish(*conn);
}

static bool dial_all(struct dial *dial, PGconn **conn_out)
{
    enum dial_end end;

    do {
        CLEANUP(finish) PGconn *conn = start(dial);
        PQsetNoticeReceiver(conn, ignore_notice, NULL);
        if (!conn || (dial->left.count == 0 && !pg_addresses_find(conn, &dial->left)))
            return false;
        end = attempt(dial, conn);
        if (end == DIAL_ANSWERED && PQsetnonblocking(conn, 1) == 0) {
            *conn_out = conn;
            conn = NULL;
            return true;
        }
        if (end != DIAL_SILENT)
            buffer_text(dial->words, PQerrorMessage(conn));
        else
            leave_out(dial, conn);
    } while (end == DIAL_SILENT && dial->left.count > 0 && clock_boot() < dial->deadline);
    return false;
}

bool pg_dial_any(const char *conninfo, const char *caller, usec_t deadline, PGconn **conn_out,
                 struct buffer *words)
{
    struct dial dial = {
        .conninfo = conninfo, .caller = caller, .deadline = deadline, .words = words};
    bool connected = dial_all(&dial, conn_out);

    pg_addresses_done(&dial.left);
    return connected;
}

bool pg_dial_same(const char *conninfo, const char *caller, const PGconn *conn, usec_t deadline,
                  PGconn **conn_out, struct buffer *words)
{
    struct dial dial = {.conninfo = conninfo,
                        .caller = caller,
                        .deadline = deadline,
                        .is_resolved = true,
                        .words = words};
    bool connected = pg_addresses_current(conn, &dial.left) && dial_all(&dial, conn_out);

    pg_addresses_done(&dial.left);
    return connected;
}

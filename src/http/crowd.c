/*
 * crowd.c - all connections there are: who is idle for how long, and who comes from where.
 *
 * Invariants:
 *   - Each connection is in one line: idle in the order of `since`, busy in any.
 *   - One that was shut is never idle, so that it is not chosen again.
 */
#include "http/crowd.h"

#include <assert.h>
#include <string.h>

static struct http_line *line_of(struct http_crowd *crowd, const struct http_connection *connection)
{
    return http_connection_is_idle(connection) ? &crowd->idle : &crowd->busy;
}

static void append(struct http_line *line, struct http_connection *connection)
{
    connection->previous = line->last;
    connection->next = NULL;
    *(line->last ? &line->last->next : &line->first) = connection;
    line->last = connection;
}

static void unlink_from(struct http_line *line, const struct http_connection *connection)
{
    struct http_connection *previous = connection->previous, *next = connection->next;

    *(previous ? &previous->next : &line->first) = next;
    *(next ? &next->previous : &line->last) = previous;
}

static size_t place_of(const struct in6_addr *address)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (size_t i = 0; i < sizeof address->s6_addr; i++)
        hash = (hash ^ address->s6_addr[i]) * 16777619u;
    return hash % HTTP_CROWD_PLACES;
}

void http_crowd_add(struct http_crowd *crowd, struct http_connection *connection)
{
    assert(connection->phase == HTTP_FRESH);
    append(&crowd->idle, connection);
    crowd->count++;
    if (!connection->is_counted)
        return;
    struct http_connection **place = &crowd->places[place_of(&connection->address)];

    connection->neighbour = *place;
    *place = connection;
}

void http_crowd_remove(struct http_crowd *crowd, struct http_connection *connection)
{
    unlink_from(line_of(crowd, connection), connection);
    crowd->count--;
    crowd->closing -= connection->phase == HTTP_CLOSING;
    if (!connection->is_counted)
        return;
    struct http_connection **place = &crowd->places[place_of(&connection->address)];

    while (*place != connection)
        place = &(*place)->neighbour;
    *place = connection->neighbour;
}

void http_crowd_move(struct http_crowd *crowd, struct http_connection *connection,
                     enum http_phase phase)
{
    unlink_from(line_of(crowd, connection), connection);
    crowd->closing -= connection->phase == HTTP_CLOSING;
    connection->phase = phase;
    crowd->closing += phase == HTTP_CLOSING;
    append(line_of(crowd, connection), connection);
}

struct http_connection *http_crowd_idlest(const struct http_crowd *crowd)
{
    return crowd->idle.first;
}

unsigned http_crowd_kin(const struct http_crowd *crowd, const struct http_connection *connection,
                        struct http_connection **idlest_out)
{
    struct http_connection *other = crowd->places[place_of(&connection->address)];
    unsigned count = 0;

    *idlest_out = NULL;
    for (; other; other = other->neighbour) {
        if (other == connection || other->phase == HTTP_CLOSING ||
            memcmp(&other->address, &connection->address, sizeof other->address) != 0)
            continue;
        count++;
        if (http_connection_is_idle(other) && (!*idlest_out || other->since < (*idlest_out)->since))
            *idlest_out = other;
    }
    return count;
}

bool http_crowd_room(const struct http_crowd *crowd, const struct http_connection *newcomer,
                     unsigned most, unsigned per_address, struct http_connection **leaver_out)
{
    if (newcomer->is_counted && http_crowd_kin(crowd, newcomer, leaver_out) >= per_address)
        return *leaver_out;
    *leaver_out = NULL;
    if (crowd->count - crowd->closing < most)
        return true;
    *leaver_out = crowd->idle.first;
    return *leaver_out;
}

static struct in6_addr mapped(struct in_addr address)
{
    struct in6_addr wide = {.s6_addr = {[10] = 0xff, [11] = 0xff}};

    memcpy(wide.s6_addr + 12, &address, sizeof address);
    return wide;
}

bool http_crowd_address(const struct sockaddr_storage *peer, struct in6_addr *address_out)
{
    if (peer->ss_family == AF_INET)
        *address_out = mapped(((const struct sockaddr_in *)peer)->sin_addr);
    else if (peer->ss_family == AF_INET6)
        *address_out = ((const struct sockaddr_in6 *)peer)->sin6_addr;
    else
        return false;
    return !IN6_IS_ADDR_LOOPBACK(address_out) &&
           !(IN6_IS_ADDR_V4MAPPED(address_out) && address_out->s6_addr[12] == 127);
}

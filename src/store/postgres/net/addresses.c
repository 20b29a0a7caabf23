/*
 * addresses.c - where a connection may lead: the servers that its URL names.
 */
#include "store/postgres/net/addresses.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/text.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static void free_address(struct pg_address *address)
{
    free(address->host);
    free(address->hostaddr);
    free(address->port);
}

void pg_addresses_done(struct pg_addresses *list)
{
    for (size_t i = 0; i < list->count; i++)
        free_address(&list->items[i]);
    free(list->items);
    *list = (struct pg_addresses){0};
}

/* Takes what the pointers point to; false when one of them is NULL, or out of memory. */
static bool add(struct pg_addresses *list, char *host, char *hostaddr, char *port)
{
    struct pg_address address = {host, hostaddr, port};
    struct pg_address *items = realloc(list->items, (list->count + 1) * sizeof *items);

    if (items)
        list->items = items;
    if (!items || !host || !hostaddr || !port) {
        free_address(&address);
        return false;
    }
    list->items[list->count++] = address;
    return true;
}

/* ---- what libpq was told ---- */

static const PQconninfoOption *find_option(const PQconninfoOption *options, const char *name)
{
    while (options->keyword && !text_equal(options->keyword, name))
        options++;
    return options;
}

static const char *value_of(const PQconninfoOption *option)
{
    return option->val ? option->val : "";
}

static size_t count_entries(const char *list)
{
    size_t count = 1;

    for (; *list != '\0'; list++)
        count += *list == ',';
    return count;
}

/* The n-th of them, or what libpq takes when that is missing. */
static char *nth_entry(const char *list, size_t n, const char *fallback)
{
    for (; n > 0 && *list != '\0'; n--) {
        list += strcspn(list, ",");
        list += *list == ',';
    }
    size_t length = strcspn(list, ",");
    return length > 0 ? strndup(list, length) : strdup(fallback);
}

static bool split(const PQconninfoOption *options, struct pg_addresses *list)
{
    const char *hosts = value_of(find_option(options, "host"));
    const char *hostaddrs = value_of(find_option(options, "hostaddr"));
    const PQconninfoOption *port = find_option(options, "port");
    const char *default_port = port->compiled ? port->compiled : "";
    size_t count = count_entries(*hostaddrs != '\0' ? hostaddrs : hosts);
    bool is_port_shared = !strchr(value_of(port), ',');

    for (size_t i = 0; i < count; i++)
        if (!add(list, nth_entry(hosts, i, ""), nth_entry(hostaddrs, i, ""),
                 nth_entry(value_of(port), is_port_shared ? 0 : i, default_port)))
            return false;
    return true;
}

bool pg_addresses_find(PGconn *conn, struct pg_addresses *list_out)
{
    PQconninfoOption *options = PQconninfo(conn);
    bool found = options && split(options, list_out);

    PQconninfoFree(options);
    return found;
}

static char *copy(const char *text)
{
    return strdup(text ? text : "");
}

bool pg_addresses_current(const PGconn *conn, struct pg_addresses *list_out)
{
    return add(list_out, copy(PQhost(conn)), copy(PQhostaddr(conn)), copy(PQport(conn)));
}

/* ---- names ---- */

static bool is_name(const struct pg_address *address)
{
    return *address->hostaddr == '\0' && *address->host != '\0' && *address->host != '/' &&
           *address->host != '@';
}

static bool add_found(struct pg_addresses *list, const struct pg_address *name,
                      struct addrinfo *found)
{
    char text[NI_MAXHOST];

    for (; found; found = found->ai_next)
        if (getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof text, NULL, 0,
                        NI_NUMERICHOST) == 0 &&
            !add(list, strdup(name->host), strdup(text), strdup(name->port)))
            return false;
    return true;
}

static bool add_resolved(struct pg_addresses *list, const struct pg_address *address)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;

    if (!is_name(address) || getaddrinfo(address->host, NULL, &hints, &found) != 0)
        return add(list, strdup(address->host), strdup(address->hostaddr), strdup(address->port));
    bool added = add_found(list, address, found);
    freeaddrinfo(found);
    return added;
}

bool pg_addresses_resolve(struct pg_addresses *list)
{
    CLEANUP(pg_addresses_done) struct pg_addresses resolved = {0};
    struct pg_addresses given = *list;

    for (size_t i = 0; i < given.count; i++)
        if (!add_resolved(&resolved, &given.items[i]))
            return false;
    *list = resolved;
    resolved = given;
    return true;
}

/* ---- all of them ---- */

static bool is_at(const struct pg_address *address, const PGconn *conn)
{
    const char *hostaddr = PQhostaddr(conn);

    if (!text_equal(address->port, PQport(conn)))
        return false;
    return *address->hostaddr != '\0' ? text_equal(address->hostaddr, hostaddr)
                                      : text_equal(address->host, PQhost(conn));
}

void pg_addresses_remove(struct pg_addresses *list, const PGconn *conn)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (is_at(&list->items[i], conn))
            free_address(&list->items[i]);
        else
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
}

void pg_addresses_write(const struct pg_addresses *list, struct buffer *hosts,
                        struct buffer *hostaddrs, struct buffer *ports)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *separator = i > 0 ? "," : "";
        buffer_printf(hosts, "%s%s", separator, list->items[i].host);
        buffer_printf(hostaddrs, "%s%s", separator, list->items[i].hostaddr);
        buffer_printf(ports, "%s%s", separator, list->items[i].port);
    }
}

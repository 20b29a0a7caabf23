/*
 * address.h - where the server is, and who we are there: what a URL says.
 *
 *   redis://[[USER]:PASSWORD@]HOST[:PORT][/DB]
 *   redis://[[USER]:PASSWORD@]HOST[:PORT],HOST[:PORT]...      nodes of a cluster, some of them
 *   redis+sentinel://[[USER]:PASSWORD@]HOST[:PORT],HOST[:PORT].../MASTER[/DB]
 *
 * USER and PASSWORD are the server's; sentinels have their own. Our own options: prefix,
 * wait_replicas, sentinel_username, sentinel_password; and with rediss in place of redis, for TLS
 * with all of them, cafile, cert, key and servername.
 */
#ifndef REDIS_ADDRESS_H
#define REDIS_ADDRESS_H

#include "base/arena.h"
#include "base/base.h"
#include "base/error.h"
#include "store/redis/net/tls.h"
#include "store/url.h"

#define REDIS_HOSTS_MAX 16

struct redis_host {
    const char *name;
    int port;
};

struct redis_address {
    struct arena arena;
    const char *user;     /* NULL: the default user */
    const char *password; /* NULL: none */
    struct redis_host hosts[REDIS_HOSTS_MAX];
    size_t host_count;         /* 1, or as many sentinels or nodes as are named */
    const char *master;        /* what the sentinels call it; NULL: `hosts` has the server itself */
    const char *sentinel_user; /* NULL: their default user */
    const char *sentinel_password; /* NULL: none */
    int database;
    const char *prefix; /* of all keys */
    int wait_replicas;
    struct redis_tls_settings tls;
    const char *caller; /* who connects, for the server's list of clients; NULL: not told */
    const char *shown;  /* for people, without secrets */
};

bool redis_address_parse(const struct store_url *url, struct redis_address *address_out,
                         struct error *err) MUST_CHECK;
void redis_address_done(struct redis_address *address);

#endif

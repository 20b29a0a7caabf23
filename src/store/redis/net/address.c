/*
 * address.c - takes apart what follows redis: in a URL.
 */
#include "store/redis/net/address.h"

#include "base/text.h"
#include "job/job.h"

#include <string.h>

#define PORT_REDIS       6379
#define PORT_SENTINEL    26379
#define DATABASE_MAX     1000000
#define PREFIX_DEFAULT   "th"
#define PREFIX_MAX       64
#define REPLICAS_MAX     100
#define EXPECTED         "://[user:password@]host:6379/0"
#define EXPECTED_MASTERS "+sentinel://host:26379,host:26379/master-name/0"

static const char *const option_names[] = {
    "prefix", "wait_replicas", "sentinel_username", "sentinel_password", "cafile",
    "cert",   "key",           "servername"};

static bool refuse(const struct redis_address *address, const char *what, struct error *err)
{
    return error_set(err, TH_E_INVALID, "%s: %s: write redis%s%s", address->shown, what,
                     address->tls.wanted ? "s" : "", address->master ? EXPECTED_MASTERS : EXPECTED);
}

/* [user][:password] */
static bool parse_login(struct redis_address *address, const char *text, size_t length,
                        struct error *err)
{
    const char *colon = memchr(text, ':', length);
    size_t user = colon ? (size_t)(colon - text) : length;

    if (user > 0 && !url_decode(text, user, &address->arena, &address->user, err))
        return false;
    if (!colon)
        return refuse(address, "a user needs a password", err);
    return url_decode(colon + 1, length - user - 1, &address->arena, &address->password, err);
}

static bool parse_port(const struct redis_address *address, const char *text, int *port_out,
                       struct error *err)
{
    int64_t port;

    if (!text_to_int(text, 1, 65535, &port))
        return refuse(address, "a port is 1 to 65535", err);
    *port_out = (int)port;
    return true;
}

/* HOST[:PORT]; an IPv6 address stands in brackets. */
static bool parse_host(struct redis_address *address, const char *text, size_t length,
                       struct error *err)
{
    struct redis_host *host = &address->hosts[address->host_count];
    const char *bracket = length > 0 && text[0] == '[' ? memchr(text, ']', length) : NULL;
    const char *name = bracket ? text + 1 : text;
    const char *rest = bracket ? bracket + 1 : text;
    const char *colon = memchr(rest, ':', length - (size_t)(rest - text));
    const char *end = colon ? colon : text + length;
    size_t name_length = (size_t)((bracket ? bracket : end) - name);

    if (name_length == 0)
        return refuse(address, "names no host", err);
    if (name[0] == '[' || (bracket && rest != end))
        return refuse(address, "an IPv6 address stands in brackets, as in [::1]:6379", err);
    if (!url_decode(name, name_length, &address->arena, &host->name, err))
        return false;
    host->port = address->master ? PORT_SENTINEL : PORT_REDIS;
    if (colon) {
        size_t digits = length - (size_t)(colon + 1 - text);
        if (!parse_port(address, arena_text_of(&address->arena, colon + 1, digits), &host->port,
                        err))
            return false;
    }
    address->host_count++;
    return true;
}

static bool parse_hosts(struct redis_address *address, const char *text, size_t length,
                        struct error *err)
{
    while (true) {
        const char *comma = memchr(text, ',', length);
        size_t one = comma ? (size_t)(comma - text) : length;
        if (address->host_count == REDIS_HOSTS_MAX)
            return refuse(address, "names too many hosts", err);
        if (!parse_host(address, text, one, err))
            return false;
        if (!comma)
            break;
        text += one + 1;
        length -= one + 1;
    }
    return true;
}

/* /DB, or nothing. */
static bool parse_database(struct redis_address *address, const char *text, struct error *err)
{
    int64_t database = 0;

    if (text[0] == '\0' || text[1] == '\0')
        return true;
    if (!text_to_int(text + 1, 0, DATABASE_MAX, &database))
        return refuse(address, "a database is a number", err);
    address->database = (int)database;
    return true;
}

/* /MASTER in front of the database. */
static bool parse_master(struct redis_address *address, const char **rest, struct error *err)
{
    size_t length = **rest == '/' ? strcspn(*rest + 1, "/") : 0;

    if (length == 0)
        return refuse(address, "does not say what the sentinels call the server", err);
    if (!url_decode(*rest + 1, length, &address->arena, &address->master, err))
        return false;
    *rest += 1 + length;
    return true;
}

static bool parse_location(struct redis_address *address, const char *text, struct error *err)
{
    if (!text_starts_with(text, "//"))
        return refuse(address, "names no host", err);
    text += 2;
    size_t authority = strcspn(text, "/");
    const char *rest = text + authority;
    const char *at = memrchr(text, '@', authority);
    const char *hosts = at ? at + 1 : text;

    if (at && !parse_login(address, text, (size_t)(at - text), err))
        return false;
    return (!address->master || parse_master(address, &rest, err)) &&
           parse_hosts(address, hosts, (size_t)(text + authority - hosts), err) &&
           parse_database(address, rest, err);
}

static bool parse_prefix(struct redis_address *address, const char *value, struct error *err)
{
    address->prefix = value ? arena_text(&address->arena, value) : PREFIX_DEFAULT;
    return (job_name_is_valid(address->prefix) && strlen(address->prefix) <= PREFIX_MAX) ||
           error_set(err, TH_E_INVALID, "%s: prefix is 1 to %d of A-Z a-z 0-9 _ . : -",
                     address->shown, PREFIX_MAX);
}

static bool parse_replicas(struct redis_address *address, const char *value, struct error *err)
{
    int64_t replicas = 0;

    if (value && !text_to_int(value, 0, REPLICAS_MAX, &replicas))
        return error_set(err, TH_E_INVALID, "%s: wait_replicas is 0 to %d, not '%s'",
                         address->shown, REPLICAS_MAX, value);
    address->wait_replicas = (int)replicas;
    return true;
}

static bool parse_sentinel_login(struct redis_address *address, const char *user,
                                 const char *password, struct error *err)
{
    if (!address->master && (user || password))
        return error_set(err, TH_E_INVALID,
                         "%s: sentinel_username and sentinel_password are for redis+sentinel://",
                         address->shown);
    if (user && !password)
        return error_set(err, TH_E_INVALID, "%s: sentinel_username needs a sentinel_password",
                         address->shown);
    address->sentinel_user = arena_text(&address->arena, user);
    address->sentinel_password = arena_text(&address->arena, password);
    return true;
}

static bool parse_tls(struct redis_address *address, const struct store_url *url, struct error *err)
{
    static const char *const names[] = {"cafile", "cert", "key", "servername"};
    struct redis_tls_settings *tls = &address->tls;
    const char **const values[] = {&tls->cafile, &tls->cert, &tls->key, &tls->servername};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        *values[i] = arena_text(&address->arena, url_option(url, names[i]));
        if (*values[i] && !tls->wanted)
            return error_set(err, TH_E_INVALID, "%s: %s is for TLS: write rediss in place of redis",
                             address->shown, names[i]);
        if (*values[i] && **values[i] == '\0')
            return error_set(err, TH_E_INVALID, "%s: %s is empty", address->shown, names[i]);
    }
    return !tls->key || tls->cert ||
           error_set(err, TH_E_INVALID, "%s: a key needs its certificate: add cert=FILE",
                     address->shown);
}

static bool parse(const struct store_url *url, struct redis_address *address, struct error *err)
{
    const char *location = url->text + strlen(url->scheme) + 1;

    address->shown = arena_text(&address->arena, url->shown);
    address->tls.wanted = text_starts_with(url->scheme, "rediss");
    if (strchr(url->scheme, '+'))
        address->master = "";
    location = arena_text_of(&address->arena, location, strcspn(location, "?"));
    return url_check_options(url, option_names, COUNT_OF(option_names), err) &&
           parse_location(address, location, err) &&
           parse_prefix(address, url_option(url, "prefix"), err) &&
           parse_replicas(address, url_option(url, "wait_replicas"), err) &&
           parse_tls(address, url, err) &&
           parse_sentinel_login(address, url_option(url, "sentinel_username"),
                                url_option(url, "sentinel_password"), err) &&
           (!address->arena.failed || error_no_memory(err));
}

bool redis_address_parse(const struct store_url *url, struct redis_address *address_out,
                         struct error *err)
{
    *address_out = (struct redis_address){0};
    if (parse(url, address_out, err))
        return true;
    redis_address_done(address_out);
    return false;
}

static void wipe(const char *secret)
{
    if (secret)
        explicit_bzero((char *)secret, strlen(secret));
}

void redis_address_done(struct redis_address *address)
{
    wipe(address->password);
    wipe(address->sentinel_password);
    arena_done(&address->arena);
    *address = (struct redis_address){0};
}

/*
 * redis_backdoor.c - past the driver, straight to the Redis server.
 *
 * Each function connects, does one thing and leaves; only block() stays.
 */
#include "backends.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "redis_damage.h"

#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOST_SIZE REDIS_HOST_SIZE
#define BLOCK_MS  "600000"

struct server {
    redisContext *context;
    char prefix[REDIS_PREFIX_SIZE];
};

static void require(bool done, const char *what)
{
    if (done)
        return;
    fprintf(stderr, "backdoor: %s\n", what);
    abort();
}

static void go_to(struct server *server, const char *host, int port)
{
    if (server->context)
        redisFree(server->context);
    server->context = redisConnect(host, port);
    require(server->context && server->context->err == 0, host);
}

/* As backends.c makes them: redis://HOST:PORT/0?prefix=NAME, with more options before the last one
 * for rediss. The backdoor of that is in plain text. */
void redis_backdoor_place(const char *url, struct redis_place *place_out)
{
    const char *server =
        text_starts_with(url, "rediss:") ? redis_backdoor_server(REDIS_TLS_PLAIN) : url;
    const char *prefix = strstr(url, "prefix=");

    require(prefix && sscanf(prefix, "prefix=%127s", place_out->prefix) == 1, url);
    require(sscanf(server, "redis://%255[^:/]:%d/0", place_out->host, &place_out->port) == 2, url);
}

static struct server connect_to(const char *url)
{
    struct server server = {0};
    struct redis_place place;

    redis_backdoor_place(url, &place);
    snprintf(server.prefix, sizeof server.prefix, "%s", place.prefix);
    go_to(&server, place.host, place.port);
    return server;
}

static void server_done(struct server *server)
{
    redisFree(server->context);
}

static void reply_done(redisReply **reply)
{
    freeReplyObject(*reply);
}

#define SERVER CLEANUP(server_done) struct server
#define REPLY  CLEANUP(reply_done) redisReply *

/* Follows to the node of a cluster that has the key. */
static bool is_moved(struct server *server, redisReply *reply)
{
    char host[HOST_SIZE];
    int port;

    if (reply->type != REDIS_REPLY_ERROR ||
        sscanf(reply->str, "MOVED %*d %255[^:]:%d", host, &port) != 2)
        return false;
    freeReplyObject(reply);
    go_to(server, host, port);
    return true;
}

/* A command that must succeed. */
static redisReply *ask(struct server *server, const char *format, ...)
{
    redisReply *reply = NULL;

    do {
        va_list arguments;
        va_start(arguments, format);
        reply = redisvCommand(server->context, format, arguments);
        va_end(arguments);
        require(reply != NULL, format);
    } while (is_moved(server, reply));
    if (reply->type == REDIS_REPLY_ERROR)
        fprintf(stderr, "backdoor: %s\n", reply->str);
    require(reply->type != REDIS_REPLY_ERROR, format);
    return reply;
}

/* What is done on each node of a cluster, or on the one server. */
typedef void node_action(struct server *server);

static void on_each_node(const char *url, node_action *action)
{
    SERVER server = connect_to(url);
    redisReply *map = redisCommand(server.context, "CLUSTER SLOTS");

    if (map->type != REDIS_REPLY_ARRAY)
        action(&server);
    for (size_t i = 0; map->type == REDIS_REPLY_ARRAY && i < map->elements; i++) {
        const redisReply *node = map->element[i]->element[2];
        go_to(&server, node->element[0]->str, (int)node->element[1]->integer);
        action(&server);
    }
    freeReplyObject(map);
}

static redisReply *queues_of(struct server *server)
{
    return ask(server, "SMEMBERS %s:queues", server->prefix);
}

/* The type is the text after the seventeen words of the head; its length is the fifteenth. */
static void damage_job(const char *url, const struct uuid *id)
{
    static const char script[] =
        "local head, length, rest, at = string.match(ARGV[2],"
        " '^(%a' .. string.rep(' %d*', 13) .. ' )(%d+)( %d* %d* )()')\n"
        "return redis.call('HSET', KEYS[1], ARGV[1], head .. '11' .. rest .. 'not a name!'"
        " .. string.sub(ARGV[2], at + length))";
    SERVER server = connect_to(url);
    REPLY queues = queues_of(&server);
    char text[UUID_TEXT_SIZE];

    uuid_format(id, text);
    for (size_t i = 0; i < queues->elements; i++) {
        const char *queue = queues->element[i]->str;
        REPLY record = ask(&server, "HGET %s:{%s}:job %s", server.prefix, queue, text);
        if (record->type != REDIS_REPLY_STRING)
            continue;
        REPLY done = ask(&server, "EVAL %s 1 %s:{%s}:job %s %b", script, server.prefix, queue, text,
                         record->str, record->len);
        return;
    }
    require(false, "no such job");
}

static void set_schema(const char *url, int version, int usable_from)
{
    SERVER server = connect_to(url);
    REPLY done = ask(&server, "HSET %s:schema version %d usable_from %d", server.prefix, version,
                     usable_from);
}

/* The lease is the state, one entry of a hash by the job's id, with token and expiry in one value
 * of a fixed form: there is no way to say that a job runs without one of them, or twice. */
static bool refuses(const char *url, const struct uuid *id, enum violation violation)
{
    (void)url;
    (void)id;
    (void)violation;
    return true;
}

static char *read_script(const char *name)
{
    static char script[32768];
    char path[512];
    snprintf(path, sizeof path, TH_SOURCE_DIR "/tests/contract/%s.lua", name);
    FILE *file = fopen(path, "re");

    require(file != NULL, path);
    size_t length = fread(script, 1, sizeof script - 1, file);
    fclose(file);
    script[length] = '\0';
    return script;
}

static void do_damage(const char *url, const char *queue, const struct uuid *victim,
                      const struct damage *damage)
{
    SERVER server = connect_to(url);
    char key[256], id[UUID_TEXT_SIZE];
    bool is_queues = damage->key[0] != ':';
    bool is_victims = is_queues && damage->key[strlen(damage->key) - 1] == ':';

    uuid_format(victim, id);
    if (is_queues)
        snprintf(key, sizeof key, "%s:{%s}:%s%s", server.prefix, queue, damage->key,
                 is_victims ? id : "");
    else
        snprintf(key, sizeof key, "%s%s", server.prefix, damage->key);
    REPLY done = ask(&server, "EVAL %s 1 %s %s %s %s", read_script("redis_damage"), key,
                     damage->kind, damage->name ? damage->name : id, damage->way);
    require(done->integer == 1 || damage->kind[0] == 'k', damage->what);
}

static bool is_sound(const char *url, char *why, size_t size)
{
    SERVER server = connect_to(url);
    REPLY queues = queues_of(&server);
    const char *script = read_script("redis_sound");

    for (size_t i = 0; i < queues->elements; i++) {
        REPLY broken =
            ask(&server, "EVAL %s 1 %s:{%s}:", script, server.prefix, queues->element[i]->str);
        if (broken->type != REDIS_REPLY_STRING)
            continue;
        snprintf(why, size, "%s", broken->str);
        return false;
    }
    return true;
}

static void pause_writes(struct server *server)
{
    REPLY done = ask(server, "CLIENT PAUSE " BLOCK_MS " WRITE");
}

static void end_pause(struct server *server)
{
    REPLY done = ask(server, "CLIENT UNPAUSE");
}

/* The server keeps the pause when we are gone: a child stays to end it then. */
static void unblock_after_death(const char *url)
{
    int ends[2];
    char byte;

    require(pipe(ends) == 0, "pipe");
    pid_t pid = fork();
    require(pid >= 0, "fork");
    if (pid > 0) {
        close(ends[0]);
        return;
    }
    close(ends[1]);
    setsid();
    while (read(ends[0], &byte, 1) > 0)
        ;
    on_each_node(url, end_pause);
    _exit(EXIT_SUCCESS);
}

static void block(const char *url)
{
    unblock_after_death(url);
    on_each_node(url, pause_writes);
}

static void forget_scripts(const char *url)
{
    SERVER server = connect_to(url);
    REPLY reply = ask(&server, "SCRIPT FLUSH");
}

const struct backdoor redis_backdoor = {
    .damage_job = damage_job,
    .damage = redis_damage,
    .do_damage = do_damage,
    .set_schema = set_schema,
    .refuses = refuses,
    .is_sound = is_sound,
    .block = block,
    .forget_scripts = forget_scripts,
};

/* A cluster runs the same scripts: what they make of damage is tested on one server. */
const struct backdoor redis_cluster_backdoor = {
    .damage_job = damage_job,
    .set_schema = set_schema,
    .refuses = refuses,
    .is_sound = is_sound,
    .block = block,
};

/* ---- the run's own keys ---- */

const char *redis_backdoor_server(const char *variable)
{
    const char *url = getenv(variable);

    if (!url) {
        fprintf(stderr,
                "%s is not set: it names the Redis server to test against; scripts/with-servers "
                "starts one\n",
                variable);
        exit(EXIT_FAILURE);
    }
    return url;
}

static void remove_keys(struct server *server)
{
    static const char script[] =
        "local page = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', 1000)\n"
        "for _, key in ipairs(page[2]) do redis.call('UNLINK', key) end\n"
        "return page[1]";
    char cursor[32] = "0";

    do {
        REPLY next = ask(server, "EVAL %s 0 %s %s-*", script, cursor, server->prefix);
        snprintf(cursor, sizeof cursor, "%s", next->str);
    } while (!text_equal(cursor, "0"));
}

void redis_backdoor_clean_up(const char *server, const char *root)
{
    char url[BACKEND_URL_SIZE];

    snprintf(url, sizeof url, "%s?prefix=contract-%s", server, root);
    on_each_node(url, remove_keys);
}

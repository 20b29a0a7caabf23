/*
 * doors.c - the addresses of http: and faktory:.
 */
#include "config/doors.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/text.h"
#include "config/token_file.h"

#include <limits.h>
#include <string.h>

#define PORT_MAX 65535
#define SOCKET   "unix:"

#define HOST_CHARACTERS "-._0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* HOST:PORT, [ADDRESS]:PORT or unix:PATH. */
static bool is_address(const char *listen)
{
    const char *colon = strrchr(listen, ':');
    int64_t port;

    if (text_starts_with(listen, SOCKET))
        return listen[strlen(SOCKET)] != '\0';
    if (!colon || colon == listen || !text_to_int(colon + 1, 0, PORT_MAX, &port))
        return false;
    if (listen[0] == '[')
        return colon[-1] == ']' && colon - listen > 3;
    return strcspn(listen, ":[]") == (size_t)(colon - listen);
}

/* Written so that a name such as 127.evil.example does not pass for an address. */
static bool is_private(const char *listen)
{
    const size_t host = (size_t)(strrchr(listen, ':') - listen);

    if (text_starts_with(listen, SOCKET) || text_starts_with(listen, "[::1]:") ||
        text_starts_with(listen, "localhost:"))
        return true;
    return text_starts_with(listen, "127.") && strspn(listen, "0123456789.") == host;
}

/* `secret` is the key of the file that keeps strangers out. */
static void check_door(const struct node *root, const char *name, const char *address,
                       const char *secret, struct diagnostics *diagnostics)
{
    const struct node *map = node_find(root, name);
    const struct node *listen = node_find(map, "listen");
    char shown[EXCERPT_SIZE];

    if (!listen || !address)
        return;
    excerpt_of(address, shown);
    if (!is_address(address))
        diagnostics_add(diagnostics, listen->place,
                        "%s.listen: '%s' is not an address: write HOST:PORT, [ADDRESS]:PORT or "
                        "unix:PATH",
                        name, shown);
    else if (!is_private(address) && !node_find(map, secret))
        diagnostics_add(diagnostics, listen->place,
                        "%s.listen: other machines can reach '%s': set %s, or listen on 127.0.0.1",
                        name, shown, secret);
}

/* A name or an address, with or without a port. */
static bool is_host(const char *host)
{
    const char *at = host;

    if (*at == '[') {
        at += strcspn(at, "]");
        at += *at == ']';
    } else {
        at += strspn(at, HOST_CHARACTERS);
    }
    if (at == host || (*at != '\0' && *at != ':'))
        return false;
    return at[strspn(at, ":0123456789")] == '\0';
}

static void check_hosts(const struct config *config, const struct node *root,
                        struct diagnostics *diagnostics)
{
    const struct node *hosts = node_find(node_find(root, "http"), "hosts");
    char shown[EXCERPT_SIZE];

    for (size_t i = 0; hosts && i < config->http.hosts.count; i++) {
        if (!is_host(config->http.hosts.items[i]))
            diagnostics_add(diagnostics, hosts->place,
                            "http.hosts: '%s' is not a name: write it as in jobs.example.org, "
                            "without https:// and without a path",
                            excerpt_of(config->http.hosts.items[i], shown));
    }
}

void doors_check(const struct config *config, const struct node *root,
                 struct diagnostics *diagnostics)
{
    check_door(root, "http", config->http.listen, "token_file", diagnostics);
    check_door(root, "faktory", config->faktory.listen, "password_file", diagnostics);
    check_hosts(config, root, diagnostics);
}

static void read_token(const struct node *map, const char *key, const char *path,
                       struct token *token_out, struct diagnostics *diagnostics)
{
    const struct node *node = node_find(map, key);
    struct error err;

    if (!node || !path)
        return;
    token_out->is_set = token_file_read(path, &token_out->digest, &err);
    if (!token_out->is_set)
        diagnostics_add(diagnostics, node->place, "http.%s: %s", key, err.text);
}

void doors_read_tokens(struct config *config, const struct node *root,
                       struct diagnostics *diagnostics)
{
    static const char read_key[] = "read_token_file";
    const struct node *map = node_find(root, "http");
    struct http_config *http = &config->http;

    read_token(map, "token_file", http->token_file, &http->token, diagnostics);
    read_token(map, read_key, http->read_token_file, &http->read_token, diagnostics);
    if (http->token.is_set && http->read_token.is_set &&
        digest_equal(&http->token.digest, &http->read_token.digest))
        diagnostics_add(diagnostics, node_find(map, read_key)->place,
                        "http.%s: has the token of token_file, which may do more than look: "
                        "give it one of its own",
                        read_key);
}

static const char *settle(struct config *config, const char *listen)
{
    CLEANUP(buffer_done) struct buffer settled = BUFFER(PATH_MAX);

    if (!listen || !text_starts_with(listen, SOCKET))
        return listen;
    const char *path = listen + strlen(SOCKET);
    if (path[0] == '/' || path[0] == '\0')
        return listen;
    while (text_starts_with(path, "./"))
        path += 2;
    buffer_printf(&settled, "%s%s/%s", SOCKET, config->folder, path);
    return arena_text(&config->arena, buffer_str(&settled));
}

void doors_settle(struct config *config)
{
    config->http.listen = settle(config, config->http.listen);
    config->faktory.listen = settle(config, config->faktory.listen);
}

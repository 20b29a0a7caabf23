/*
 * doors.c - the addresses of http: and faktory:.
 */
#include "config/doors.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/excerpt.h"
#include "base/text.h"

#include <limits.h>
#include <string.h>

#define PORT_MAX 65535
#define SOCKET   "unix:"

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

void doors_check(const struct config *config, const struct node *root,
                 struct diagnostics *diagnostics)
{
    check_door(root, "http", config->http.listen, "token_file", diagnostics);
    check_door(root, "faktory", config->faktory.listen, "password_file", diagnostics);
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

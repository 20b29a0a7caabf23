/*
 * address.c - where a door listens, as the config writes it: HOST:PORT, [ADDRESS]:PORT or
 * unix:PATH.
 *
 * A name is looked up where it stands, which may take a while: at the start, and when a reload
 * brings a name that nobody listened on before.
 */
#include "master/address.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define UNIX       "unix:"
#define BACKLOG    511
#define NOT_MODE   0117 /* a umask: sockets of ours are 0660 */
#define KIND_FLAGS (SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK)

static bool fail(const char *address, int number, struct error *err)
{
    return error_errno(err, TH_E_INVALID, number, "cannot listen on %s", address);
}

/* ---- a file ---- */

const char *address_path(const char *address)
{
    return strncmp(address, UNIX, strlen(UNIX)) == 0 ? address + strlen(UNIX) : NULL;
}

static bool fill_in(const char *path, struct sockaddr_un *name, struct error *err)
{
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof name->sun_path)
        return error_set(err, TH_E_INVALID,
                         "cannot listen on %s: the path of a socket has at most %zu bytes", path,
                         sizeof name->sun_path - 1);
    memcpy(name->sun_path, path, strlen(path));
    return true;
}

/* One that nobody listens on refuses. One whose queue is full does not. */
static bool is_abandoned(const struct sockaddr_un *name)
{
    AUTO_CLOSE int fd = socket(AF_UNIX, KIND_FLAGS, 0);

    return fd >= 0 && connect(fd, (const struct sockaddr *)name, sizeof *name) != 0 &&
           errno == ECONNREFUSED;
}

static bool make_room(const char *address, const struct sockaddr_un *name, struct error *err)
{
    struct stat found;

    if (lstat(name->sun_path, &found))
        return errno == ENOENT || fail(address, errno, err);
    if (!S_ISSOCK(found.st_mode))
        return error_set(err, TH_E_INVALID, "cannot listen on %s: the file is not a socket",
                         address);
    if (!is_abandoned(name))
        return error_set(err, TH_E_INVALID, "cannot listen on %s: somebody else does", address);
    return unlink(name->sun_path) == 0 || fail(address, errno, err);
}

/* At no moment may others use it. */
static int bind_privately(int fd, const struct sockaddr_un *name)
{
    const mode_t before = umask(NOT_MODE);
    const int failed = bind(fd, (const struct sockaddr *)name, sizeof *name);

    umask(before);
    return failed;
}

static bool open_file(const char *address, const char *path, int *fd_out, struct error *err)
{
    struct sockaddr_un name;

    if (!fill_in(path, &name, err) || !make_room(address, &name, err))
        return false;
    const int fd = socket(AF_UNIX, KIND_FLAGS, 0);
    if (fd < 0)
        return fail(address, errno, err);
    if (bind_privately(fd, &name) || listen(fd, BACKLOG)) {
        fail(address, errno, err);
        close(fd);
        return false;
    }
    *fd_out = fd;
    return true;
}

/* ---- a port ---- */

/* [::]:80 is for IPv6 alone: whoever wants both says so twice, on any system. -1: errno says why.
 */
static int open_at(const struct addrinfo *at)
{
    const int one = 1;
    const int fd = socket(at->ai_family, KIND_FLAGS, 0);

    if (fd < 0)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
        (at->ai_family != AF_INET6 ||
         setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one) == 0) &&
        bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    const int number = errno;
    close(fd);
    errno = number;
    return -1;
}

/* The first that works. */
static bool open_any(const char *address, const struct addrinfo *found, int *fd_out,
                     struct error *err)
{
    for (const struct addrinfo *at = found; at; at = at->ai_next) {
        *fd_out = open_at(at);
        if (*fd_out >= 0)
            return true;
    }
    return fail(address, errno, err);
}

/* HOST or [ADDRESS], without the brackets; the caller's. */
static char *host_of(const char *address, const char *colon)
{
    const size_t bracket = address[0] == '[';

    return strndup(address + bracket, (size_t)(colon - address) - 2 * bracket);
}

static bool open_port(const char *address, int *fd_out, struct error *err)
{
    const struct addrinfo wanted = {.ai_flags = AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    const char *colon = strrchr(address, ':');
    struct addrinfo *found = NULL;

    if (!colon)
        return fail(address, EINVAL, err);
    AUTO_FREE char *host = host_of(address, colon);
    if (!host)
        return error_no_memory(err);
    const int failed = getaddrinfo(host, colon + 1, &wanted, &found);
    if (failed)
        return error_set(err, TH_E_INVALID, "cannot listen on %s: %s", address,
                         gai_strerror(failed));
    const bool is_open = open_any(address, found, fd_out, err);
    freeaddrinfo(found);
    return is_open;
}

bool address_listen(const char *address, int *fd_out, struct error *err)
{
    const char *path = address_path(address);

    return path ? open_file(address, path, fd_out, err) : open_port(address, fd_out, err);
}

/* ---- where it is ---- */

static void show_port(const struct sockaddr_storage *name, socklen_t size, struct buffer *text)
{
    const char *form = name->ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s";
    char host[NI_MAXHOST], port[NI_MAXSERV];

    if (getnameinfo((const struct sockaddr *)name, size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        buffer_printf(text, form, host, port);
}

void address_show(int fd, struct buffer *text)
{
    struct sockaddr_storage name = {0};
    socklen_t size = sizeof name;

    if (getsockname(fd, (struct sockaddr *)&name, &size))
        return;
    if (name.ss_family == AF_UNIX)
        buffer_printf(text, UNIX "%s", ((const struct sockaddr_un *)&name)->sun_path);
    else
        show_port(&name, size, text);
}

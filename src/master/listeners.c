/*
 * listeners.c - the sockets that doors listen on, from one config and one thd to the next.
 *
 * Handed over as sd_listen_fds(3) has it: LISTEN_PID is for whom, LISTEN_FDS how many,
 * LISTEN_FDNAMES which door each is for. A thd says one thing more, TH_LISTEN_0 and so on: the
 * address that it opened the socket for. So the next one can tell whether its config still wants
 * that.
 */
#include "master/listeners.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/log.h"
#include "base/text.h"
#include "config/config.h"
#include "master/address.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PID       "LISTEN_PID"
#define FDS       "LISTEN_FDS"
#define NAMES     "LISTEN_FDNAMES"
#define ADDRESS   "TH_LISTEN_%zu"
#define NAMES_MAX 4096
#define NAME_SIZE 32
#define SHOWN_MAX 256

static const char *const names[DOORS] = {[DOOR_HTTP] = "http", [DOOR_FAKTORY] = "faktory"};

const char *door_name(enum door door)
{
    return names[door];
}

/* NULL: it does not listen. */
static const char *wanted(const struct config *config, enum door door)
{
    switch (door) {
    case DOOR_HTTP:
        return config->has_http ? config->http.listen : NULL;
    case DOOR_FAKTORY:
        return config->has_faktory ? config->faktory.listen : NULL;
    case DOORS:
        break;
    }
    assert(!"no such door");
    return NULL;
}

static bool is_wanted(const struct listener *listener, const struct config *config)
{
    const char *address = wanted(config, listener->door);

    return address && (!listener->address || text_equal(listener->address, address));
}

static const struct listener *find(const struct listeners *listeners, enum door door,
                                   const struct config *config)
{
    for (size_t i = 0; i < listeners->count; i++) {
        const struct listener *listener = &listeners->items[i];

        if (listener->door == door && is_wanted(listener, config))
            return listener;
    }
    return NULL;
}

int listeners_find(const struct listeners *listeners, enum door door, const struct config *config)
{
    const struct listener *listener = find(listeners, door, config);

    return listener ? listener->fd : -1;
}

/* ---- one of them ---- */

static ino_t file_of(const struct listener *listener)
{
    const char *path = listener->address ? address_path(listener->address) : NULL;
    struct stat found;

    return path && lstat(path, &found) == 0 ? found.st_ino : 0;
}

/* Somebody may have put another file there. */
static void close_one(struct listener *listener)
{
    if (listener->inode != 0 && listener->inode == file_of(listener))
        unlink(address_path(listener->address));
    close(listener->fd);
    free(listener->address);
}

/* The address may be NULL; both are taken over. */
static struct listener *add(struct listeners *listeners, enum door door, int fd, char *address)
{
    assert(listeners->count < LISTENERS_MAX);
    struct listener *listener = &listeners->items[listeners->count++];
    *listener = (struct listener){.door = door, .fd = fd, .address = address};
    return listener;
}

/* ---- taken over ---- */

static bool forget(const char *variable, struct error *err)
{
    return unsetenv(variable) == 0 || error_errno(err, TH_E_INTERNAL, errno, "forget %s", variable);
}

static bool is_listening(int fd)
{
    int answer = 0;
    socklen_t size = sizeof answer;

    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &answer, &size) == 0 && answer;
}

static bool find_door(const char *name, enum door *door_out, struct error *err)
{
    char shown[EXCERPT_SIZE];

    for (enum door door = 0; door < DOORS; door++) {
        *door_out = door;
        if (text_equal(names[door], name))
            return true;
    }
    return error_set(err, TH_E_INVALID,
                     NAMES " has '%s': a socket is for http or faktory (FileDescriptorName=)",
                     excerpt_of(name, shown));
}

static bool has_door(const struct listeners *listeners, enum door door)
{
    for (size_t i = 0; i < listeners->count; i++) {
        if (listeners->items[i].door == door)
            return true;
    }
    return false;
}

/* What a thd before us opened it for, which may have had one for its next config too; *address_out
 * is the caller's. */
static bool take_address(size_t index, char **address_out, struct error *err)
{
    char variable[NAME_SIZE];

    snprintf(variable, sizeof variable, ADDRESS, index);
    const char *address = getenv(variable);
    if (!address)
        return true;
    *address_out = strdup(address);
    return *address_out ? forget(variable, err) : error_no_memory(err);
}

static bool take_one(struct listeners *listeners, int fd, size_t index, const char *name,
                     struct error *err)
{
    AUTO_FREE char *address = NULL;
    enum door door;

    if (!find_door(name, &door, err) || !take_address(index, &address, err))
        return false;
    if (!address && has_door(listeners, door))
        return error_set(err, TH_E_INVALID, NAMES " has two sockets for %s", name);
    if (!is_listening(fd))
        return error_set(err, TH_E_INVALID, FDS ": descriptor %d does not listen", fd);
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) || fcntl(fd, F_SETFL, O_NONBLOCK))
        return error_errno(err, TH_E_INTERNAL, errno, "keep descriptor %d from others", fd);
    add(listeners, door, fd, address);
    address = NULL;
    return true;
}

/* The next of NAMES, which has ':' between. */
static void next_name(const char **list, char name_out[NAME_SIZE])
{
    const size_t length = strcspn(*list, ":");

    snprintf(name_out, NAME_SIZE, "%.*s", (int)(length < NAME_SIZE ? length : NAME_SIZE - 1),
             *list);
    *list += length + ((*list)[length] == ':');
}

static bool take_all(struct listeners *listeners, int first, size_t count, struct error *err)
{
    const char *list = getenv(NAMES);
    char name[NAME_SIZE];

    for (size_t i = 0; i < count; i++) {
        if (list)
            next_name(&list, name);
        else
            name[0] = '\0';
        if (!take_one(listeners, first + (int)i, i, name, err))
            return false;
    }
    return true;
}

static bool forget_all(struct error *err)
{
    return forget(PID, err) && forget(FDS, err) && forget(NAMES, err);
}

/* Variables that are for somebody else were left behind by whoever started us. */
bool listeners_take(struct listeners *listeners, int first, struct error *err)
{
    const char *pid = getenv(PID), *fds = getenv(FDS);
    int64_t number, count;

    if (!pid || !fds || !text_to_int(pid, 1, INT_MAX, &number) || number != getpid())
        return forget_all(err);
    if (!text_to_int(fds, 0, LISTENERS_MAX, &count))
        return error_set(err, TH_E_INVALID, FDS " is '%s': there are at most %d sockets for thd",
                         fds, LISTENERS_MAX);
    return take_all(listeners, first, (size_t)count, err) && forget_all(err);
}

/* ---- opened ---- */

static bool open_one(struct listeners *listeners, enum door door, const char *address,
                     struct error *err)
{
    int fd;

    if (!address_listen(address, &fd, err))
        return false;
    char *copy = strdup(address);
    if (!copy) {
        close(fd);
        return error_no_memory(err);
    }
    struct listener *listener = add(listeners, door, fd, copy);
    listener->inode = file_of(listener);
    return true;
}

bool listeners_open(struct listeners *listeners, const struct config *config, unsigned doors,
                    enum door *door_out, struct error *err)
{
    for (enum door door = 0; door < DOORS; door++) {
        const char *address = doors & 1U << door ? wanted(config, door) : NULL;

        *door_out = door;
        if (address && !find(listeners, door, config) && !open_one(listeners, door, address, err))
            return error_prefix(err, "%s.listen", names[door]);
    }
    return true;
}

void listeners_keep(struct listeners *listeners, const struct config *config,
                    const struct config *next)
{
    size_t kept = 0;

    for (size_t i = 0; i < listeners->count; i++) {
        struct listener *listener = &listeners->items[i];

        if (!listener->address || is_wanted(listener, config) ||
            (next && is_wanted(listener, next)))
            listeners->items[kept++] = *listener;
        else
            close_one(listener);
    }
    listeners->count = kept;
}

void listeners_log(const struct listeners *listeners)
{
    for (size_t i = 0; i < listeners->count; i++) {
        CLEANUP(buffer_done) struct buffer shown = BUFFER(SHOWN_MAX);

        address_show(listeners->items[i].fd, &shown);
        log_info("listening", "door=%s address=%s", names[listeners->items[i].door],
                 buffer_str(&shown));
    }
}

/* ---- passed on ---- */

static bool tell(const char *variable, const char *value, struct error *err)
{
    return setenv(variable, value, 1) == 0 ||
           error_errno(err, TH_E_INTERNAL, errno, "set %s", variable);
}

static bool tell_number(const char *variable, int number, struct error *err)
{
    char text[NAME_SIZE];

    snprintf(text, sizeof text, "%d", number);
    return tell(variable, text, err);
}

static bool tell_address(size_t index, const char *address, struct error *err)
{
    char variable[NAME_SIZE];

    snprintf(variable, sizeof variable, ADDRESS, index);
    return !address || tell(variable, address, err);
}

bool listeners_pass(const struct listeners *listeners, int fds_out[LISTENERS_MAX],
                    size_t *count_out, struct error *err)
{
    CLEANUP(buffer_done) struct buffer list = BUFFER(NAMES_MAX);

    *count_out = listeners->count;
    for (size_t i = 0; i < listeners->count; i++) {
        const struct listener *listener = &listeners->items[i];

        fds_out[i] = listener->fd;
        buffer_printf(&list, "%s%s", i > 0 ? ":" : "", names[listener->door]);
        if (!tell_address(i, listener->address, err))
            return false;
    }
    return tell(NAMES, buffer_str(&list), err) && tell_number(FDS, (int)listeners->count, err) &&
           tell_number(PID, getpid(), err);
}

/* ---- their files ---- */

void listeners_own(struct listeners *listeners)
{
    for (size_t i = 0; i < listeners->count; i++)
        listeners->items[i].inode = file_of(&listeners->items[i]);
}

void listeners_disown(struct listeners *listeners)
{
    for (size_t i = 0; i < listeners->count; i++)
        listeners->items[i].inode = 0;
}

void listeners_close(struct listeners *listeners)
{
    for (size_t i = 0; i < listeners->count; i++)
        close_one(&listeners->items[i]);
    listeners->count = 0;
}

/*
 * listeners.h - the sockets that doors listen on, from one config and one thd to the next.
 *
 *     start   taken from whoever started us (systemd, or the thd that this one replaces), or opened
 *     HUP     an address that stays keeps its socket; if a new one cannot be opened, the config is
 *             rejected before anything else is changed
 *     USR2    handed to the next thd, in the form that systemd has: LISTEN_FDS
 *
 * The master keeps them open all the time, so whoever connects while a door is replaced, has died
 * or is not ready yet waits a moment and is not refused. It never accepts: that is for the doors.
 *
 * A socket that systemd opened is its door's, whatever address the config has.
 */
#ifndef MASTER_LISTENERS_H
#define MASTER_LISTENERS_H

#include "base/base.h"

#include <sys/types.h>

struct config;
struct error;

#define LISTENERS_FIRST 3 /* the descriptor of the first one that was handed to us */

/* The sections of the config that listen. */
enum door {
    DOOR_HTTP,
    DOOR_FAKTORY,
    DOORS,
};

/* Of each door: that of the present config, of one that waits its turn, and of one that is being
 * checked; or that of systemd. */
#define LISTENERS_MAX 8

struct listener {
    enum door door;
    char *address; /* owned; as the config has it; NULL: systemd opened it */
    int fd;        /* owned */
    ino_t inode;   /* of its file, if it is ours to remove; 0: there is none */
};

struct listeners {
    struct listener items[LISTENERS_MAX];
    size_t count;
};

const char *door_name(enum door door);

/* Those that came with us, as descriptors from `first` on. Nobody that we start sees the variables
 * that said so. */
bool listeners_take(struct listeners *listeners, int first, struct error *err) MUST_CHECK;

/* Opens what the config wants and nobody has opened yet, of these doors: a bit for each that
 * somebody answers at. When it fails, *door_out is whose address it was, and some may have been
 * opened: listeners_keep() closes them. */
bool listeners_open(struct listeners *listeners, const struct config *config, unsigned doors,
                    enum door *door_out, struct error *err) MUST_CHECK;

/* Closes all that neither config wants, but for those of systemd; the second may be NULL. */
void listeners_keep(struct listeners *listeners, const struct config *config,
                    const struct config *next);

/* Where they are, into the log. */
void listeners_log(const struct listeners *listeners);

/* The socket of that door in that config; -1: it has none. */
int listeners_find(const struct listeners *listeners, enum door door, const struct config *config);

/* In the child that becomes the next thd: all of them, for descriptors from LISTENERS_FIRST on, and
 * the variables that tell. Returns how many. */
bool listeners_pass(const struct listeners *listeners, int fds_out[LISTENERS_MAX],
                    size_t *count_out, struct error *err) MUST_CHECK;

/* Who removes the files: a thd that has taken its place, and no longer one that has given way. */
void listeners_own(struct listeners *listeners);
void listeners_disown(struct listeners *listeners);

void listeners_close(struct listeners *listeners);

#endif

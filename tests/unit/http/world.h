/*
 * world.h - a server and its clients in one process, in one loop: what a client sends is there
 * when it has sent it, and nobody waits for a clock.
 */
#ifndef TESTS_UNIT_HTTP_WORLD_H
#define TESTS_UNIT_HTTP_WORLD_H

#include "base/error.h"
#include "http/server.h"
#include "http/stream.h"
#include "process/loop.h"
#include "suites.h"

#define SECONDS(n) ((n)*USEC_PER_SEC)

/* A client: it reads whatever comes, unless it is told not to. */
struct peer {
    int fd;
    struct loop_watch watch;
    char *heard; /* all that was read, and a NUL; owned */
    size_t length;
    bool is_over; /* the server has closed its end */
    bool was_reset;
    bool was_cut_short; /* the server did not let it finish */
};

/* What the handler does, by path:
 *   /echo     200 with the body         /hold     keeps it in `held`, for the test to answer
 *   /none     204                       /drop     drops it
 *   /lasting  200 with `lasting`        /stream   begins `stream`
 *   /peer     200 with its family       /header   200 with its header X-Test
 *   /method   200 with its method
 * and admit() refuses /secret with 401. Bodies may be `body_max` long. */
struct world {
    struct loop *loop;
    struct http_server *server;
    struct http_server_options options; /* may be changed before world_open() */
    int listener;
    struct error err;

    size_t body_max;
    unsigned admitted, handled;
    struct http_request *held;
    struct http_stream *stream;
    struct bytes lasting;
    unsigned gone, room, retired, left;
    int sent; /* -1: unknown yet */
};

extern struct world world;

/* For tcase_add_checked_fixture(): a loop and options; nothing is open yet. */
void world_setup(void);
void world_teardown(void);

void world_open(void);

/* The same on a Unix socket. */
void world_open_unix(void);

/* From this address of loopback; NULL is any. */
struct peer *world_connect(const char *address);
struct peer *world_connect_deaf(void); /* it reads nothing */
void world_listen(struct peer *peer);  /* it does, from now on */
void world_leave(struct peer *peer);

void world_say(struct peer *peer, const char *text);
void world_say_bytes(struct peer *peer, const void *data, size_t length);

/* Steps until that has been heard; fails if the server closes before. */
void world_hear(struct peer *peer, const char *text);
void world_hear_end(struct peer *peer); /* the server has closed it */
void world_step(void);
void world_settle(void); /* until there is nothing left to do now */

/* What comes from now on is heard as if it were the first. */
void world_forget(struct peer *peer);

/* The time has come, whatever the clock says: so many seconds from now. */
void world_later(int seconds);

#endif

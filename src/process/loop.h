/*
 * loop.h - file descriptors, timers, signals: all that wakes a process.
 *
 * A watch or a timer lies in the struct of its owner, is zeroed before its first use, and stays
 * where it is until it is taken off. Callbacks may watch, unwatch, set and clear anything, even
 * themselves: what was taken off is not called any more, not even for what came before.
 */
#ifndef PROCESS_LOOP_H
#define PROCESS_LOOP_H

#include "base/base.h"

#include <signal.h>

struct error;

#define LOOP_READ  1u /* also when the other end has closed */
#define LOOP_WRITE 2u /* also when the other end has closed */

/* With these, for watches that are not changed while they are on: */
#define LOOP_ALONE 4u /* of several processes that watch the same, not all are woken */
#define LOOP_NEWS  8u /* only when something has come since the last call */

struct loop_watch {
    int fd;
    void (*call)(void *context, unsigned events);
    void *context;
    bool is_on;
};

struct loop_timer {
    usec_t at; /* boot time */
    void (*call)(void *context);
    void *context;
    struct loop_timer *next; /* by time */
    bool is_on;
};

struct loop;

/* SIGPIPE is ignored from here on: a closed pipe is an error of write(). SIGCHLD is not, even if
 * whoever started us ignored it: children could not be waited for. */
bool loop_open(struct loop **loop_out, struct error *err) MUST_CHECK;
void loop_close(struct loop **loop);

/* Calls while the descriptor is ready, with the events that it is ready for. A descriptor that is
 * closed must be unwatched before. Watching again changes the events. */
bool loop_watch(struct loop *loop, struct loop_watch *watch, unsigned events,
                struct error *err) MUST_CHECK;
void loop_unwatch(struct loop *loop, struct loop_watch *watch);

/* Calls once, at `at` on clock_boot() or soon after. Setting again moves it. */
void loop_set_timer(struct loop *loop, struct loop_timer *timer, usec_t at);
void loop_clear_timer(struct loop *loop, struct loop_timer *timer);

/* Blocks the signal for good and calls from the loop each time that it has come; several that come
 * together may be one call. */
bool loop_catch(struct loop *loop, int number, void (*call)(void *context, int number),
                void *context, struct error *err) MUST_CHECK;

/* Calls before each wait, whoever steps the loop: the place to set a timer for something that may
 * have come up since. There is one such call; NULL takes it off. */
void loop_before_wait(struct loop *loop, void (*call)(struct loop *loop, void *context),
                      void *context);

/* Waits for the next events and makes their calls. */
bool loop_step(struct loop *loop, struct error *err) MUST_CHECK;

/* The same without waiting. */
bool loop_glance(struct loop *loop, struct error *err) MUST_CHECK;

/* Steps until a callback asks to stop. */
bool loop_run(struct loop *loop, struct error *err) MUST_CHECK;
void loop_stop(struct loop *loop);

#endif

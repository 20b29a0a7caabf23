/*
 * start_board.h - shared memory: which handlers cannot be started, since when and why.
 *
 * The dispatcher finds it out and writes it, the heartbeater passes it on to the store, for people.
 * One place per handler of a config; nothing is decided by it. Workers cannot write it.
 */
#ifndef PROCESS_START_BOARD_H
#define PROCESS_START_BOARD_H

#include "base/base.h"

struct error;
struct start_board;

#define START_BOARD_ERROR_SIZE 256

/* Times are the database's. */
struct start_failure {
    usec_t since;
    usec_t next_try;
    char error[START_BOARD_ERROR_SIZE];
};

/* Before the processes are forked. */
bool start_board_open(size_t handlers, struct start_board **board_out,
                      struct error *err) MUST_CHECK;
void start_board_close(struct start_board **board);

/* In a worker, first thing. */
bool start_board_restrict(struct start_board *board, struct error *err) MUST_CHECK;

/* By the dispatcher; NULL: it can be started. */
void start_board_set(struct start_board *board, size_t handler,
                     const struct start_failure *failure);

/* By a dispatcher that knows nothing yet. */
void start_board_clear(struct start_board *board);

/* False: it can be started, as far as is known. */
bool start_board_get(const struct start_board *board, size_t handler,
                     struct start_failure *failure_out) MUST_CHECK;

#endif

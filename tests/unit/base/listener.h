/*
 * listener.h - reads what this process writes to stderr.
 *
 * A test is a process of its own, so its stderr need not be given back.
 */
#ifndef TESTS_UNIT_BASE_LISTENER_H
#define TESTS_UNIT_BASE_LISTENER_H

#include "base/base.h"

/* Makes stderr a pipe, as small as can be, so that it is soon full. */
void listener_open(void);
void listener_close(void);

/* Makes `writer` the stderr, whose other end is `reader`; takes both over. */
void listener_connect(int reader, int writer);

/* Makes it a terminal. */
void listener_open_terminal(void);

/* From here on hearing waits for the end of all that is written. */
void listener_wait_for_the_end(void);

/* All that was written so far. */
const char *listener_hear(void);
size_t listener_length(void);

/* How often `part` is in it. */
size_t listener_count(const char *part);

/* Throws away what was heard, and returns the length of the next piece; 0 when there is none. */
size_t listener_take_piece(void);

#endif

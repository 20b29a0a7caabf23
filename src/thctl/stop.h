/*
 * stop.h - signals that end a long command, heard at a moment when it can tell how far it came.
 *
 * The first signal is noted, and interrupts a write whose reader does not read; the second one of
 * its kind ends the process at once, as the first would have done otherwise.
 */
#ifndef THCTL_STOP_H
#define THCTL_STOP_H

#include "base/base.h"

/* From now on HUP, INT and TERM are noted, unless they were ignored already. */
void stop_watch(void);

bool stop_is_asked(void);

/* Ends the process by the signal that was noted, so that whoever started it sees that; returns if
 * there was none. */
void stop_obey(void);

#endif

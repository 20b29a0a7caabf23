/*
 * top_room.h - what fits into the lines of a screen.
 */
#ifndef THCTL_TOP_ROOM_H
#define THCTL_TOP_ROOM_H

#include "base/base.h"

/* Shares lines among parts, each of which wants some. None gets more than it wants, and none goes
 * short while another has two more; the earlier of two equals gets the odd line. */
void top_room_share(size_t lines, const size_t *wanted, size_t *given_out, size_t count);

/* The first row to show: as near to the one asked for as it can be with no line left empty. */
size_t top_room_first(size_t asked, size_t rows, size_t lines);

#endif

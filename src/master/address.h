/*
 * address.h - where a door listens, as the config writes it: HOST:PORT, [ADDRESS]:PORT or
 * unix:PATH.
 */
#ifndef MASTER_ADDRESS_H
#define MASTER_ADDRESS_H

#include "base/base.h"

struct buffer;
struct error;

/* Listens there; the descriptor is the caller's, close-on-exec and non-blocking. A socket file that
 * a dead server left behind is replaced; a live one's is not, and neither is a file of another
 * kind. */
bool address_listen(const char *address, int *fd_out, struct error *err) MUST_CHECK;

/* The path in unix:PATH; NULL for an address of another kind. */
const char *address_path(const char *address);

/* Where a socket listens: with the port that it was given for port 0. */
void address_show(int fd, struct buffer *text);

#endif

/*
 * parcel.h - a pack that waits to be sent, and may have to be sent again.
 *
 * A short one is a copy in memory. A long one lies in a sealed memfd from the start, so that
 * sending it to the next process costs nothing.
 */
#ifndef DOOR_PARCEL_H
#define DOOR_PARCEL_H

#include "base/base.h"

struct error;

struct parcel {
    unsigned char *data; /* owned; NULL: it is in the file, or empty */
    size_t length;
    int fd; /* owned; -1: there is none */
};

/* A copy; at most PACK_MAX bytes. */
bool parcel_make(struct bytes pack, struct parcel *parcel_out, struct error *err) MUST_CHECK;
void parcel_done(struct parcel *parcel);

#endif

/*
 * whoami.h - who is at work here, for others to ask: user@host.
 */
#ifndef THCTL_WHOAMI_H
#define THCTL_WHOAMI_H

#include "base/base.h"
#include "store/store.h"

/* What cannot be found out is a number, or `unknown`. */
const char *whoami(char text[STORE_BY_SIZE]);

#endif

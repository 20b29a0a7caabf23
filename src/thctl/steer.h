/*
 * steer.h - what a pause or its end is answered with.
 */
#ifndef THCTL_STEER_H
#define THCTL_STEER_H

#include "base/base.h"
#include "thctl/session.h"

/* "paused mail", or {"queue":"mail","paused":true} where `kind` is "queue". */
void steer_print(struct session *session, const char *kind, const char *name, bool paused);

#endif

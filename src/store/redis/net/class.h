/*
 * class.h - the table of error replies: what each means for the call, and what to do next.
 */
#ifndef REDIS_CLASS_H
#define REDIS_CLASS_H

#include "base/base.h"
#include "base/error.h"

/* Every error reply to a command means that this command changed nothing. */
enum redis_remedy {
    REMEDY_NONE,      /* the caller hears of it */
    REMEDY_LOAD,      /* load the script and repeat */
    REMEDY_MOVE,      /* the slot has another home: follow */
    REMEDY_MEND,      /* a key is of a type that is none of ours: set it aside and repeat, once */
    REMEDY_ASK,       /* the slot is moving, and this key has gone ahead: ask there once */
    REMEDY_REPEAT,    /* in a moment it will work */
    REMEDY_RECONNECT, /* this server cannot, and the caller hears of it; the next call finds another
                       */
};

enum redis_remedy redis_class_remedy(const char *reply);

/* The code and the sentence for this reply, with advice where there is any. */
bool redis_class_error(const char *reply, struct error *err);

#endif

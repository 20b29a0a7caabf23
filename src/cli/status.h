/*
 * status.h - what thctl, and thd before its pool runs, ends with.
 */
#ifndef CLI_STATUS_H
#define CLI_STATUS_H

enum status {
    STATUS_OK = 0,
    STATUS_FAILED = 1,   /* could not be done, or not for all */
    STATUS_USAGE = 2,    /* what was typed is wrong; nothing was done */
    STATUS_BACKEND = 69, /* EX_UNAVAILABLE: the backend cannot be reached */
    STATUS_CONFIG = 78,  /* EX_CONFIG: the config is wrong */
    STATUS_TIMEOUT = 124 /* as timeout(1) ends: what was waited for takes longer */
};

#endif

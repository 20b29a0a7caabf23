/*
 * <taskharbor/error.h> - what can go wrong, as a code to branch on.
 *
 * Every call that can fail fills in one of these codes together with a sentence for people.
 * The numbers are part of the ABI: new codes are added at the end.
 */
#ifndef TASKHARBOR_ERROR_H
#define TASKHARBOR_ERROR_H

enum th_error_code {
    TH_OK = 0,
    TH_E_INVALID,        /* the input is wrong; nothing was changed */
    TH_E_UNAVAILABLE,    /* the backend is away or busy; nothing was changed, try again later */
    TH_E_UNCERTAIN,      /* sent, no answer: repeat it with the same id or token */
    TH_E_NOT_FOUND,      /* no such job */
    TH_E_NOT_RUNNING,    /* the job is not running, so nobody can settle it */
    TH_E_LEASE_EXPIRED,  /* the lease ran out before the call */
    TH_E_LEASE_MISMATCH, /* somebody else holds the job now */
    TH_E_CONFLICT,       /* the job's state, or its twin's, does not allow this */
    TH_E_SCHEMA,         /* the backend's schema does not fit this version of TaskHarbor */
    TH_E_NO_MEMORY,      /* out of memory */
    TH_E_INTERNAL,       /* a bug; the text says where */
};

#endif

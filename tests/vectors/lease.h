/*
 * lease.h - who may extend or settle: one table for lease_check() of job/lease.c, and for what the
 * stores make of it in SQL and Lua.
 */
#ifndef TESTS_VECTORS_LEASE_H
#define TESTS_VECTORS_LEASE_H

#include "base/base.h"
#include "job/state.h"

#include <taskharbor/error.h>

struct lease_vector {
    const char *rule;
    enum job_state state;
    usec_t late; /* now is so long after the end of the lease */
    bool is_ours;
    enum th_error_code verdict;
};

/* clang-format off */
static const struct lease_vector lease_vectors[] = {
    {"our lease is valid to its last microsecond",     JOB_RUNNING,   -1, true,  TH_OK},
    {"at its end it has ended",                        JOB_RUNNING,   0,  true,  TH_E_LEASE_EXPIRED},
    {"and after it",                                   JOB_RUNNING,   1,  true,  TH_E_LEASE_EXPIRED},
    {"another one's lease is not ours",                JOB_RUNNING,   -1, false, TH_E_LEASE_MISMATCH},
    {"an ended lease has ended, whose it was or not",  JOB_RUNNING,   0,  false, TH_E_LEASE_EXPIRED},
    {"and after its end as well",                      JOB_RUNNING,   1,  false, TH_E_LEASE_EXPIRED},
    {"a scheduled job has no lease",                   JOB_SCHEDULED, -1, true,  TH_E_NOT_RUNNING},
    {"nor later, for somebody else",                   JOB_SCHEDULED, 1,  false, TH_E_NOT_RUNNING},
    {"a ready job has none",                           JOB_READY,     -1, true,  TH_E_NOT_RUNNING},
    {"nor later, for somebody else",                   JOB_READY,     1,  false, TH_E_NOT_RUNNING},
    {"a blocked job has none: its twin has",           JOB_BLOCKED,   -1, true,  TH_E_NOT_RUNNING},
    {"nor later, for somebody else",                   JOB_BLOCKED,   1,  false, TH_E_NOT_RUNNING},
    {"a job that waits for a retry has none any more", JOB_RETRY,     -1, true,  TH_E_NOT_RUNNING},
    {"nor later, for somebody else",                   JOB_RETRY,     1,  false, TH_E_NOT_RUNNING},
    {"nor has a done one",                             JOB_DONE,      -1, true,  TH_E_NOT_RUNNING},
    {"nor later, for somebody else",                   JOB_DONE,      1,  false, TH_E_NOT_RUNNING},
    {"nor has a dead one",                             JOB_DEAD,      -1, true,  TH_E_NOT_RUNNING},
    {"nor later, for somebody else",                   JOB_DEAD,      1,  false, TH_E_NOT_RUNNING},
    {"nor has a cancelled one",                        JOB_CANCELLED, -1, true,  TH_E_NOT_RUNNING},
    {"nor later, for somebody else",                   JOB_CANCELLED, 1,  false, TH_E_NOT_RUNNING},
};
/* clang-format on */

#endif

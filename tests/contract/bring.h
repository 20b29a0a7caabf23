/*
 * bring.h - a job of its own, brought into the state that a case starts from.
 */
#ifndef TESTS_CONTRACT_BRING_H
#define TESTS_CONTRACT_BRING_H

#include "scene.h"

/* Type and key are the job's own, so that a case finds it among others of its queue. */
struct brought {
    struct uuid id;
    enum job_state state;
    char type[32], key[32];
    struct claim claim; /* its lease or its last one; zeroed when it never had one */
    struct claim twin;  /* of a blocked job: the running one, leased for a day */
};

/* Everything happens at NOW; what waits for a time waits for LATER. */
struct brought bring(struct scene *scene, enum job_state state);

/* A second job for the same key, not stored. Points into `brought`. */
struct job bring_twin(struct scene *scene, const struct brought *brought);

#endif

/*
 * company.h - which workers have nothing to do, and how many jobs could join those that run.
 *
 * A worker runs one job, or as many of one resident as their handlers allow. Which job it will take
 * next is its own choice; what is counted here is for how many jobs to ask the store.
 */
#ifndef DISPATCHER_COMPANY_H
#define DISPATCHER_COMPANY_H

#include "base/base.h"

struct dispatcher;

struct company {
    size_t idle;  /* workers */
    size_t spare; /* jobs */
};

/* `running`: how many jobs run in all. */
struct company company_count(struct dispatcher *dispatcher, size_t running);

/* Nobody could take a job in the time that it may wait. Until a worker is idle no more jobs are
 * asked for to join others: the same one would come again and again. */
void company_note_missed(struct dispatcher *dispatcher);

#endif

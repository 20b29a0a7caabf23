/*
 * filters.h - what a door asks for as what the store is asked for.
 */
#ifndef BROWSE_FILTERS_H
#define BROWSE_FILTERS_H

#include "door/job_query.h"
#include "store/store.h"

/* Points to what the query points to. A position that was made up is one all the same: there is
 * something after it, or nothing. */
struct job_filter filter_of_query(const struct job_query *query);

#endif

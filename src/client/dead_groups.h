/*
 * dead_groups.h - what the newest dead jobs died of: those with one type and one kind of error are
 * a group.
 */
#ifndef CLIENT_DEAD_GROUPS_H
#define CLIENT_DEAD_GROUPS_H

#include "base/arena.h"
#include "base/base.h"
#include "job/error_shape.h"
#include "store/store.h"

#define DEAD_GROUPS_LOOKED_AT 1000 /* jobs */
#define DEAD_GROUP_QUEUES     8    /* that are named */

struct dead_group {
    const char *type;
    const char *error; /* its shape; "" where none was kept */
    size_t count;
    usec_t first, last;  /* when they ended */
    struct uuid example; /* the last one */
    const char *queues[DEAD_GROUP_QUEUES];
    size_t queue_count; /* more than DEAD_GROUP_QUEUES: the others are not named */
};

struct dead_groups {
    struct dead_group *items; /* owned; the largest first, of equal ones that with the last death */
    size_t count, room;
    size_t looked_at;   /* jobs */
    bool is_cut;        /* older ones were not looked at */
    struct arena arena; /* what the groups point into */
};

bool dead_groups_read(struct store *store, struct dead_groups *groups_out,
                      struct error *err) MUST_CHECK;
void dead_groups_done(struct dead_groups *groups);

#endif

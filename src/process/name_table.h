/*
 * name_table.h - in shared memory: names that are counted by, and the place of each.
 *
 * One process adds names, at most NAME_TABLE_MAX of them, and none ever goes; all that come later
 * share one more place, which is called "other". So whoever makes up names can neither fill the
 * memory nor the screens of those who read what was counted. Finding a name takes a few
 * comparisons, however many there are.
 */
#ifndef PROCESS_NAME_TABLE_H
#define PROCESS_NAME_TABLE_H

#include "base/base.h"
#include "job/job.h"

#include <stdatomic.h>
#include <string.h>

#define NAME_TABLE_MAX    200
#define NAME_TABLE_PLACES (NAME_TABLE_MAX + 1)
#define NAME_TABLE_OTHER  NAME_TABLE_MAX

/* Zeroed it is empty. */
struct name_table {
    _Atomic uint32_t count;
    _Atomic bool has_other;

    /* Its writer's own. */
    uint16_t last;       /* found last, they come in runs: its place and one; 0: none was */
    uint16_t slots[512]; /* by hash: a place and one; 0, or a place that does not count: none */

    char names[NAME_TABLE_MAX][JOB_NAME_MAX + 1];
};

/* By its writer, who may be killed anywhere in it: the next one goes on. The second is for whatever
 * is not the same name again. */
size_t name_table_look_up(struct name_table *table, const char *name);

static inline size_t name_table_place(struct name_table *table, const char *name)
{
    if (table->last > 0 && strcmp(table->names[table->last - 1], name) == 0)
        return table->last - 1U;
    return name_table_look_up(table, name);
}

/* By anybody. NULL: nothing is counted at this place yet. */
const char *name_table_name(const struct name_table *table, size_t place);

#endif

/*
 * browse.c - `thd: browse`: the doors' way to the store for what people read; it may be slow.
 */
#include "browse/browse.h"

#include "desk/desk.h"

int browse_main(struct process *process)
{
    return desk_run(process);
}

/*
 * answered.c - the jobs that a resident has answered last.
 */
#include "worker/answered.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "worker/resident_line.h"

#include <stdio.h>

static bool has(const struct answered *answered, const char *id)
{
    for (size_t i = 0; i < ANSWERED_KEPT; i++) {
        if (text_equal(answered->ids[i], id))
            return id[0] != '\0';
    }
    return false;
}

void answered_note(struct answered *answered, const char *id)
{
    char *place = answered->ids[answered->count++ % ANSWERED_KEPT];

    snprintf(place, UUID_TEXT_SIZE, "%s", id);
}

bool answered_concerns(const struct answered *answered, struct bytes line, const char *open_id)
{
    CLEANUP(arena_done) struct arena arena = {0};
    const char *id = resident_line_id(line, &arena);

    return id && !text_equal(id, open_id) && has(answered, id);
}

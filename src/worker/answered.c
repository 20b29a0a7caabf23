/*
 * answered.c - the jobs that a resident has answered last.
 */
#include "worker/answered.h"

#include "base/text.h"

#include <stdio.h>

void answered_note(struct answered *answered, const char *id)
{
    char *place = answered->ids[answered->count++ % ANSWERED_KEPT];

    snprintf(place, UUID_TEXT_SIZE, "%s", id);
}

bool answered_has(const struct answered *answered, const char *id)
{
    for (size_t i = 0; i < ANSWERED_KEPT; i++) {
        if (text_equal(answered->ids[i], id))
            return id[0] != '\0';
    }
    return false;
}

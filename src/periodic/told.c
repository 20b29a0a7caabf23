/*
 * told.c - what the store has been told of a run, so that each thing is told once.
 *
 * A worker may write anything into its slot. What no store would take is left out: one bad text
 * must not keep a whole pool from extending its leases.
 */
#include "periodic/told.h"

#include "base/text.h"
#include "store/store.h"

#include <string.h>

static bool is_about(const struct told *told, const struct slot *slot)
{
    return told->any && told->hold.entry == slot->hold.entry &&
           told->hold.generation == slot->hold.generation;
}

static bool has_new_progress(const struct told *told, const struct slot *slot)
{
    if (slot->progress_percent < 0 || slot->progress_percent > 100)
        return false;
    return !is_about(told, slot) || told->progress_percent != slot->progress_percent ||
           !text_equal(told->progress_text, slot->progress_text);
}

static bool has_new_output(const struct told *told, const struct slot *slot)
{
    return slot->output_total != (is_about(told, slot) ? told->output_total : 0);
}

static const char *text_of(const struct slot *slot)
{
    const char *text = slot->progress_text;
    const struct bytes bytes = {(const unsigned char *)text, strlen(text)};

    return bytes.length > 0 && text_is_utf8(bytes) ? text : NULL;
}

void told_compare(const struct told *told, const struct slot *slot, struct lease_beat *beat)
{
    if (has_new_progress(told, slot)) {
        beat->progress_percent = slot->progress_percent;
        beat->progress_text = text_of(slot);
    }
    if (has_new_output(told, slot))
        beat->output = (struct bytes){slot->output, slot->output_length};
}

void told_remember(struct told *told, const struct slot *slot)
{
    told->any = true;
    told->hold = slot->hold;
    told->progress_percent = slot->progress_percent;
    memcpy(told->progress_text, slot->progress_text, sizeof told->progress_text);
    told->output_total = slot->output_total;
}

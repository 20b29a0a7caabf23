/*
 * keyed.c - jobs with one key: what the waiting one takes from a newcomer.
 *
 * Invariant: packed flags lie in databases, so a bit keeps its meaning forever.
 */
#include "job/keyed.h"

#include "base/text.h"

#include <assert.h>
#include <stdlib.h>

const struct keyed_flags keyed_flags_default = {
    .payload = true,
    .run_at = UPDATE_RUN_AT_ALWAYS,
    .retry = true,
    .reset_counts = false,
};

static const char *const names[] = {
    [UPDATE_RUN_AT_ALWAYS] = "always",
    [UPDATE_RUN_AT_NEVER] = "never",
    [UPDATE_RUN_AT_IF_EARLIER] = "if_earlier",
    [UPDATE_RUN_AT_IF_LATER] = "if_later",
};

int keyed_flags_pack(struct keyed_flags flags)
{
    return (flags.payload ? KEYED_PAYLOAD : 0) | (flags.retry ? KEYED_RETRY : 0) |
           (flags.reset_counts ? KEYED_RESET_COUNTS : 0) | (int)flags.run_at << KEYED_RUN_AT_SHIFT;
}

struct keyed_flags keyed_flags_unpack(int packed)
{
    return (struct keyed_flags){
        .payload = (packed & KEYED_PAYLOAD) != 0,
        .run_at = (enum update_run_at)(packed >> KEYED_RUN_AT_SHIFT & KEYED_RUN_AT_MASK),
        .retry = (packed & KEYED_RETRY) != 0,
        .reset_counts = (packed & KEYED_RESET_COUNTS) != 0,
    };
}

/* `always` does not depend on what it meets, so nothing after it can take it back. */
static enum update_run_at join_run_at(enum update_run_at first, enum update_run_at second)
{
    if (first == UPDATE_RUN_AT_ALWAYS || second == UPDATE_RUN_AT_NEVER)
        return first;
    return second;
}

struct keyed_flags keyed_flags_join(struct keyed_flags first, struct keyed_flags second)
{
    return (struct keyed_flags){
        .payload = first.payload || second.payload,
        .run_at = join_run_at(first.run_at, second.run_at),
        .retry = first.retry || second.retry,
        .reset_counts = first.reset_counts || second.reset_counts,
    };
}

const char *update_run_at_name(enum update_run_at when)
{
    assert((unsigned)when < COUNT_OF(names));
    return names[when];
}

bool update_run_at_parse(const char *name, enum update_run_at *when_out)
{
    for (unsigned i = 0; i < COUNT_OF(names); i++) {
        if (text_equal(name, names[i])) {
            *when_out = (enum update_run_at)i;
            return true;
        }
    }
    return false;
}

static bool takes_run_at(enum update_run_at when, usec_t waiting_due, usec_t newcomer_due)
{
    switch (when) {
    case UPDATE_RUN_AT_ALWAYS:
        return true;
    case UPDATE_RUN_AT_NEVER:
        return false;
    case UPDATE_RUN_AT_IF_EARLIER:
        return newcomer_due < waiting_due;
    case UPDATE_RUN_AT_IF_LATER:
        return newcomer_due > waiting_due;
    }
    abort(); /* an update_run_at that is none of the four */
}

struct keyed_merge keyed_merge(const struct keyed_fields *waiting,
                               const struct keyed_fields *newcomer, struct keyed_flags flags)
{
    struct keyed_merge merge = {
        .fields = *waiting,
        .take_payload = flags.payload,
        .moved = takes_run_at(flags.run_at, waiting->due, newcomer->due),
    };

    if (flags.payload)
        merge.fields.priority = newcomer->priority;
    if (merge.moved) {
        merge.fields.run_at = newcomer->run_at;
        merge.fields.due = newcomer->due;
    }
    if (flags.retry) {
        merge.fields.max_attempts = newcomer->max_attempts;
        merge.fields.max_stalls = newcomer->max_stalls;
        merge.fields.timeout = newcomer->timeout;
    }
    if (flags.reset_counts) {
        merge.fields.attempts = 0;
        merge.fields.stalls = 0;
    }
    return merge;
}

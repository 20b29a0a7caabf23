/*
 * interleave.c - in which order the jobs of one exchange are handed out.
 *
 * The k-th of n jobs of a queue goes to the middle of the k-th of n equal parts.
 */
#include "dispatcher/interleave.h"

#include "base/text.h"
#include "job/job.h"

#include <stdlib.h>

#define WHOLE ((uint64_t)1 << 32)

struct place {
    uint64_t at; /* of WHOLE */
    size_t index;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *first = a, *second = b;

    if (first->at != second->at)
        return first->at < second->at ? -1 : 1;
    return first->index < second->index ? -1 : 1;
}

/* The end of the run of jobs of one queue that begins here. */
static size_t end_of_queue(const struct job_list *jobs, size_t from)
{
    size_t end = from + 1;

    while (end < jobs->count && text_equal(jobs->items[end].queue, jobs->items[from].queue))
        end++;
    return end;
}

static void spread(struct place *places, size_t from, size_t end)
{
    const uint64_t part = WHOLE / (end - from);

    for (size_t i = from; i < end; i++)
        places[i] = (struct place){.at = (i - from) * part + part / 2, .index = i};
}

size_t *interleave_order(const struct job_list *jobs)
{
    struct place *places = calloc(jobs->count + 1, sizeof *places);
    size_t *order = calloc(jobs->count + 1, sizeof *order);

    if (places && order) {
        for (size_t from = 0, end; from < jobs->count; from = end) {
            end = end_of_queue(jobs, from);
            spread(places, from, end);
        }
        qsort(places, jobs->count, sizeof *places, compare_places);
        for (size_t i = 0; i < jobs->count; i++)
            order[i] = places[i].index;
    } else {
        free(order);
        order = NULL;
    }
    free(places);
    return order;
}

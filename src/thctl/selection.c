/*
 * selection.c - the jobs that `--all` means, and whether they are really meant.
 */
#include "thctl/selection.h"

#include "base/cleanup.h"
#include "cli/output.h"
#include "thctl/pages.h"

#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

static bool add_ids(struct selection *selection, const struct job_list *jobs, struct error *err)
{
    size_t wanted = selection->count + jobs->count;

    if (wanted > selection->capacity) {
        struct uuid *ids = reallocarray(selection->ids, 2 * wanted, sizeof *ids);
        if (!ids)
            return error_no_memory(err);
        selection->ids = ids;
        selection->capacity = 2 * wanted;
    }
    for (size_t i = 0; i < jobs->count; i++)
        selection->ids[selection->count++] = jobs->items[i].id;
    return true;
}

static bool answer_is_yes(void)
{
    char answer[16];

    return fgets(answer, sizeof answer, stdin) &&
           (strcasecmp(answer, "y\n") == 0 || strcasecmp(answer, "yes\n") == 0);
}

static bool collect_state(struct selection *selection, struct store *store,
                          const struct job_filter *filter, enum job_state state, struct error *err)
{
    CLEANUP(job_list_done) struct job_list jobs = {0};
    struct pages pages = {.store = store, .filter = *filter};
    bool more = true;

    pages.filter.by_state = true;
    pages.filter.state = state;
    pages.filter.brief = true;
    pages.filter.oldest_first = true;
    while (more) {
        if (!pages_next(&pages, JOB_PAGE_MAX, &jobs, &more, err) || !add_ids(selection, &jobs, err))
            return false;
    }
    return true;
}

static int compare_ids(const void *a, const void *b)
{
    return uuid_compare(a, b);
}

/* A job that went on to its next state meanwhile was met in both. */
static void drop_repeats(struct selection *selection)
{
    struct uuid *ids = selection->ids;
    size_t kept = 0;

    if (selection->count == 0)
        return;
    qsort(ids, selection->count, sizeof *ids, compare_ids);
    for (size_t i = 1; i < selection->count; i++)
        if (uuid_compare(&ids[kept], &ids[i]) != 0)
            ids[++kept] = ids[i];
    selection->count = kept + 1;
}

bool selection_collect(struct selection *selection, struct store *store,
                       const struct job_filter *filter, const enum job_state *states,
                       size_t state_count, struct error *err)
{
    for (size_t i = 0; i < state_count; i++)
        if (!collect_state(selection, store, filter, states[i], err))
            return false;
    if (state_count > 1)
        drop_repeats(selection);
    return true;
}

enum status selection_confirm(const struct selection *selection, const char *verb, const char *done)
{
    const char *jobs = output_jobs((int64_t)selection->count);
    char count[OUTPUT_NUMBER_SIZE];

    output_number((int64_t)selection->count, count);
    if (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1) {
        output_complain("%s %s %s would be %s: give --yes to do it without being asked", count,
                        selection->which, jobs, done);
        return STATUS_USAGE;
    }
    fprintf(stderr, "%s %s %s %s? [y/N] ", verb, count, selection->which, jobs);
    fflush(stderr);
    if (answer_is_yes())
        return STATUS_OK;
    output_remark("nothing was changed");
    return STATUS_FAILED;
}

void selection_done(struct selection *selection)
{
    free(selection->ids);
    *selection = (struct selection){0};
}

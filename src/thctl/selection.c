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
        if (ids == NULL)
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

    return fgets(answer, sizeof answer, stdin) != NULL &&
           (strcasecmp(answer, "y\n") == 0 || strcasecmp(answer, "yes\n") == 0);
}

bool selection_collect(struct selection *selection, struct store *store,
                       const struct job_filter *filter, struct error *err)
{
    CLEANUP(job_list_done) struct job_list jobs = {0};
    struct pages pages = {.store = store, .filter = *filter};
    bool more = true;

    pages.filter.brief = true;
    pages.filter.oldest_first = true;
    selection->state = filter->state;
    while (more) {
        if (!pages_next(&pages, JOB_PAGE_MAX, &jobs, &more, err) || !add_ids(selection, &jobs, err))
            return false;
    }
    return true;
}

enum status selection_confirm(const struct selection *selection, const char *verb, const char *done)
{
    const char *state = job_state_name(selection->state);
    const char *jobs = output_jobs((int64_t)selection->count);
    char count[OUTPUT_NUMBER_SIZE];

    output_number((int64_t)selection->count, count);
    if (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1) {
        output_complain("%s %s %s would be %s: give --yes to do it without being asked", count,
                        state, jobs, done);
        return STATUS_USAGE;
    }
    fprintf(stderr, "%s %s %s %s? [y/N] ", verb, count, state, jobs);
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

/*
 * lists.c - pages of every state: the newest, those from the middle, those of one queue.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "bench/scale/operations.h"

#define PAGE      50
#define ANY_STATE JOB_STATES

/* What is asked for. */
struct page {
    int state; /* or ANY_STATE */
    const char *queue;
    bool from_middle; /* the second page of what is older than the middle one of its kind */
    bool oldest_first;
    enum town_kind kind; /* whose middle it is */
    const char *tag;
};

enum which {
    ANY,
    ANY_MIDDLE,
    ANY_OF_RARE,
    READY,
    READY_MIDDLE,
    READY_OF_QUEUE,
    READY_OF_RARE,
    SCHEDULED,
    SCHEDULED_MIDDLE,
    SCHEDULED_OF_QUEUE,
    SCHEDULED_SOON,
    DONE,
    DONE_MIDDLE,
    DONE_OF_QUEUE,
    DONE_OF_RARE,
    DEAD,
    DEAD_MIDDLE,
    DEAD_OF_QUEUE,
    DEAD_OF_RARE,
    RUNNING,
    BLOCKED,
    RETRY,
    CANCELLED,
    TAGGED,
    TAGGED_READY,
};

static const struct page pages[] = {
    [ANY] = {ANY_STATE, NULL, false, false, TOWN_READY},
    [ANY_MIDDLE] = {ANY_STATE, NULL, true, false, TOWN_READY},
    [ANY_OF_RARE] = {ANY_STATE, TOWN_RARE, false, false, TOWN_READY},
    [READY] = {JOB_READY, NULL, false, false, TOWN_READY},
    [READY_MIDDLE] = {JOB_READY, NULL, true, false, TOWN_READY},
    [READY_OF_QUEUE] = {JOB_READY, TOWN_QUEUE, false, false, TOWN_READY},
    [READY_OF_RARE] = {JOB_READY, TOWN_RARE, false, false, TOWN_READY},
    [SCHEDULED] = {JOB_SCHEDULED, NULL, false, false, TOWN_SCHEDULED},
    [SCHEDULED_MIDDLE] = {JOB_SCHEDULED, NULL, true, false, TOWN_SCHEDULED},
    [SCHEDULED_OF_QUEUE] = {JOB_SCHEDULED, TOWN_QUEUE, true, false, TOWN_SCHEDULED},
    [SCHEDULED_SOON] = {JOB_SCHEDULED, NULL, false, true, TOWN_SCHEDULED},
    [DONE] = {JOB_DONE, NULL, false, false, TOWN_DONE},
    [DONE_MIDDLE] = {JOB_DONE, NULL, true, false, TOWN_DONE},
    [DONE_OF_QUEUE] = {JOB_DONE, TOWN_QUEUE, false, false, TOWN_DONE},
    [DONE_OF_RARE] = {JOB_DONE, TOWN_RARE, false, false, TOWN_DONE},
    [DEAD] = {JOB_DEAD, NULL, false, false, TOWN_DEAD},
    [DEAD_MIDDLE] = {JOB_DEAD, NULL, true, false, TOWN_DEAD},
    [DEAD_OF_QUEUE] = {JOB_DEAD, TOWN_QUEUE, true, false, TOWN_DEAD},
    [DEAD_OF_RARE] = {JOB_DEAD, TOWN_RARE, false, false, TOWN_DEAD},
    [RUNNING] = {JOB_RUNNING, NULL, false, false, TOWN_READY},
    [BLOCKED] = {JOB_BLOCKED, NULL, false, false, TOWN_READY},
    [RETRY] = {JOB_RETRY, NULL, false, false, TOWN_READY},
    [CANCELLED] = {JOB_CANCELLED, NULL, false, false, TOWN_READY},
    [TAGGED] = {ANY_STATE, NULL, false, false, TOWN_READY, TOWN_TAG},
    [TAGGED_READY] = {JOB_READY, NULL, false, false, TOWN_READY, TOWN_TAG},
};

/* A page may be short, or empty, when few of many candidates fit. */
static struct job_cursor list(struct town *town, const struct job_filter *filter)
{
    CLEANUP(job_list_done) struct job_list jobs = {0};
    struct job_cursor next = {0};
    struct error err;

    town_must(store_list(town->store, filter, &jobs, &next, &err), "list", &err);
    return next;
}

static usec_t run_list(struct town *town, int which)
{
    const struct page *page = &pages[which];
    struct job_filter filter = {.by_state = page->state != ANY_STATE,
                                .queue = page->queue,
                                .tag = page->tag,
                                .oldest_first = page->oldest_first,
                                .brief = true,
                                .limit = PAGE};

    if (filter.by_state)
        filter.state = (enum job_state)page->state;
    if (page->from_middle && filter.by_state)
        filter.until = town->middle[page->kind];
    if (page->from_middle)
        filter.after = list(town, &filter);
    const usec_t start = clock_boot();
    (void)list(town, &filter);
    return clock_boot() - start;
}

static const struct operation operations[] = {
    {"list, any state", run_list, ANY},
    {"list, any state, next page", run_list, ANY_MIDDLE},
    {"list, any state of a small queue", run_list, ANY_OF_RARE},
    {"list ready", run_list, READY},
    {"list ready, from the middle", run_list, READY_MIDDLE},
    {"list ready of a queue", run_list, READY_OF_QUEUE},
    {"list ready of a small queue", run_list, READY_OF_RARE},
    {"list scheduled", run_list, SCHEDULED},
    {"list scheduled, from the middle", run_list, SCHEDULED_MIDDLE},
    {"list scheduled of a queue", run_list, SCHEDULED_OF_QUEUE},
    {"list scheduled, oldest first", run_list, SCHEDULED_SOON},
    {"list done", run_list, DONE},
    {"list done, from the middle", run_list, DONE_MIDDLE},
    {"list done of a queue", run_list, DONE_OF_QUEUE},
    {"list done of a small queue", run_list, DONE_OF_RARE},
    {"list dead", run_list, DEAD},
    {"list dead, from the middle", run_list, DEAD_MIDDLE},
    {"list dead of a queue", run_list, DEAD_OF_QUEUE},
    {"list dead of a small queue", run_list, DEAD_OF_RARE},
    {"list running", run_list, RUNNING},
    {"list blocked", run_list, BLOCKED},
    {"list retry", run_list, RETRY},
    {"list cancelled", run_list, CANCELLED},
    {"list of a tag", run_list, TAGGED},
    {"list ready of a tag", run_list, TAGGED_READY},
};

const struct operation_list list_operations = {operations, COUNT_OF(operations)};

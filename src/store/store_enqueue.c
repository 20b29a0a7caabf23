/*
 * store_enqueue.c - jobs on their way in: checked, in groups, and passed on to the driver.
 */
#include "base/cleanup.h"
#include "store/checks.h"
#include "store/driver.h"

#include <stdlib.h>

void enqueue_group_refuse(struct enqueue_group *group, size_t at_fault)
{
    group->verdict = group->err->code;
    group->at_fault = at_fault;
}

void enqueue_groups_give_up(struct enqueue_group *const *groups, size_t count,
                            const struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        *groups[i]->err = *err;
        groups[i]->err->code = TH_E_UNAVAILABLE;
        enqueue_group_refuse(groups[i], groups[i]->count);
    }
}

/* It is about the jobs: the next group may fare better. */
static bool is_refusal(enum th_error_code code)
{
    return code == TH_E_INVALID || code == TH_E_CONFLICT;
}

void enqueue_groups_singly(struct store *store, struct enqueue_group *const *groups, size_t count,
                           usec_t now,
                           bool (*enqueue)(struct store *store, struct enqueue_group *group,
                                           usec_t now, size_t *at_fault_out, struct error *err))
{
    for (size_t i = 0; i < count; i++) {
        struct enqueue_group *group = groups[i];
        size_t at_fault = group->count;

        if (enqueue(store, group, now, &at_fault, group->err))
            continue;
        enqueue_group_refuse(group, at_fault);
        if (!is_refusal(group->verdict)) {
            enqueue_groups_give_up(groups + i + 1, count - i - 1, group->err);
            return;
        }
    }
}

static bool validate(const struct store *store, struct enqueue_group *group)
{
    group->verdict = TH_OK;
    for (size_t i = 0; i < group->count; i++)
        if (!job_validate(&group->jobs[i], store->max_payload, group->err)) {
            enqueue_group_refuse(group, i);
            return false;
        }
    return true;
}

bool store_enqueue_groups(struct store *store, struct enqueue_group *groups, size_t count,
                          usec_t now, struct error *err)
{
    size_t valid = 0;

    if (!checks_open(store, err))
        return false;
    AUTO_FREE struct enqueue_group **list = calloc(count + 1, sizeof(struct enqueue_group *));
    if (!list)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        if (validate(store, &groups[i]))
            list[valid++] = &groups[i];
    if (valid > 0 && !store->driver->enqueue(store, list, valid, now, err))
        return false;
    store_clock_refresh(store);
    return true;
}

/* What is said of one of several jobs names it. */
static bool tell_refusal(const struct enqueue_group *group, struct error *err)
{
    if (group->at_fault < group->count && group->count > 1)
        error_prefix(err, "job %zu", group->at_fault + 1);
    return false;
}

bool store_enqueue(struct store *store, struct job *jobs, size_t count, usec_t now,
                   struct enqueued *enqueued_out, struct error *err)
{
    struct enqueue_group group = {
        .jobs = jobs, .count = count, .enqueued_out = enqueued_out, .err = err};
    struct enqueue_group *list = &group;

    if (!checks_open(store, err))
        return false;
    if (count == 0)
        return true;
    if (validate(store, &group) && !store->driver->enqueue(store, &list, 1, now, err))
        return false;
    if (group.verdict != TH_OK)
        return tell_refusal(&group, err);
    store_clock_refresh(store);
    return true;
}

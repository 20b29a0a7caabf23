/*
 * scan_start.c - where each queue's ready jobs begin, as far as this handle has seen.
 */
#include "store/postgres/ops/scan_start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_INTERVAL USEC_PER_SEC
#define PAUSE_FACTOR  10 /* looking again takes at most a tenth of the time */

struct head *heads_find(struct heads *heads, const char *queue)
{
    for (size_t i = 0; i < heads->count; i++)
        if (strcmp(heads->items[i].queue, queue) == 0)
            return &heads->items[i];

    struct head *items = reallocarray(heads->items, heads->count + 1, sizeof(*items));
    if (items == NULL)
        return NULL;
    heads->items = items;
    struct head *head = &items[heads->count++];
    *head = (struct head){0};
    snprintf(head->queue, sizeof(head->queue), "%s", queue);
    return head;
}

bool head_is_due(const struct head *head, usec_t now)
{
    return head->looked_at == 0 || now < head->looked_at || now - head->looked_at >= LOOK_INTERVAL;
}

bool head_may_look_again(const struct head *head, usec_t now)
{
    return now <= head->looked_at || now - head->looked_at >= head->pause;
}

static void forget(struct head *head)
{
    head->looked_at = 0;
    memset(head->behind, 0, sizeof(head->behind));
}

void head_looked(struct head *head, usec_t now, usec_t took)
{
    forget(head);
    head->looked_at = now;
    head->pause = took < LOOK_INTERVAL / PAUSE_FACTOR ? took * PAUSE_FACTOR : LOOK_INTERVAL;
}

void head_took(struct head *head, const struct job *job)
{
    if (job->priority < 0 || job->priority >= HEAD_PRIORITIES)
        return;
    head->behind[job->priority].known = true;
    head->behind[job->priority].due = job->due;
    head->behind[job->priority].seq = job->ref;
}

void heads_forget(struct heads *heads)
{
    for (size_t i = 0; i < heads->count; i++)
        forget(&heads->items[i]);
}

void heads_done(struct heads *heads)
{
    free(heads->items);
    *heads = (struct heads){0};
}

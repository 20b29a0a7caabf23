/*
 * news.c - what becomes of jobs, for those who look on: process/news_ring.h.
 */
#include "dispatcher/news.h"

#include "dispatcher/held_jobs.h"
#include "dispatcher/state.h"
#include "job/aside.h"
#include "job/settlement.h"
#include "process/news_ring.h"
#include "process/process.h"

#include <stdio.h>

static bool does_anybody_listen(const struct dispatcher *dispatcher)
{
    return news_ring_is_wanted(dispatcher->process->news_ring, dispatcher->now.boot);
}

static struct news describe(const struct dispatcher *dispatcher, enum news_kind kind,
                            const struct job *job)
{
    struct news news = news_of_job(kind, job, dispatcher->now.store);

    news.attempt = job->attempts + 1;
    return news;
}

void news_tell_started(const struct dispatcher *dispatcher, const struct held_job *held)
{
    if (!does_anybody_listen(dispatcher))
        return;
    const struct news news = describe(dispatcher, NEWS_STARTED, &held->job);

    news_ring_add(dispatcher->process->news_ring, &news);
}

static enum news_kind kind_of(const struct settlement *settlement)
{
    switch (settlement->kind) {
    case SETTLE_ACK:
        return NEWS_DONE;
    case SETTLE_RETRY:
        return NEWS_RETRY;
    case SETTLE_FAIL:
        return NEWS_DEAD;
    case SETTLE_RELEASE:
    case SETTLE_ASIDE:
        return NEWS_RELEASED;
    case SETTLE_SNOOZE:
        return NEWS_SNOOZED;
    case SETTLE_CANCEL:
        return NEWS_CANCELLED;
    }
    return NEWS_RELEASED;
}

static const char *reason_of(const struct settlement *settlement)
{
    if (settlement->kind == SETTLE_ASIDE)
        return aside_name(settlement->aside);
    return settlement->error ? settlement->error : settlement->run.error;
}

void news_tell_settled(const struct dispatcher *dispatcher, const struct held_job *held,
                       const struct settlement *settlement)
{
    if (!does_anybody_listen(dispatcher))
        return;
    struct news news = describe(dispatcher, kind_of(settlement), &held->job);
    const char *reason = reason_of(settlement);

    if (settlement->has_run) {
        news.worker = settlement->run.worker;
        news.wall = settlement->run.wall;
    }
    news.run_at = settlement->run_at;
    snprintf(news.error, sizeof news.error, "%s", reason ? reason : "");
    news_ring_add(dispatcher->process->news_ring, &news);
}

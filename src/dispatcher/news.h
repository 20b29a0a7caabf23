/*
 * news.h - what becomes of jobs, for those who look on: process/news_ring.h.
 */
#ifndef DISPATCHER_NEWS_H
#define DISPATCHER_NEWS_H

struct dispatcher;
struct held_job;
struct settlement;

/* Both cost a look at one word while nobody listens. */
void news_tell_started(const struct dispatcher *dispatcher, const struct held_job *held);
void news_tell_settled(const struct dispatcher *dispatcher, const struct held_job *held,
                       const struct settlement *settlement);

#endif

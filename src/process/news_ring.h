/*
 * news_ring.h - shared memory: what becomes of jobs here, for whoever listens.
 *
 * The processes that change jobs add to it; http reads it while clients of its own listen. Its
 * places are used again and again: whoever reads too late is told how much was missed. Nobody is
 * woken, and while nobody listens nothing is written: then all of it costs a look at one word.
 * Nothing is decided by it.
 */
#ifndef PROCESS_NEWS_RING_H
#define PROCESS_NEWS_RING_H

#include "base/base.h"
#include "base/uuid.h"
#include "job/job.h"

struct error;
struct news_ring;

#define NEWS_RING_SIZE  1024 /* places; a power of two */
#define NEWS_ERROR_SIZE 256

enum news_kind {
    NEWS_ENQUEUED,
    NEWS_STARTED, /* it was handed to a worker */
    NEWS_DONE,
    NEWS_RETRY,
    NEWS_DEAD,
    NEWS_SNOOZED,
    NEWS_RELEASED,
    NEWS_CANCELLED,
};

const char *news_kind_name(enum news_kind kind); /* "done" */

struct news {
    enum news_kind kind;
    usec_t at; /* the database's time */
    struct uuid job;
    int attempt;   /* the one that this is about, from 1; 0: none */
    int worker;    /* 0: none of this pool's */
    usec_t wall;   /* how long it ran; negative: it did not */
    usec_t run_at; /* when it is due again; 0: at once, or never */
    char type[JOB_NAME_MAX + 1], queue[JOB_NAME_MAX + 1];
    char error[NEWS_ERROR_SIZE]; /* its beginning; "": none */
};

/* Before the processes are forked. */
bool news_ring_open(struct news_ring **ring_out, struct error *err) MUST_CHECK;
void news_ring_close(struct news_ring **ring);

/* First thing: in a door, which may say that it listens, and change no news; in a worker, which
 * has none of it from then on. */
bool news_ring_restrict(struct news_ring *ring, struct error *err) MUST_CHECK;
bool news_ring_forget(struct news_ring *ring, struct error *err) MUST_CHECK;

/* ---- who tells ---- */

/* Whether anybody listens at `now`, which is boot time. NULL: nobody can. */
bool news_ring_is_wanted(const struct news_ring *ring, usec_t now);

/* Of a job, at `now` of the database; what else is known is the caller's to add. */
struct news news_of_job(enum news_kind kind, const struct job *job, usec_t now);

/* By any process that is not restricted; several may do so at the same time, and be killed. */
void news_ring_add(struct news_ring *ring, const struct news *news);

/* ---- who listens ---- */

/* News are wanted until then, or longer if somebody has said so. */
void news_ring_want(struct news_ring *ring, usec_t until);

/* Where somebody has read to. */
struct news_reader {
    uint64_t next;
    bool has_waited; /* for the one that is next, which was being written */
};

/* From now on. */
struct news_reader news_ring_begin(const struct news_ring *ring);

/* The next one, if there is one. Adds to *missed how many were passed over. */
bool news_ring_read(const struct news_ring *ring, struct news_reader *reader, struct news *news_out,
                    uint64_t *missed) MUST_CHECK;

#endif

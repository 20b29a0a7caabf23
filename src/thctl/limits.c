/*
 * limits.c - what limits a job has, as far as its own record does not say: for people.
 */
#include "thctl/limits.h"

#include "config/handler_match.h"

/* Of the handler, as far as anybody says. */
static struct job_limits handler_limits(const struct job *job, const struct offers *offers,
                                        const struct config *config)
{
    const struct pool_handler *live = offers_handler(offers, job->queue, job->type);
    const struct handler_config *written = handler_match(config, job->type);
    struct job_limits limits = {0};

    if (written)
        limits = config_handler_limits(written);
    if (live && live->max_attempts > 0 && live->max_attempts <= JOB_COUNT_MAX)
        limits.max_attempts = (int)live->max_attempts;
    if (live && live->timeout > 0)
        limits.timeout = live->timeout;
    return limits;
}

void limits_fill(struct job *job, const struct offers *offers, const struct config *config)
{
    const struct job_limits handler = handler_limits(job, offers, config);
    const struct job_limits defaults =
        config->path ? config_default_limits(config) : job_limits_default;
    const struct job_limits limits = job_limits_resolve(job, &handler, &defaults);

    job->timeout = limits.timeout;
    job->max_attempts = limits.max_attempts;
    job->max_stalls = limits.max_stalls;
}

void limits_fill_all(struct job_list *jobs, const struct offers *offers,
                     const struct config *config)
{
    for (size_t i = 0; i < jobs->count; i++)
        limits_fill(&jobs->items[i], offers, config);
}

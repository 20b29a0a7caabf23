/*
 * show.h - jobs with all that is known of them, for people.
 */
#ifndef REDIS_SHOW_H
#define REDIS_SHOW_H

#include "base/base.h"
#include "store/redis/net/connection.h"

/* The reply of scripts/show.lua for one queue, added to the list. */
bool redis_show_read(const redisReply *reply, const char *queue, struct job_list *jobs_out,
                     struct error *err) MUST_CHECK;

#endif

/*
 * cron_describe.h - a schedule in words: "at 09:00 on Monday to Friday".
 */
#ifndef JOB_CRON_DESCRIBE_H
#define JOB_CRON_DESCRIBE_H

#include "job/cron.h"

struct buffer;

void cron_describe(const struct cron *cron, struct buffer *out);

#endif

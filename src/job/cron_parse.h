/*
 * cron_parse.h - a schedule as people write it.
 *
 *     field          numbers   names         for example
 *     [second]       0-59                    only there when there are six fields; else 0
 *     minute         0-59                    0  or  0,30  or  * /5 without the space
 *     hour           0-23                    9-17  or  8-18/2
 *     day of month   1-31                    *
 *     month          1-12      JAN to DEC    MAR-OCT
 *     day of week    0-7       SUN to SAT    MON-FRI; 0 and 7 are Sunday
 *
 * or one of @yearly @annually @monthly @weekly @daily @midnight @hourly. Where both kinds of days
 * are restricted, a day has to match one of them; a field that starts with * is not restricted.
 */
#ifndef JOB_CRON_PARSE_H
#define JOB_CRON_PARSE_H

#include "base/base.h"
#include "job/cron.h"

struct error;

/* A schedule that is wrong, or that never comes, is TH_E_INVALID with a sentence. */
bool cron_parse(const char *text, struct cron *cron_out, struct error *err) MUST_CHECK;

#endif

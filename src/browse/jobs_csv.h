/*
 * jobs_csv.h - jobs as CSV (RFC 4180), for spreadsheets.
 *
 * A column has the value of the member of that name in a job's JSON: texts as they are, numbers as
 * written, objects and arrays as JSON, and nothing for null. So there is nothing in it that is not
 * in the JSON, and it cannot go another way.
 *
 * A text that a spreadsheet would take for a formula (it begins with = + - @, a tab or a carriage
 * return) gets an apostrophe before it: whoever opens the file did not write those texts. Programs
 * that want each text as it is read JSON lines.
 */
#ifndef BROWSE_JOBS_CSV_H
#define BROWSE_JOBS_CSV_H

#include "base/base.h"

struct buffer;
struct error;
struct job;

/* The names of the columns. */
void jobs_csv_add_names(struct buffer *out);

bool jobs_csv_add(struct buffer *out, const struct job *job, struct error *err) MUST_CHECK;

#endif

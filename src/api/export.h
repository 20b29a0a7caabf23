/*
 * export.h - all jobs that fit, in full, as JSON lines or as CSV: a response that goes on as fast
 * as its client reads.
 *
 *     browse --a page--> here --> the client --room--> the next page
 *
 * So nothing is held but a page, however many jobs there are, and a client that leaves ends it.
 */
#ifndef API_EXPORT_H
#define API_EXPORT_H

struct job_query;
struct visit;

/* By its form; of the query, limit and full say nothing. Answers the visit. */
void export_begin(struct visit *visit, const struct job_query *query);

#endif

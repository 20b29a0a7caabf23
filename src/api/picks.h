/*
 * picks.h - the words that pick jobs, the same in every list and in every bulk repair.
 *
 * Rows for a table of fields (fields.h), whose struct has these members as struct job_query has
 * them.
 */
#ifndef API_PICKS_H
#define API_PICKS_H

#include "api/fields.h"
#include "door/job_query.h"
#include "job/job.h"

/* As enum job_state counts. */
extern const char *const pick_states[];

/* clang-format off */
#define PICK_STATE(section)                                                                                            \
    VALUE_WORD  (section, state, .words = pick_states, .help = "Only jobs in this state")

#define PICK_ROWS(section)                                                                                             \
    VALUE_NAME  (section, queue, .help = "Only of this queue"),                                                        \
    VALUE_NAME  (section, type,  .help = "Only of this type"),                                                         \
    VALUE_NAME  (section, tag,   .help = "Only with this tag"),                                                        \
    VALUE_TEXT  (section, key,   .max = JOB_KEY_MAX, .help = "Only with this key"),                                    \
    VALUE_TEXT  (section, error, .max = JOB_QUERY_ERROR_MAX, .help = "Only with this text in their last error"),       \
    VALUE_MOMENT(section, since, .help = "From then on, by the time that the list goes by; \"-1h\" is an hour ago"),   \
    VALUE_MOMENT(section, until, .help = "And before then")
/* clang-format on */

#endif
